/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * options.c - the options of huddle run.  Invalid options are refused before anything runs.
 *
 * Names and values of settings are checked by the library, which is loaded if a setting is given.
 */
#include "options.h"

#include "base/name.h"
#include "core/config/config.h"
#include "launch.h"

#include <ctype.h>
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* Returns the index of a variable for the command, or their number if the variable is not set. */
static int find_variable(const struct run *run, const char *name)
{
    int at = 0;

    while (at < run->count && !name_is_before_equals(name, run->variables[at]))
        at++;
    return at;
}

void hud_launch_add(struct run *run, const char *name, const char *before, const char *value)
{
    char *pair = NULL;
    int at = find_variable(run, name);

    if (asprintf(&pair, "%s=%s%s", name, before, value) < 0)
        exit(hud_launch_fail(1, "out of memory"));
    if (at == run->count)
        run->count++;
    run->variables[at] = pair;
}

const char *hud_launch_value(const struct run *run, const char *name)
{
    int at = find_variable(run, name);

    return at < run->count ? strchr(run->variables[at], '=') + 1 : NULL;
}

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

/* Returns a function of the library.  Exits if the library cannot be loaded, since huddle cannot
 * work without the library. */
static void *of_library(const char *name)
{
    const char *path = hud_launch_path(HUD_LIB_DIR, HUD_LIB_NAME);
    void *library = dlopen(path, RTLD_LAZY);
    void *found = library ? dlsym(library, name) : NULL;

    if (!found)
        exit(hud_launch_fail(1, "cannot be loaded: %s", dlerror()));
    return found;
}

static void refuse_name(const char *pair, size_t length)
{
    const struct setting *(*nearest)(const char *) =
        (const struct setting *(*)(const char *))of_library("hud_setting_nearest");
    char *name = strndup(pair, length);

    for (char *c = name; c && *c; c++)
        *c = (char)toupper((unsigned char)*c);
    const struct setting *near = name ? nearest(name) : NULL;
    free(name);
    if (near)
        hud_launch_fail(BAD_USE, "--set %s: not a setting of huddle; did you mean %s?", pair,
                        near->name);
    else
        hud_launch_fail(BAD_USE,
                        "--set %s: not a setting of huddle (accepted: NAME=VALUE, for example "
                        "HUDDLE_MEMORY=1M; see: huddle settings)",
                        pair[0] != '\0' ? pair : "''");
}

static int take_set(struct run *run, const char *pair)
{
    const struct setting *(*settings)(int *) =
        (const struct setting *(*)(int *))of_library("hud_settings");
    const char *(*refusal)(int, const char *) =
        (const char *(*)(int, const char *))of_library("hud_setting_refusal");
    size_t length = strcspn(pair, "=");
    const char *value = pair[length] == '=' ? pair + length + 1 : NULL;
    int count, at = 0;

    const struct setting *rows = settings(&count);
    while (at < count && !name_is(rows[at].name, pair, length))
        at++;
    const char *why = at < count && value ? refusal(at, value) : "missing";
    run->bad_set = run->bad_set || why;
    if (at == count)
        refuse_name(pair, length);
    else if (!value)
        hud_launch_fail(BAD_USE,
                        "--set %s: the value is missing (accepted: %s=VALUE; see: huddle settings)",
                        pair, pair);
    else if (why)
        hud_launch_fail(BAD_USE, "--set %s: %s (accepted: %s)", pair, why, rows[at].accepted);
    else
        hud_launch_add(run, rows[at].name, "", value);
    return 0;
}

/* Stores the absolute path of a file, because ranks may have another current folder. */
static int make_absolute(const char *what, const char *file, const char **path)
{
    char *folder = file[0] != '/' ? getcwd(NULL, 0) : NULL, *whole = NULL;

    if (file[0] == '\0')
        return hud_launch_fail(BAD_USE, "%s: the name is missing", what);
    if (file[0] != '/' && !folder)
        return hud_launch_fail(1, "the path of the current folder cannot be determined: %s",
                               strerror(errno));
    if (asprintf(&whole, "%s%s%s", folder ? folder : "", folder ? "/" : "", file) < 0)
        return hud_launch_fail(1, "out of memory");
    free(folder);
    *path = whole;
    return 0;
}

