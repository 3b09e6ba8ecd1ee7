/* SPDX-License-Identifier: BSD-3-Clause */
/* args.h - the arguments of a collective, and their validation, by the collective's flags.  Inlined
 * where the flags are known, so that a small call pays only for the arguments that it has. */
#ifndef HUD_ARGS_H
#define HUD_ARGS_H

#include "coll/coll.h"
#include "core/team/team.h"

#define ALWAYS_INLINE inline __attribute__((always_inline))

/* Returns whether a collective of this kind moves bytes; likewise below, whether all ranks, or
 * this rank, get some. */
static ALWAYS_INLINE bool args_moves(unsigned flags)
{
    return flags != COLL_UNSIZED;
}

static ALWAYS_INLINE bool args_gets(unsigned flags, const struct hud_team *team,
                                    const struct hud_args *a)
{
    if (flags & COLL_EXCLUSIVE)
        return team->id.rank != 0;
    return !(flags & COLL_TO_ROOT) || a->root == team->id.rank;
}

static ALWAYS_INLINE bool args_sends(unsigned flags, const struct hud_team *team,
                                     const struct hud_args *a)
{
    return !coll_from_root(flags) || a->root == team->id.rank;
}

/* Returns whether a buffer has a block for each rank, or of each rank. */
static ALWAYS_INLINE bool args_equal(unsigned flags)
{
    return (flags & COLL_BLOCKS) && !(flags & COLL_VIEWS);
}

/* Returns whether the call is in place: a rank's single block is read, or written, within all
 * blocks, in the result or in the buffer that the root scatters. */
static ALWAYS_INLINE bool args_in_place(unsigned flags, const struct hud_team *team,
                                        const struct hud_args *a)
{
    return args_equal(flags) && (flags & (COLL_SAME_TO_ALL | COLL_ROOTED)) &&
           (!(flags & COLL_ROOTED) || a->root == team->id.rank) && a->in->base == a->out->base;
}

/* Returns whether blocks of COLL_COUNTS are of whole elements, and add up to the sent bytes. */
static inline bool args_blocks_valid(const struct hud_team *team, const struct hud_args *a)
{
    size_t sum = 0;

    if (!a->block_bytes || a->out->bytes != a->block_bytes[team->id.rank])
        return false;
    for (int r = 0; r < team->id.size; r++) {
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
    size_t ranks = (size_t)team->id.size;

    if ((flags & COLL_ROOTED) && (a->root < 0 || a->root >= team->id.size))
        return false;
    if (!args_moves(flags))
        return true;
    if (!(flags & COLL_ONE_BUFFER) && args_sends(flags, team, a) && !a->in)
        return false;
    if (args_gets(flags, team, a) && !a->out)
        return false;
    if (flags & COLL_REDUCES)
        return args_reduction_valid(flags, team, a);
    if (!args_equal(flags))
        return true;
    if (!coll_from_root(flags) && args_gets(flags, team, a) && a->out->bytes % ranks != 0)
        return false;
    return (flags & (COLL_SAME_TO_ALL | COLL_TO_ROOT)) || !args_sends(flags, team, a) ||
           a->in->bytes % ranks == 0;
}

/* Returns whether this rank knows how many bytes it sends to each rank, and gets of a rank. */
static ALWAYS_INLINE bool args_sizes_known(unsigned flags)
{
    return args_equal(flags) || ((flags & COLL_COUNTS) && (flags & COLL_VIEWS));
}

/* Returns the bytes that this rank sends to each receiver, or without receivers the received
 * bytes. */
static ALWAYS_INLINE size_t args_sent(unsigned flags, const struct hud_team *team,
                                      const struct hud_args *a)
{
    size_t ranks = (size_t)team->id.size;

    if (flags & COLL_VIEWS)
        return a->in->bytes;
    if (coll_from_root(flags))
        return args_sends(flags, team, a) ? a->in->bytes / ranks : a->out->bytes;
    if (args_in_place(flags, team, a))
        return a->out->bytes / ranks;
    return flags & (COLL_SAME_TO_ALL | COLL_TO_ROOT) ? a->in->bytes : a->in->bytes / ranks;
}

/* Returns the bytes of each rank for this rank; if blocks are of any size, its own block's. */
static ALWAYS_INLINE size_t args_received(unsigned flags, const struct hud_team *team,
                                          const struct hud_args *a)
{
    size_t ranks = (size_t)team->id.size;

    if (flags & COLL_VIEWS)
        return a->out[team->id.rank].bytes;
    if (coll_from_root(flags))
        return args_in_place(flags, team, a) ? a->in->bytes / ranks : a->out->bytes;
    return args_gets(flags, team, a) ? a->out->bytes / ranks : a->in->bytes;
}

/* Returns the sum of blocks of any sizes, which all ranks know. */
static inline size_t args_sum(const struct hud_team *team, const struct hud_args *a)
{
    size_t sum = 0;

    for (int r = 0; r < team->id.size; r++)
        sum += a->out[r].bytes;
    return sum;
}

/* Returns the bytes by which an algorithm is chosen. */
static ALWAYS_INLINE size_t args_bytes(unsigned flags, const struct hud_team *team,
                                       const struct hud_args *a)
{
    if (flags & COLL_UNSIZED)
        return 0;
    if (flags & COLL_VIEWS)
        return args_sum(team, a);
    if (flags & COLL_BLOCKS)
        return args_received(flags, team, a);
    return flags & COLL_ONE_BUFFER ? a->out->bytes : a->in->bytes;
}

#endif
