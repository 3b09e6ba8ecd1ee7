/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * run.c - huddle run [options] -- COMMAND...: puts the loader into LD_PRELOAD and a new secret into
 * HUDDLE_JOB, and becomes COMMAND.
 *
 * With --explain the CLI prints the variables, because it knows the MPIs on PATH.
 */
#include "base/launcher_env.h"
#include "hand_over.h"
#include "launch.h"
#include "launcher.h"
#include "options.h"

#include <errno.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <unistd.h>

enum { CANNOT_RUN = 126, NOT_FOUND = 127, SECRET_BYTES = 16 };

/* Adds a new secret for this start.  All ranks of a job must have the same secret. */
static int add_secret(struct run *run)
{
    static const char digits[] = "0123456789abcdef";
    unsigned char secret[SECRET_BYTES];
    char text[2 * SECRET_BYTES + 1] = "";

    if (run->is_rank || hud_launch_value(run, "HUDDLE_JOB"))
        return 0;
    if (getrandom(secret, sizeof secret, 0) != (ssize_t)sizeof secret)
        return hud_launch_fail(1, "no random numbers: %s", strerror(errno));
    for (int i = 0; i < 2 * SECRET_BYTES; i++)
        text[i] = digits[secret[i / 2] >> (i % 2 ? 0 : 4) & 15];
    hud_launch_add(run, "HUDDLE_JOB", "", text);
    return 0;
}

static const char *recorder(void)
{
    return hud_launch_path(HUD_PLUGIN_DIR, "libhuddle-record.so");
}

/* Returns whether this process can stay and print the statistics.  In a rank, or without the CLI,
 * the library prints them. */
static bool can_watch(const struct run *run)
{
    return !run->is_rank && access(recorder(), R_OK) == 0 && hud_launch_has_cli();
}

/* Switches off AddressSanitizer's check that its library is loaded first.  The loader does the same
 * by defining __asan_default_options, but a program may define this function itself. */
static int add_sanitizer(struct run *run)
{
    static const char option[] = "verify_asan_link_order=0";
    const char *before = getenv("ASAN_OPTIONS");
    bool is_more = before && before[0] != '\0';
    char *all = NULL;

    if (hud_launch_value(run, "ASAN_OPTIONS") ||
        (is_more && strstr(before, "verify_asan_link_order")))
        return 0;
    if (asprintf(&all, "%s%s%s", is_more ? before : "", is_more ? ":" : "", option) < 0)
        return hud_launch_fail(1, "out of memory");
    hud_launch_add(run, "ASAN_OPTIONS", "", all);
    free(all);
    return 0;
}

static int add_loader(struct run *run)
{
    const char *loader = hud_launch_loader(), *before = getenv("LD_PRELOAD");
    bool is_more = before && before[0] != '\0';
    char *all = NULL;

    if (asprintf(&all, "%s%s%s", loader, is_more ? ":" : "", is_more ? before : "") < 0)
        return hud_launch_fail(1, "out of memory");
    if (run->record)
        hud_launch_add(run, "HUDDLE_RECORD", "", run->record);
    hud_launch_add(run, "LD_PRELOAD", "", all);
    free(all);
    return add_sanitizer(run) != 0 ? 1 : add_secret(run);
}

static int check_loader(void)
{
    const char *loader = hud_launch_loader();
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

/* Passes the variables to the CLI's `run` as words, followed by the command. */
static int explain(const struct run *run, char **command)
{
    const char *const head[] = { "run", "--handed", run->handed ? run->handed : "", "--missing",
                                 run->missing ? run->missing : "" };
    enum { HEAD = sizeof head / sizeof *head };
    size_t count = 0, variables = (size_t)run->count;

    while (command[count])
        count++;
    char **words = calloc(HEAD + variables + count + 2, sizeof *words);
    if (!words)
        return hud_launch_fail(1, "out of memory");
    memcpy(words, head, sizeof head);
    memcpy(words + HEAD, run->variables, variables * sizeof *words);
    words[HEAD + variables] = (char *)(uintptr_t) "--";
    memcpy(words + HEAD + variables + 1, command, count * sizeof *words);
    int status = hud_launch_cli(words);
    free(words);
    return status;
}

static int set_variables(const struct run *run)
{
    for (int i = 0; i < run->count; i++)
        if (putenv(run->variables[i]) != 0)
            return hud_launch_fail(1, "out of memory");
    return 0;
}

static int become(char **command)
{
    execvp(command[0], command);
    int why = errno;
    bool is_path = strchr(command[0], '/') != NULL;
    if (why == ENOENT && !(is_path && access(command[0], F_OK) == 0))
        return hud_launch_fail(NOT_FOUND, "command not found: %s", command[0]);
    return hud_launch_fail(CANNOT_RUN, "cannot run %s: %s", command[0], strerror(why));
}

/* Selects where statistics are recorded: in a new folder of this process, or by the library's rank
 * 0. */
static void place_stats(struct run *run)
{
    if (can_watch(run) && !run->record)
        run->record = run->explain ? "(a new folder)" : hud_launch_folder();
    else
        hud_launch_add(run, "HUDDLE_STATS", run->stats_file ? "json:" : "1",
                       run->stats_file ? run->stats_file : "");
}

int hud_launch_run(char **words)
{
    /* Statistics, loader, sanitizer, secret, record, tuning and wisdom files, launcher's list. */
    enum { OWN = 8 };
    static struct run run; /* static, because the environment keeps its variables until the process
                              ends */
    size_t count = 0;

    while (words[count])
        count++;
    run.variables = calloc(count + OWN + 1, sizeof *run.variables);
    if (!run.variables)
        return hud_launch_fail(1, "out of memory");
    int status = hud_launch_options(&run, &words);
    if (status != 0)
        return status;
    if (run.help)
        return hud_launch_help();
    char **command = words[0] && strcmp(words[0], "--") == 0 ? words + 1 : words;
    if (!command[0] && !run.explain)
        return hud_launch_fail(BAD_USE, "nothing to run: huddle run [options] -- COMMAND...");
    if (!run.explain &&
        ((status = check_loader()) != 0 || (status = hud_launch_check_stats(&run)) != 0))
        return status;
    if ((status = hud_launch_place_files(&run)) != 0)
        return status;
    bool asked = run.record != NULL;
    run.is_rank = launched_as_rank() && hud_launch_launcher(command) != command;
    if (run.stats)
        place_stats(&run);
    status = add_loader(&run);
    if (status != 0)
        return status;
    if (!run.is_rank && command[0])
        hud_launch_hand_over(&run, command);
    if (run.explain)
        return explain(&run, command);
    if (run.missing)
        hud_launch_fail(0, "%s", run.missing);
    if ((status = set_variables(&run)) != 0)
        return status;
    return run.record && !asked ? hud_launch_watch(become, run.record, run.stats_file, command)
                                : become(command);
}
