/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * hand_over.c - how the variables of a job reach its ranks on other nodes.
 *
 *   Open MPI 4       passes no variables to other nodes, except those named by -x, by the parameter
 *                    mca_base_env_list, or by a file of --tune.  -x and mca_base_env_list exclude
 *                    each other, and Open MPI ends the job that has both.  So huddle names its
 *                    variables where Open MPI puts those of a file, which -x does not exclude:
 *                    mca_base_env_list_internal.
 *   Open MPI 5       as version 4, but -x and mca_base_env_list do not exclude each other.
 *   Hydra, srun      pass the environment, unless told otherwise.
 *
 * Open MPI does not put these parameters on the command lines of its daemons.  The job's secret is
 * passed by its name only, so that no list of parameters has its value.
 */
#include "hand_over.h"

#include "base/name.h"
#include "launch.h"
#include "launcher.h"

#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define LIST "mca_base_env_list"
#define ENV_LIST "OMPI_MCA_" LIST
#define INTERNAL_LIST ENV_LIST "_internal"
#define SECRET "HUDDLE_JOB"
#define NEEDED "LD_PRELOAD, HUDDLE_JOB and HUDDLE_* settings"

enum { EXPORTED = ',' }; /* separates names in lists of srun, which have no values */

extern char **environ;

/* Returns whether a list has an item with this name, as NAME or NAME=VALUE. */
static bool lists(const char *list, char separator, const char *name, size_t length)
{
    for (const char *at = list; at; at = strchr(at, separator), at = at ? at + 1 : NULL)
        if (strncmp(at, name, length) == 0 &&
            (at[length] == '\0' || at[length] == '=' || at[length] == separator))
            return true;
    return false;
}

/* Returns whether the command passes the loader by itself, also after a program such as env. */
static bool names_loader(char **words)
{
    for (; *words; words++)
        if (strstr(*words, "LD_PRELOAD"))
            return true;
    return false;
}

/* ---- reasons why a launcher does not pass the variables ---- */

/* Returns the file if it sets mca_base_env_list, or NULL. */
static const char *sets_list(char *path)
{
    FILE *file = fopen(path, "re");
    char line[512];
    bool sets = false;

    while (file && !sets && fgets(line, sizeof line, file))
        sets = strncmp(line + strspn(line, " \t"), LIST, sizeof LIST - 1) == 0;
    if (file)
        fclose(file);
    if (!sets)
        free(path);
    return sets ? path : NULL;
}

/* Returns the file of the user or the installation that sets mca_base_env_list, or NULL. */
static const char *file_with_list(const char *launcher)
{
    const char *home = getenv("HOME"), *found = NULL;
    char real[PATH_MAX], *path = hud_launch_find(launcher);

    if (home)
        found = sets_list(hud_launch_text("%s/.openmpi/mca-params.conf", home));
    if (!found && path && realpath(path, real))
        found = sets_list(hud_launch_text("%.*s/../etc/openmpi-mca-params.conf",
                                          (int)(hud_launch_base(real) - real), real));
    free(path);
    return found ? found : sets_list(hud_launch_text("/etc/openmpi/openmpi-mca-params.conf"));
}

/* Returns why Open MPI 4 would refuse or override huddle's list, or NULL. */
static const char *openmpi_4_lacks(char **words)
{
    static const char *const options[] = { "--tune", "-tune", "--am", "-am", LIST, NULL };
    static const char variable[] = "OMPI_MCA_mca_base_envar_file_prefix";
    const char *found = hud_launch_word(words, options);

    if (found || getenv(ENV_LIST))
        return found;
    return getenv(variable) ? variable : file_with_list(*words);
}

static const char *hydra_lacks(char **words)
{
    static const char *const options[] = { "-genvnone", "-genvlist", "-genvexcl",
                                           "-envnone",  "-envlist",  NULL };
    static const char variable[] = "HYDRA_ENV";
    const char *found = hud_launch_word(words, options), *set = getenv(variable);

    return found ? found : set && strcmp(set, "all") != 0 ? variable : NULL;
}

static bool exports_all(const char *value)
{
    return *value == '\0' || lists(value, ',', "ALL", strlen("ALL"));
}

static const char *srun_lacks(char **words)
{
    static const char option[] = "--export", variable[] = "SLURM_EXPORT_ENV";
    const char *value = getenv(variable), *why = variable;

    if (value && strcmp(value, "NONE") != 0 && strcmp(value, "NIL") != 0)
        value = NULL; /* a list, to which huddle's names are added */
    for (; *words; words++) {
        if (name_is_before_equals(option, *words)) {
            const char *equals = strchr(*words, '=');
            value = equals ? equals + 1 : words[1];
            why = option;
        }
    }
    return value && !exports_all(value) ? why : NULL;
}

