/* SPDX-License-Identifier: BSD-3-Clause */
/* args.h - the arguments of a collective, and their validation, by the collective's flags.  Inlined
 * where the flags are known, so that a small call pays only for the arguments that it has. */
#ifndef HUD_ARGS_H
#define HUD_ARGS_H

#include "coll/coll.h"
#include "core/team/team.h"

#define ALWAYS_INLINE inline __attribute__((always_inline))

/* A collective of this kind moves bytes; all ranks, or this one, get some. */
static ALWAYS_INLINE bool args_moves(unsigned flags)
{
    return flags != COLL_UNSIZED;
}

static ALWAYS_INLINE bool args_gets(unsigned flags, const struct hud_team *team,
                                    const struct hud_args *a)
{
    if (flags & COLL_EXCLUSIVE)
        return team->rank != 0;
    return !(flags & COLL_ROOTED) || !(flags & COLL_REDUCES) || a->root == team->rank;
}

/* In place, a part that goes to all ranks is read where the result has it. */
static ALWAYS_INLINE bool args_in_place(unsigned flags, const struct hud_args *a)
{
    return (flags & COLL_BLOCKS) && (flags & COLL_SAME_TO_ALL) && a->in->base == a->out->base;
}

/* COLL_COUNTS: blocks of whole elements, that add up to what is sent. */
static inline bool args_blocks_valid(const struct hud_team *team, const struct hud_args *a)
{
    size_t sum = 0;

    if (!a->block_bytes || a->out->bytes != a->block_bytes[team->rank])
        return false;
    for (int r = 0; r < team->size; r++) {
        if (a->block_bytes[r] % a->op->element_bytes != 0)
            return false;
        sum += a->block_bytes[r];
    }
    return sum == a->in->bytes;
}

static ALWAYS_INLINE bool args_reduction_valid(unsigned flags, const struct hud_team *team,
                                               const struct hud_args *a)
{
    const struct hud_op *op = a->op;

    if (!op || !op->combine || op->element_bytes == 0 || a->in->bytes % op->element_bytes != 0)
        return false;
    if (flags & COLL_COUNTS)
        return args_blocks_valid(team, a);
    return !args_gets(flags, team, a) || a->out->bytes == a->in->bytes;
}

static ALWAYS_INLINE bool args_valid(unsigned flags, const struct hud_team *team,
                                     const struct hud_args *a)
{
    size_t ranks = (size_t)team->size;

    if ((flags & COLL_ROOTED) && (a->root < 0 || a->root >= team->size))
        return false;
    if (!args_moves(flags))
        return true;
    if (!(a->in || (flags & COLL_ONE_BUFFER)) || (args_gets(flags, team, a) && !a->out))
        return false;
    if (flags & COLL_REDUCES)
        return args_reduction_valid(flags, team, a);
    if (!(flags & COLL_BLOCKS) || (flags & COLL_VIEWS))
        return true;
    return a->out->bytes % ranks == 0 && ((flags & COLL_SAME_TO_ALL) || a->in->bytes % ranks == 0);
}

/* COLL_BLOCKS without COLL_VIEWS: bytes of this rank's for each rank, and of each for this one. */
static ALWAYS_INLINE size_t args_received(const struct hud_team *team, const struct hud_args *a)
{
    return a->out->bytes / (size_t)team->size;
}

static ALWAYS_INLINE size_t args_sent(unsigned flags, const struct hud_team *team,
                                      const struct hud_args *a)
{
    if (flags & COLL_SAME_TO_ALL)
        return args_in_place(flags, a) ? args_received(team, a) : a->in->bytes;
    return a->in->bytes / (size_t)team->size;
}

/* What an algorithm is chosen by. */
static ALWAYS_INLINE size_t args_bytes(unsigned flags, const struct hud_team *team,
                                       const struct hud_args *a)
{
    if (flags & COLL_UNSIZED)
        return 0;
    if (flags & COLL_BLOCKS)
        return args_received(team, a);
    return flags & COLL_ONE_BUFFER ? a->out->bytes : a->in->bytes;
}

#endif
