/* SPDX-License-Identifier: BSD-3-Clause */
/* coll.c - the table of collectives, and functions derived from a descriptor. */
#include "coll/coll.h"

#include <string.h>

#define COLL(ID, name_, ...) extern const struct coll_meaning hud_coll_##name_;
#include "coll/coll.def"
#undef COLL

#define COLL(ID, name_, mpi_name_, also_, flags_, doc_)                                            \
    [COLL_##ID] = { .name = #name_,                                                                \
                    .mpi_name = (mpi_name_),                                                       \
                    .also = (also_),                                                               \
                    .doc = (doc_),                                                                 \
                    .flags = (flags_),                                                             \
                    .meaning = &hud_coll_##name_ },
const struct hud_collective hud_collectives[COLL_KINDS] = {
#include "coll/coll.def"
};
#undef COLL

int hud_coll_kind(const char *name)
{
    for (int kind = 0; kind < COLL_KINDS; kind++)
        if (strcmp(hud_collectives[kind].name, name) == 0)
            return kind;
    return -1;
}

static size_t block(int kind, const struct coll_args *args, int from, int to)
{
    return hud_collectives[kind].meaning->block_bytes(args, from, to);
}

/* Reports whether no rank moves any data.  Then no sum need be computed, which could be over
 * thousands of ranks. */
static bool is_empty(int kind)
{
    return hud_collectives[kind].flags == COLL_UNSIZED;
}

/* Returns the bytes of the blocks that `from` sends to the ranks before `to`.  Equal blocks need no
 * sum. */
static size_t sent_before(int kind, const struct coll_args *args, int from, int to)
{
    size_t sum = 0;

    if (is_empty(kind) || coll_has(kind, COLL_SAME_TO_ALL))
        return 0;
    if (coll_has(kind, COLL_TO_ROOT))
        return to > args->root ? block(kind, args, from, args->root) : 0;
    if (coll_has(kind, COLL_BLOCKS) && !coll_has(kind, COLL_VIEWS))
        return (size_t)to * block(kind, args, from, to);
    for (int r = 0; r < to; r++)
        sum += block(kind, args, from, r);
    return sum;
}

static size_t got_before(int kind, const struct coll_args *args, int from, int to)
{
    size_t sum = 0;

    if (is_empty(kind) || coll_has(kind, COLL_REDUCES))
        return 0;
    if (coll_from_root(hud_collectives[kind].flags))
        return from > args->root ? block(kind, args, args->root, to) : 0;
    if (coll_has(kind, COLL_BLOCKS) && !coll_has(kind, COLL_VIEWS))
        return (size_t)from * block(kind, args, from, to);
    for (int r = 0; r < from; r++)
        sum += block(kind, args, r, to);
    return sum;
}

struct coll_piece hud_coll_piece(int kind, const struct coll_args *args, int from, int to)
{
    return (struct coll_piece){ .in_at = sent_before(kind, args, from, to),
                                .out_at = got_before(kind, args, from, to),
                                .bytes = block(kind, args, from, to) };
}

int hud_coll_sources(int kind, const struct coll_args *args, int to)
{
    const struct coll_meaning *meaning = hud_collectives[kind].meaning;
    int count = 0;

    while (count < args->ranks && meaning->block_bytes(args, count, to) != 0)
        count++;
    return count;
}

/* Returns the bytes of a rank's input.  Only a root's message may go to no rank, or come only from
 * itself.  A message that is the same for all has the same length on each rank, also if no rank
 * receives the message (exscan). */
size_t hud_coll_in_bytes(int kind, const struct coll_args *args, int rank)
{
    if (!coll_has(kind, COLL_SAME_TO_ALL))
        return sent_before(kind, args, rank, args->ranks);
    return coll_has(kind, COLL_ROOTED | COLL_COUNTS) ? block(kind, args, rank, args->root)
                                                     : args->bytes;
}

size_t hud_coll_out_bytes(int kind, const struct coll_args *args, int rank)
{
    return coll_has(kind, COLL_REDUCES) ? block(kind, args, 0, rank)
                                        : got_before(kind, args, args->ranks, rank);
}
