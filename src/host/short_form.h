/* SPDX-License-Identifier: BSD-3-Clause */
/* short_form.h - calls huddle's core for a collective of MPI; the same in both front ends. */
#ifndef HUD_HOST_SHORT_FORM_H
#define HUD_HOST_SHORT_FORM_H

#include "coll/coll.h"
#include "huddle/huddle.h"

/* The collective of huddle that serves each collective of signatures.def. */
enum kind_of_name {
#define COLL(ID, name, ...) KIND_##name = COLL_##ID,
#include "coll/coll.def"
#undef COLL
    KIND_reduce_scatter_block = COLL_REDUCE_SCATTER,
    KIND_alltoallw = COLL_ALLTOALLV
};

/* Makes a call, by a short form of hud_call if huddle has one.  `kind` is constant where this
 * function is inlined. */
static inline __attribute__((always_inline)) int short_form_call(hud_team *team, int kind,
                                                                 const struct hud_args *a)
{
    switch (kind) {
    case COLL_BARRIER:
        return hud_barrier(team);
    case COLL_BCAST:
        return hud_bcast(team, a->out, a->root);
    case COLL_REDUCE:
        return hud_reduce(team, a->in, a->out, a->op, a->root);
    case COLL_ALLREDUCE:
        return hud_allreduce(team, a->in, a->out, a->op);
    default:
        return hud_call(team, a);
    }
}

#endif
