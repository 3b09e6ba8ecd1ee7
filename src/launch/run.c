/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * run.c - huddle run [options] -- COMMAND...: puts the loader into LD_PRELOAD and a new secret into
 * HUDDLE_JOB, and becomes COMMAND.
 *
 * Names of settings are the library's: it is loaded if one is given.  With --explain the CLI shows
 * the variables, since it knows the MPIs on PATH.
 */
#include "core/config/config.h"
#include "launch.h"

#include <ctype.h>
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <unistd.h>

#define USAGE "huddle run [--explain] [--set NAME=VALUE ...] [--stats[=FILE]] [--] COMMAND..."
enum { BAD_USE = 2, CANNOT_RUN = 126, NOT_FOUND = 127, SECRET_BYTES = 16 };

struct run {
    bool explain, help, stats;
    const char *stats_file; /* NULL: a table on standard error */
    const char *record;     /* a folder; NULL: nothing is recorded */
    char **variables;       /* [count] NAME=VALUE, as --explain shows them; NULL ends them */
    int count;
};

/* A later value of a name replaces an earlier one. */
static void add(struct run *run, const char *name, const char *before, const char *value)
{
    size_t length = strlen(name);
    char *pair = NULL;
    int at = 0;

    if (asprintf(&pair, "%s=%s%s", name, before, value) < 0)
        exit(hud_launch_fail(1, "out of memory"));
    while (at < run->count &&
           !(strncmp(run->variables[at], name, length) == 0 && run->variables[at][length] == '='))
        at++;
    if (at == run->count)
        run->count++;
    run->variables[at] = pair;
}

/* ---- options ---- */

static int take_explain(struct run *run, const char *value)
{
    (void)value;
    run->explain = true;
    return 0;
}

static int take_help(struct run *run, const char *value)
{
    (void)value;
    run->help = true;
    return 0;
}

/* A function of the library, which is there whenever huddle works. */
static void *of_library(const char *name)
{
    const char *path = hud_launch_path(HUD_LIB_DIR, HUD_LIB_NAME);
    void *library = dlopen(path, RTLD_LAZY);
    void *found = library ? dlsym(library, name) : NULL;

    if (!found)
        exit(hud_launch_fail(1, "cannot be loaded: %s", dlerror()));
    return found;
}

static int take_set(struct run *run, const char *pair)
{
    const struct setting *(*settings)(int *) =
        (const struct setting *(*)(int *))of_library("hud_settings");
    const struct setting *(*nearest)(const char *) =
        (const struct setting *(*)(const char *))of_library("hud_setting_nearest");
    size_t length = strcspn(pair, "=");
    int count, at = 0;

    const struct setting *rows = settings(&count);
    while (at < count &&
           !(strncmp(rows[at].name, pair, length) == 0 && rows[at].name[length] == '\0'))
        at++;
    if (at < count && pair[length] == '=') {
        add(run, rows[at].name, "", pair + length + 1);
        return 0;
    }
    if (at < count)
        return hud_launch_fail(
            BAD_USE, "--set %s: the value is missing (accepted: %s=VALUE; see: huddle settings)",
            pair, pair);
    char *name = strndup(pair, length);
    for (char *c = name; c && *c; c++)
        *c = (char)toupper((unsigned char)*c);
    const struct setting *near = name ? nearest(name) : NULL;
    free(name);
    return hud_launch_fail(BAD_USE,
                           "--set %s: not a setting of huddle (accepted: NAME=VALUE, for example "
                           "%s; see: huddle settings)",
                           pair, (near ? near : rows)->name);
}

/* The absolute path: ranks may have another current folder. */
static int make_absolute(const char *what, const char *file, const char **path)
{
    char *folder = file[0] != '/' ? getcwd(NULL, 0) : NULL, *whole = NULL;

    if (file[0] == '\0')
        return hud_launch_fail(BAD_USE, "%s: the name is missing", what);
    if (file[0] != '/' && !folder)
        return hud_launch_fail(1, "the current folder has no name: %s", strerror(errno));
    if (asprintf(&whole, "%s%s%s", folder ? folder : "", folder ? "/" : "", file) < 0)
        return hud_launch_fail(1, "out of memory");
    free(folder);
    *path = whole;
    return 0;
}

/* A file that cannot be written is refused now, and not after the job. */
static int take_stats(struct run *run, const char *file)
{
    run->stats = true;
    if (!file)
        return 0;
    int status = make_absolute("--stats=FILE", file, &run->stats_file);
    if (status != 0)
        return status;
    bool is_new = access(run->stats_file, F_OK) != 0;
    int fd = open(run->stats_file, O_WRONLY | O_CREAT | O_CLOEXEC, 0666);
    if (fd < 0)
        return hud_launch_fail(BAD_USE, "--stats: cannot write %s: %s", run->stats_file,
                               strerror(errno));
    close(fd);
    if (is_new)
        unlink(run->stats_file);
    return 0;
}

