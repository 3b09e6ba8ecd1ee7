/* SPDX-License-Identifier: BSD-3-Clause */
/* launcher_env.h - where launchers tell a process its rank and its job's size, before its MPI
 * knows. */
#ifndef HUD_LAUNCHER_ENV_H
#define HUD_LAUNCHER_ENV_H

#include <limits.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdlib.h>

/* Maximum number of ranks whose presence is known. */
enum { LAUNCHED_RANKS = 1 << 20 };

/* The most specific variables come first: ranks that another launcher starts within a step of Slurm
 * inherit Slurm's variables. */
static const char *const launched_names[] = { "PMI_RANK",    "PMIX_RANK",   "OMPI_COMM_WORLD_RANK",
                                              "PMI_ID",      "PALS_RANKID", "FLUX_TASK_RANK",
                                              "SLURM_PROCID" };

/* Returns the number in a text, whose end is moved behind the number, or -1 if there is none. */
static inline long launched_number(const char **text)
{
    char *end = NULL;
    long number = *text ? strtol(*text, &end, 10) : -1;

    if (!*text || end == *text || number < 0)
        return -1;
    *text = end;
    return number;
}

/* Returns the value of a variable that is a number, or -1. */
static inline long launched_value(const char *name)
{
    const char *text = getenv(name);
    long number = launched_number(&text);

    return number >= 0 && *text == '\0' ? number : -1;
}

/* Returns this process's rank, or -1 if no launcher tells. */
static inline long launched_rank(void)
{
    long rank = -1;

    for (size_t i = 0; rank < 0 && i < sizeof launched_names / sizeof launched_names[0]; i++)
        rank = launched_value(launched_names[i]);
    return rank;
}

/* Returns the number of processes that the launcher has started in the job of this process, or
 * 0 if the launcher does not tell. */
static inline long launched_size(void)
{
    /* (not SLURM_NTASKS: a batch script's own shell has it, too) */
    static const char *const names[] = { "PMI_SIZE", "OMPI_COMM_WORLD_SIZE",
                                         "SLURM_STEP_NUM_TASKS" };

    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++)
        if (getenv(names[i]))
            return strtol(getenv(names[i]), NULL, 10);
    return 0;
}

/* Returns whether a launcher has started this process as a rank.  The shell of a Slurm job's script
 * has SLURM_PROCID, too, but does not belong to a step of several tasks. */
static inline bool launched_as_rank(void)
{
    size_t before_slurm = sizeof launched_names / sizeof launched_names[0] - 1;

    for (size_t i = 0; i < before_slurm; i++)
        if (launched_value(launched_names[i]) >= 0)
            return true;
    return launched_value(launched_names[before_slurm]) >= 0 &&
           launched_value("SLURM_STEP_NUM_TASKS") > 1;
}

/* Returns the number of tasks on a node of a Slurm step, as in "4(x2),3", or 0. */
static inline long launched_tasks(const char *text, long node)
{
    while (text && *text != '\0') {
        long tasks = launched_number(&text), nodes = 1;
        if (tasks < 0)
            return 0;
        if (text[0] == '(' && text[1] == 'x') {
            text += 2;
            nodes = launched_number(&text);
            text += *text == ')';
        }
        if (node < nodes)
            return tasks;
        node -= nodes;
        text += *text == ',';
    }
    return 0;
}

/* Returns the number of ranks on this node of a job of `size` ranks, or 0 if the launcher does not
 * tell.  Ranks of another launcher in a Slurm step inherit the step's variables. */
static inline int launched_local_size(long size)
{
    static const char *const names[] = { "MPI_LOCALNRANKS", "PMI_LOCAL_SIZE", "PALS_LOCAL_SIZE" };
    long local = 0;

    for (size_t i = 0; local <= 0 && i < sizeof names / sizeof names[0]; i++)
        local = launched_value(names[i]);
    if (local <= 0 && launched_value("SLURM_NODEID") >= 0 &&
        launched_value("SLURM_STEP_NUM_TASKS") == size)
        local = launched_tasks(getenv("SLURM_STEP_TASKS_PER_NODE"), launched_value("SLURM_NODEID"));
    return local > 0 && local <= INT_MAX ? (int)local : 0;
}

#endif
