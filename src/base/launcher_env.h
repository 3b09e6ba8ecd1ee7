/* SPDX-License-Identifier: BSD-3-Clause */
/* launcher_env.h - where launchers tell a process its rank and its job's size, before its MPI
 * knows. */
#ifndef HUD_LAUNCHER_ENV_H
#define HUD_LAUNCHER_ENV_H

#include <stddef.h>
#include <stdlib.h>

/* Ranks of a job; nobody knows whether a higher one uses huddle. */
enum { LAUNCHED_RANKS = 1 << 20 };

/* The most specific first: a launcher of processes that each start an MPI's own launcher (Slurm)
 * leaves its variable to all of them. */
static const char *const launched_names[] = { "PMI_RANK", "PMIX_RANK", "OMPI_COMM_WORLD_RANK",
                                              "PMI_ID", "SLURM_PROCID" };

/* Returns this process's rank, or -1 if no launcher tells. */
static inline long launched_rank(void)
{
    for (size_t i = 0; i < sizeof launched_names / sizeof launched_names[0]; i++) {
        const char *text = getenv(launched_names[i]);
        char *end = NULL;
        long rank = text ? strtol(text, &end, 10) : -1;
        if (text && end != text && *end == '\0' && rank >= 0)
            return rank;
    }
    return -1;
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

#endif