static int take_record(struct run *run, const char *folder)
{
    struct stat about;
    int status = make_absolute("--record FOLDER", folder, &run->record);

    if (status != 0)
        return status;
    if (stat(run->record, &about) != 0 || !S_ISDIR(about.st_mode) ||
        access(run->record, W_OK | X_OK) != 0)
        return hud_launch_fail(BAD_USE, "--record: %s is not a folder that can be written",
                               run->record);
    return 0;
}

enum value { NONE, ONE, PERHAPS };
static const struct option {
    const char *name, *shown, *doc;
    enum value value;
    int (*take)(struct run *run, const char *value); /* 0, or the exit status */
} options[] = {
    { "--help", "-h, --help", "show this help message and exit", NONE, take_help },
    { "-h", NULL, NULL, NONE, take_help },
    { "--explain", "--explain",
      "print the variables that would be set and the MPIs that are supported; run nothing", NONE,
      take_explain },
    { "--set", "--set NAME=VALUE", "a setting, for example HUDDLE_MEMORY=1M (see huddle settings)",
      ONE, take_set },
    { "--stats", "--stats [FILE]", "print statistics at the end, or write them to FILE as JSON",
      PERHAPS, take_stats },
    { "--record", "--record FOLDER",
      "each rank records its collectives in FOLDER (see huddle profile)", ONE, take_record },
};
enum { OPTIONS = sizeof options / sizeof *options };

static int help(void)
{
    printf("usage: %s\n\nrun an MPI program with huddle\n\noptions:\n", USAGE);
    for (int i = 0; i < OPTIONS; i++)
        if (options[i].doc)
            printf("  %-18s  %s\n", options[i].shown, options[i].doc);
    return fflush(stdout) == 0
               ? 0
               : hud_launch_fail(1, "standard output cannot be written: %s", strerror(errno));
}

static const struct option *find(const char *word)
{
    for (int i = 0; i < OPTIONS; i++)
        if (strncmp(options[i].name, word, strcspn(word, "=")) == 0 &&
            options[i].name[strcspn(word, "=")] == '\0')
            return &options[i];
    return NULL;
}

/* Options up to "--" or the first word that is none, which *words leads to then.  Returns 0 or the
 * exit status. */
static int take_options(struct run *run, char ***words)
{
    int status = 0;
    bool has_end = false;

    for (char **word = *words; *word; word++)
        has_end = has_end || strcmp(*word, "--") == 0;
    while (status == 0 && **words && (**words)[0] == '-' && strcmp(**words, "--") != 0) {
        const char *word = *(*words)++, *next = **words, *equals = strchr(word, '=');
        const struct option *option = find(word);
        bool is_value = !equals && next && (next[0] != '-' || next[1] == '\0');

        if (!option)
            return hud_launch_fail(BAD_USE, "no option of huddle run: %s; see huddle run --help",
                                   word);
        if (option->value == PERHAPS && !has_end) /* the next word may be the command */
            is_value = false;
        if (option->value == NONE ? equals != NULL : option->value == ONE && !equals && !is_value)
            return hud_launch_fail(BAD_USE, "%s: expected %s; see huddle run --help", option->name,
                                   option->value == NONE ? "no value" : "a value");
        if (option->value != NONE && is_value)
            ++*words;
        status = option->take(run, equals                              ? equals + 1
                                   : option->value != NONE && is_value ? next
                                                                       : NULL);
    }
    return status;
}

/* ---- running ---- */

static bool is_set(const struct run *run, const char *name)
{
    size_t length = strlen(name);

    for (int i = 0; i < run->count; i++)
        if (strncmp(run->variables[i], name, length) == 0 && run->variables[i][length] == '=')
            return true;
    return false;
}

/* A launcher has started this process as one of its ranks, which must have one secret. */
static bool is_rank(void)
{
    return getenv("PMI_RANK") || getenv("PMIX_RANK") || getenv("OMPI_COMM_WORLD_RANK");
}

/* A secret of this start. */
static int add_secret(struct run *run)
{
    static const char digits[] = "0123456789abcdef";
    unsigned char secret[SECRET_BYTES];
    char text[2 * SECRET_BYTES + 1] = "";

    if (is_rank() || is_set(run, "HUDDLE_JOB"))
        return 0;
    if (getrandom(secret, sizeof secret, 0) != (ssize_t)sizeof secret)
        return hud_launch_fail(1, "no random numbers: %s", strerror(errno));
    for (int i = 0; i < 2 * SECRET_BYTES; i++)
        text[i] = digits[secret[i / 2] >> (i % 2 ? 0 : 4) & 15];
    add(run, "HUDDLE_JOB", "", text);
    return 0;
}

