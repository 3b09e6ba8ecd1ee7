/* SPDX-License-Identifier: BSD-3-Clause */
/* launcher.c - the launcher in a command, and whether its job may have several nodes. */
#include "launcher.h"

#include "base/name.h"
#include "launch.h"

#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* Programs that each belong to one kind.  Other launchers are links to them, or are in the same
 * folder. */
static const struct program {
    const char *name;
    enum kind kind;
} programs[] = {
    { "orterun", OPENMPI_4 },
    { "prterun", OPENMPI_5 },
    { "mpiexec.hydra", HYDRA },
    { "srun", SRUN },
};
enum { PROGRAMS = sizeof programs / sizeof *programs };

const char *hud_launch_base(const char *path)
{
    const char *slash = strrchr(path, '/');

    return slash ? slash + 1 : path;
}

char *hud_launch_find(const char *word)
{
    const char *folders = getenv("PATH");

    if (strchr(word, '/'))
        return access(word, X_OK) == 0 ? hud_launch_text("%s", word) : NULL;
    while (folders) {
        size_t length = strcspn(folders, ":");
        char *path = hud_launch_text("%.*s/%s", (int)length, folders, word);
        if (length > 0 && access(path, X_OK) == 0)
            return path;
        free(path);
        folders = folders[length] == ':' ? folders + length + 1 : NULL;
    }
    return NULL;
}

static enum kind kind_by_name(const char *name)
{
    for (int i = 0; i < PROGRAMS; i++)
        if (strcmp(programs[i].name, name) == 0)
            return programs[i].kind;
    return UNKNOWN;
}

/* Returns the kind of another program in the folder of this path, which is cut. */
static enum kind kind_by_folder(char *path)
{
    *strrchr(path, '/') = '\0';
    for (int i = 0; i < PROGRAMS; i++) {
        char *other = hud_launch_text("%s/%s", path, programs[i].name);
        bool exists = programs[i].kind != SRUN && access(other, X_OK) == 0;
        free(other);
        if (exists)
            return programs[i].kind;
    }
    return UNKNOWN;
}

enum kind hud_launch_kind(const char *word)
{
    enum kind kind = kind_by_name(hud_launch_base(word));
    char real[PATH_MAX], *path = hud_launch_find(word);

    if (kind == UNKNOWN && path && realpath(path, real)) {
        kind = kind_by_name(hud_launch_base(real));
        if (kind == UNKNOWN)
            kind = kind_by_folder(real);
    }
    free(path);
    return kind;
}

char **hud_launch_launcher(char **command)
{
    static const char *const names[] = { "mpirun", "mpiexec", "orterun", "prterun", "srun" };

    for (char **word = command; *word; word++) {
        const char *base = hud_launch_base(*word);
        size_t length = strcspn(base, ".");
        for (size_t i = 0; i < sizeof names / sizeof *names; i++)
            if (name_is(names[i], base, length))
                return word;
    }
    return NULL;
}

/* Returns whether an option is in a list of names without hyphens. */
static bool is_option(const char *option, const char *const *names)
{
    option += strspn(option, "-");
    while (*names && strcmp(*names, option) != 0)
        names++;
    return *names != NULL;
}

/* Returns how many of the next words may be values of an option: 1 for an unknown option. */
static int values_of(const char *option)
{
    static const char *const none[] = { "oversubscribe",
                                        "nooversubscribe",
                                        "allow-run-as-root",
                                        "report-bindings",
                                        "tag-output",
                                        "display-map",
                                        "nolocal",
                                        "use-hwthread-cpus",
                                        "prepend-rank",
                                        "exclusive",
                                        "overlap",
                                        "verbose",
                                        "quiet",
                                        "v",
                                        "q",
                                        "l",
                                        "s",
                                        NULL };
    static const char *const two[] = { "mca", "gmca", "prtemca", "pmixmca", "env", "genv", NULL };

    return strchr(option, '=') || is_option(option, none) ? 0 : is_option(option, two) ? 2 : 1;
}

/* Returns whether a word names a program that can be started on this node. */
static bool is_program(const char *word)
{
    struct stat file;
    char *path = hud_launch_find(word);
    bool found = path && stat(path, &file) == 0 && S_ISREG(file.st_mode);

    free(path);
    return found;
}

char **hud_launch_own_words(char **launcher)
{
    size_t count = 1, own = 1;
    bool after_program = false;
    int values = 0; /* next words that may be values of an option */

    while (launcher[count])
        count++;
    char **words = calloc(count + 1, sizeof *words);
    if (!words)
        exit(hud_launch_fail(1, "out of memory"));
    words[0] = launcher[0];
    for (char **word = launcher + 1; *word; word++) {
        bool is_value = **word != '-' && values > 0;
        if (strcmp(*word, ":") == 0)
            after_program = false;
        else if (!after_program && **word != '-' && !is_value)
            after_program = is_program(*word);
        values = **word == '-' ? values_of(*word) : values - is_value;
        if (!after_program)
            words[own++] = *word;
    }
    return words;
}

const char *hud_launch_word(char **words, const char *const *wanted)
{
    for (; *words; words++)
        for (const char *const *one = wanted; *one; one++)
            if (name_is_before_equals(*one, *words))
                return *words;
    return NULL;
}

/* Returns whether a file of a batch system has several hosts, one at the start of each line. */
static bool has_hosts(const char *variable)
{
    const char *path = getenv(variable);
    FILE *file = path ? fopen(path, "re") : NULL;
    char first[256] = "", host[256];
    bool several = false;

    while (file && !several && fscanf(file, "%255s%*[^\n]", host) == 1) {
        several = first[0] != '\0' && strcmp(first, host) != 0;
        memcpy(first, host, sizeof first);
    }
    if (file)
        fclose(file);
    return several;
}

bool hud_launch_may_have_nodes(char **words, bool is_launcher)
{
    enum { SHORT = 4 };
    static const char *const options[] = {
        "-H",         "-f",        "-host",        "--host",        "-hosts", "-hostfile",
        "--hostfile", "-hostlist", "-machinefile", "--machinefile", NULL
    };
    const char *slurm = getenv("SLURM_JOB_NUM_NODES");

    return hud_launch_word(words, is_launcher ? options : options + SHORT) ||
           (slurm && atol(slurm) > 1) || has_hosts("PBS_NODEFILE") ||
           has_hosts("LSB_DJOB_HOSTFILE") || has_hosts("PE_HOSTFILE");
}
