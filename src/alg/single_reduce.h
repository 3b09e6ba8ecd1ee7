/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * single_reduce.h - reductions by single copy, all of it: directly (single_direct.h), as far as the
 * kernel lets each rank, then in turns what is lacking (single_turns.h).
 */
#ifndef HUD_ALG_SINGLE_REDUCE_H
#define HUD_ALG_SINGLE_REDUCE_H

#include "alg/single_direct.h"
#include "alg/single_turns.h"

static inline void reduce_run(const struct job *j)
{
    const struct coll *c = j->c;
    size_t start = job_start(j, mem_rank(j->m));
    struct single_lack own = { start, start };
    bool closed =
        j->scatters && coll_in_place(c); /* the own result would lie across what others pull */
    const struct single_place place = { .in = closed ? 0 : mem_expose(j->m, &c->in),
                                        .out = mem_expose(j->m, &c->out) };

    for (int k = 1; k < mem_size(j->m); k++)
        single_enter(j->m, c, single_other(j->m, k), &place);
    if (!closed)
        own = direct_run(j);
    for (int k = 1; k < mem_size(j->m); k++) {
        single_meet(j->m, c,
                    single_other(j->m, k)); /* has heard the last word, which this one replaces */
        single_tell(j->m, c, single_other(j->m, k), own.from, own.end);
    }
    for (int k = 1; k < mem_size(j->m); k++)
        single_hear(j->m, c, single_other(j->m, k));
    size_t turns = turns_run(j, &own, false, turns_run(j, &own, true, 0));
    for (int k = 1; k < mem_size(j->m); k++)
        single_close(j->m, single_other(j->m, k), turns);
}

#endif