/* Refuses a file that cannot be written, before the job runs. */
static int check_writable(const char *what, const char *file)
{
    bool is_new = access(file, F_OK) != 0;
    int fd = open(file, O_WRONLY | O_CREAT | O_CLOEXEC | O_NONBLOCK, 0666);

    if (fd < 0)
        return hud_launch_fail(BAD_USE, "%s: cannot write %s: %s", what, file, strerror(errno));
    close(fd);
    if (is_new)
        unlink(file);
    return 0;
}

/* Returns the value of a variable that the command will have, or NULL. */
static const char *value_of(const struct run *run, const char *name)
{
    const char *value = hud_launch_value(run, name);

    return value ? value : getenv(name);
}

int hud_launch_check_stats(const struct run *run)
{
    static const char file[] = "json:";
    const char *value = value_of(run, "HUDDLE_STATS");

    if (!value || strncmp(value, file, sizeof file - 1) != 0 || value[sizeof file - 1] == '\0')
        return 0;
    return check_writable("HUDDLE_STATS", value + sizeof file - 1);
}

/* Makes the path of a setting absolute. */
static int place(struct run *run, const char *name, const char *value)
{
    const char *path = NULL;

    if (value[0] == '/')
        return 0;
    int status = make_absolute(name, value, &path);
    /* A path that is too long for a setting stays relative. */
    if (status == 0 && strlen(path) < SET_TEXT)
        hud_launch_add(run, name, "", path);
    return status;
}

int hud_launch_place_files(struct run *run)
{
    const char *tuning = value_of(run, "HUDDLE_TUNING"), *wisdom = value_of(run, "HUDDLE_WISDOM");
    int status = 0;

    if (tuning && tuning[0] != '\0' && strcmp(tuning, "off") != 0)
        status = place(run, "HUDDLE_TUNING", tuning);
    return status == 0 && wisdom && strchr(wisdom, '/') ? place(run, "HUDDLE_WISDOM", wisdom)
                                                        : status;
}

static int take_stats(struct run *run, const char *file)
{
    run->stats = true;
    if (!file)
        return 0;
    int status = make_absolute("--stats=FILE", file, &run->stats_file);
    if (status != 0)
        return status;
    return check_writable("--stats", run->stats_file);
}

/* Refuses a folder in which no file can be created.  Tries to create a file, because access()
 * allows some such folders, for example /proc. */
static int take_record(struct run *run, const char *folder)
{
    char *probe = NULL;
    int status = make_absolute("--record FOLDER", folder, &run->record);

    if (status != 0)
        return status;
    if (strlen(run->record) >= SET_TEXT)
        return hud_launch_fail(BAD_USE, "--record: %s is too long (accepted: less than %d bytes)",
                               run->record, SET_TEXT);
    if (asprintf(&probe, "%s/huddle-XXXXXX", run->record) < 0)
        return hud_launch_fail(1, "out of memory");
    int fd = mkostemp(probe, O_CLOEXEC);
    if (fd < 0)
        return hud_launch_fail(BAD_USE, "--record: no file can be made in %s: %s", run->record,
                               strerror(errno));
    close(fd);
    unlink(probe);
    free(probe);
    return 0;
}

enum value { NONE, ONE, PERHAPS };
static const struct option {
    const char *name, *shown, *doc;
    enum value value;
    int (*take)(struct run *run, const char *value); /* returns 0, or the exit status */
} options[] = {
    { "--explain", "--explain",
      "print the variables that would be set and the MPIs that are supported; run nothing", NONE,
      take_explain },
    { "--set", "--set NAME=VALUE", "a setting, for example HUDDLE_MEMORY=1M (see huddle settings)",
      ONE, take_set },
    { "--stats", "--stats[=FILE]", "print statistics at the end, or write them to FILE as JSON",
      PERHAPS, take_stats },
    { "--record", "--record FOLDER",
      "each rank records its collectives in FOLDER (see huddle profile)", ONE, take_record },
    { "--help", "-h, --help", "Show this message and exit.", NONE, take_help },
    { "-h", NULL, NULL, NONE, take_help },
};
enum { OPTIONS = sizeof options / sizeof *options };

int hud_launch_help(void)
{
    printf("Usage: huddle run [OPTIONS] [--] COMMAND...\n\n"
           "  run an MPI program with huddle\n\nOptions:\n");
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
        if (name_is_before_equals(options[i].name, word))
            return &options[i];
    return NULL;
}

int hud_launch_options(struct run *run, char ***words)
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
            return hud_launch_fail(
                BAD_USE, "%s is not an option of huddle run; see huddle run --help", word);
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
    return status == 0 && run->bad_set ? BAD_USE : status;
}