static const char *recorder(void)
{
    return hud_launch_path(HUD_PLUGIN_DIR, "libhuddle-record.so");
}

/* Whether this process may stay and print the statistics.  Ranks leave that to the library. */
static bool can_watch(void)
{
    return !is_rank() && access(recorder(), R_OK) == 0 &&
           access(hud_launch_path(HUD_TOOL_DIR, "cli"), X_OK) == 0;
}

/* The recorder comes first: it counts calls before huddle handles them. */
static int add_loader(struct run *run)
{
    const char *loader = hud_launch_path(HUD_PLUGIN_DIR, "libhuddle-loader.so"),
               *before = getenv("LD_PRELOAD");
    char *all = NULL;

    bool is_more = before && before[0] != '\0';
    if (asprintf(&all, "%s%s%s%s%s", run->record ? recorder() : "", run->record ? ":" : "", loader,
                 is_more ? ":" : "", is_more ? before : "") < 0)
        return hud_launch_fail(1, "out of memory");
    if (run->record)
        add(run, "HUDDLE_RECORD", "", run->record);
    add(run, "LD_PRELOAD", "", all);
    free(all);
    return add_secret(run);
}

static int check_loader(void)
{
    const char *loader = hud_launch_path(HUD_PLUGIN_DIR, "libhuddle-loader.so");
    struct stat about;

    if (stat(loader, &about) != 0 || !S_ISREG(about.st_mode))
        return hud_launch_fail(1, "the loader is missing: %s", loader);
    if (strpbrk(loader, " :\t\n")) /* the separators of LD_PRELOAD */
        return hud_launch_fail(1,
                               "a path with a space or a colon cannot be preloaded: %s; install "
                               "huddle elsewhere",
                               loader);
    return 0;
}

/* The CLI's `run` has the variables as its words, and the command after them. */
static int explain(const struct run *run, char **command)
{
    size_t count = 0;

    while (command[count])
        count++;
    char **words = calloc((size_t)run->count + count + 3, sizeof *words);
    if (!words)
        return hud_launch_fail(1, "out of memory");
    words[0] = (char *)(uintptr_t) "run";
    memcpy(words + 1, run->variables, (size_t)run->count * sizeof *words);
    words[run->count + 1] = (char *)(uintptr_t) "--";
    memcpy(words + run->count + 2, command, count * sizeof *words);
    int status = hud_launch_cli(words);
    free(words);
    return status;
}

static int become(const struct run *run, char **command)
{
    for (int i = 0; i < run->count; i++)
        if (putenv(run->variables[i]) != 0)
            return hud_launch_fail(1, "out of memory");
    execvp(command[0], command);
    int why = errno;
    bool is_path = strchr(command[0], '/') != NULL;
    if (why == ENOENT && !(is_path && access(command[0], F_OK) == 0))
        return hud_launch_fail(NOT_FOUND, "command not found: %s", command[0]);
    return hud_launch_fail(CANNOT_RUN, "cannot run %s: %s", command[0], strerror(why));
}

struct start {
    const struct run *run;
    char **command;
};

static int become_it(void *arg)
{
    const struct start *start = arg;

    return become(start->run, start->command);
}

/* Where statistics are recorded: by this process's own folder, or by the library's rank 0. */
static void place_stats(struct run *run)
{
    if (can_watch() && !run->record)
        run->record = run->explain ? "(a new folder)" : hud_launch_folder();
    else
        add(run, "HUDDLE_STATS", run->stats_file ? "json:" : "1",
            run->stats_file ? run->stats_file : "");
}

int hud_launch_run(char **words)
{
    enum { OWN = 4 }; /* statistics, loader, secret, record */
    struct run run = { .count = 0 };
    size_t count = 0;

    while (words[count])
        count++;
    run.variables = calloc(count + OWN + 1, sizeof *run.variables);
    if (!run.variables)
        return hud_launch_fail(1, "out of memory");
    int status = take_options(&run, &words);
    if (status != 0)
        return status;
    if (run.help)
        return help();
    char **command = words[0] && strcmp(words[0], "--") == 0 ? words + 1 : words;
    if (!command[0] && !run.explain)
        return hud_launch_fail(BAD_USE, "nothing to run: huddle run [options] -- COMMAND...");
    if (!run.explain && (status = check_loader()) != 0)
        return status;
    bool asked = run.record != NULL;
    if (run.stats)
        place_stats(&run);
    status = add_loader(&run);
    if (status != 0)
        return status;
    if (run.explain)
        return explain(&run, command);
    struct start start = { &run, command };
    return run.record && !asked
               ? hud_launch_watch(become_it, &start, run.record, run.stats_file, command)
               : become(&run, command);
}