/* ---- the variables ---- */

/* Returns a list's item for a variable, or NULL if the list cannot have the variable.  Open MPI
 * misreads an item without a value if the environment's value has a '='. */
static char *item_of(const char *pair, char separator)
{
    int length = (int)strcspn(pair, "=");
    const char *value = pair + length + 1;
    bool is_secret = strncmp(pair, SECRET "=", sizeof SECRET) == 0;

    if (separator == EXPORTED)
        return hud_launch_text("%.*s", length, pair);
    if (!is_secret && !strchr(value, separator))
        return hud_launch_text("%s", pair);
    return strchr(value, '=') ? NULL : hud_launch_text("%.*s", length, pair);
}

static void append(char **list, char separator, const char *pair)
{
    char *item = item_of(pair, separator);

    if (item && !lists(*list, separator, pair, strcspn(pair, "="))) {
        char *longer = hud_launch_text("%s%.*s%s", *list, **list != '\0', &separator, item);
        free(*list);
        *list = longer;
    }
    free(item);
}

/* Adds a list of huddle's variables, after the user's own list. */
static void add_list(struct run *run, const char *name, char separator)
{
    const char *mine = getenv(name);
    char *list = hud_launch_text("%s", mine ? mine : "");

    for (int i = 0; i < run->count; i++)
        append(&list, separator, run->variables[i]);
    for (char **pair = environ; *pair; pair++)
        if (strncmp(*pair, "HUDDLE", strlen("HUDDLE")) == 0)
            append(&list, separator, *pair);
    hud_launch_add(run, name, "", list);
    free(list);
    run->handed = hud_launch_text("lists the variables for all nodes in %s", name);
}

static void add_openmpi_4(struct run *run)
{
    const char *separator = getenv(ENV_LIST "_delimiter");
    bool is_set = getenv(ENV_LIST) != NULL;

    add_list(run, is_set ? ENV_LIST : INTERNAL_LIST,
             is_set && separator && strlen(separator) == 1 ? separator[0] : ';');
}

static void add_openmpi_5(struct run *run)
{
    add_list(run, ENV_LIST, ';');
}

static void add_hydra(struct run *run)
{
    run->handed = "passes the environment to all nodes";
}

static void add_srun(struct run *run)
{
    const char *mine = getenv("SLURM_EXPORT_ENV");

    add_hydra(run);
    if (mine && !exports_all(mine))
        add_list(run, "SLURM_EXPORT_ENV", EXPORTED);
}

/* ---- all of it ---- */

static const struct way {
    const char *name;
    const char *(*lacks)(char **words); /* returns what hinders the launcher, or NULL */
    void (*add)(struct run *run);
    bool alike; /* the obstacle also affects ranks on the launcher's own node */
} ways[] = {
    [OPENMPI_4] = { "Open MPI 4", openmpi_4_lacks, add_openmpi_4, false },
    [OPENMPI_5] = { "Open MPI 5", NULL, add_openmpi_5, false },
    [HYDRA] = { "Hydra", hydra_lacks, add_hydra, true },
    [SRUN] = { "Slurm", srun_lacks, add_srun, true },
};

void hud_launch_hand_over(struct run *run, char **command)
{
    char **launcher = hud_launch_launcher(command);
    char **words = launcher ? hud_launch_own_words(launcher) : NULL;
    enum kind kind = words ? hud_launch_kind(*words) : UNKNOWN;
    const struct way *way = &ways[kind];
    const char *why = way->lacks ? way->lacks(words) : NULL;
    bool may_have_nodes = hud_launch_may_have_nodes(words ? words : command, words != NULL);

    if (kind == UNKNOWN && may_have_nodes)
        run->missing = hud_launch_text(
            "%s is not a launcher that huddle knows: if ranks on other nodes do not get its "
            "environment, put 'huddle run --' before the launcher, or pass " NEEDED,
            words ? *words : *command);
    if (kind != UNKNOWN && !why)
        way->add(run);
    if (why && !names_loader(launcher) && (way->alike || may_have_nodes))
        run->missing =
            hud_launch_text("%s run without huddle because of %s: the launcher must pass " NEEDED,
                            way->alike ? "ranks" : "ranks on other nodes", why);
    if (kind != UNKNOWN)
        run->handed =
            hud_launch_text("%s (%s) %s", *words, way->name,
                            why ? "passes what its own words and files name" : run->handed);
    free(words);
}
