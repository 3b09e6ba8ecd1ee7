/* SPDX-License-Identifier: BSD-3-Clause */
/* job.h - a request as a job: ranks on cores of the modelled machine, a team of all ranks, and its
 * calls under the checker. */
#ifndef HUD_SIM_JOB_H
#define HUD_SIM_JOB_H

#include "lab/sim/run/data.h"
#include "lab/sim/timing.h"

/* The times of a call of a rank. */
struct span {
    double enter_ns, leave_ns;
};

enum { JOB_COUNTED, JOB_OTHER, JOB_PARTS };

/* The calls of an algorithm. */
struct job_part {
    const struct request *q;
    struct alg_place place;
    struct coll call;  /* fields that are equal for all ranks and rounds */
    struct data *data; /* [ranks] */
};

struct job {
    const struct request *q;
    struct sim *sim;
    struct sim_team *team;
    struct sim_span *nodes; /* used instead of `team` with several nodes */
    struct shape_groups groups;
    int *core, *node_of;             /* [ranks] */
    struct job_part part[JOB_PARTS]; /* the measured calls, and the calls between them */
    int parts;
    int rounds;        /* including warm-up */
    double *start;     /* [rounds] when all ranks may enter */
    struct span *span; /* [rounds * ranks] spans of the measured calls */
};

/* Reports whether the window is handed over between the calls. */
static inline bool job_hands_over(const struct job *job)
{
    return job->part[JOB_COUNTED].place.user != 0;
}

/* Returns a rank's memory.  job_all() returns its handle on all ranks, for hud_sim_meet. */
static inline struct mem *job_mem(const struct job *job, int rank)
{
    return job->nodes ? hud_sim_span_mem(job->nodes, rank) : hud_sim_team_mem(job->team, rank);
}

static inline struct mem *job_all(const struct job *job, int rank)
{
    return job->nodes ? hud_sim_span_whole(job->nodes, rank) : hud_sim_team_mem(job->team, rank);
}

/* Creates a job.  Returns false with the reason in *error if the request cannot be simulated. */
bool job_create(const struct request *q, struct job *job, char *error, size_t error_bytes);
void job_free(struct job *job);
/* Runs a job.  Returns whether the run was clean; otherwise hud_sim_report has the error. */
bool job_run(struct job *job);

#endif
