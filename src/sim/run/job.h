/* SPDX-License-Identifier: BSD-3-Clause */
/* job.h - a request as a job: ranks on cores of the modelled machine, a team of all of them, its
 * calls under the checker. */
#ifndef HUD_SIM_JOB_H
#define HUD_SIM_JOB_H

#include "sim/run/data.h"
#include "sim/sim.h"

/* Of one call of one rank. */
struct span {
    double enter_ns, leave_ns;
};

enum { JOB_COUNTED, JOB_OTHER, JOB_PARTS };

/* Calls of one algorithm. */
struct job_part {
    const struct request *q;
    struct alg_place place;
    struct coll call;  /* what is the same for all ranks and rounds */
    struct data *data; /* [ranks] */
};

struct job {
    const struct request *q;
    struct sim *sim;
    struct sim_team *team;
    struct sim_span *nodes; /* instead of it, where there are several */
    struct shape_groups groups;
    int *core, *node_of;             /* [ranks] */
    struct job_part part[JOB_PARTS]; /* the calls that count, and those between them */
    int parts;
    int rounds;        /* warm-up included */
    double *start;     /* [rounds] when all may enter */
    struct span *span; /* [rounds * ranks] of the calls that count */
};

/* The window is handed over between the calls. */
static inline bool job_hands_over(const struct job *job)
{
    return job->part[JOB_COUNTED].place.user != 0;
}

/* A rank's memory; and all ranks, to meet. */
static inline struct mem *job_mem(const struct job *job, int rank)
{
    return job->nodes ? hud_sim_span_mem(job->nodes, rank) : hud_sim_team_mem(job->team, rank);
}

static inline struct mem *job_all(const struct job *job, int rank)
{
    return job->nodes ? hud_sim_span_whole(job->nodes, rank) : hud_sim_team_mem(job->team, rank);
}

/* False: *error says what cannot be simulated. */
bool job_create(const struct request *q, struct job *job, char *error, size_t error_bytes);
void job_free(struct job *job);
/* True: clean; else hud_sim_report tells. */
bool job_run(struct job *job);

#endif
