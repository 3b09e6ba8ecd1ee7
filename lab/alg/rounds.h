/* SPDX-License-Identifier: BSD-3-Clause */
/* rounds.h - how a message is divided into rounds, and a round into segments on different ranks
 * (bcast/segments, between nodes bcast/scatter_allgather): pure arithmetic. */
#ifndef HUD_LAB_ALG_ROUNDS_H
#define HUD_LAB_ALG_ROUNDS_H

#include <stddef.h>

struct rounds_segment {
    size_t first_bytes, bytes; /* offset in the round; bytes is 0 if the round has ended */
};

/* Returns the bytes of the next round.  The bytes left are divided into as few rounds of at most
 * max_bytes as possible, of about equal length. */
static inline size_t rounds_next(size_t left_bytes, size_t max_bytes)
{
    size_t rounds = (left_bytes + max_bytes - 1) / max_bytes;

    return (left_bytes + rounds - 1) / rounds;
}

/* Returns a segment of a round that is divided into `count` segments of whole units.  All but the
 * last segments have equal length. */
static inline struct rounds_segment rounds_segment_of(size_t round_bytes, int count,
                                                      size_t unit_bytes, int index)
{
    size_t row = (size_t)count * unit_bytes, each = (round_bytes + row - 1) / row * unit_bytes,
           first = each * (size_t)index;
    size_t left = first < round_bytes ? round_bytes - first : 0;

    return (struct rounds_segment){ first, left < each ? left : each };
}

#endif
