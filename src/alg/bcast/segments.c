/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * bcast/segments.c - the buffer is cut into a segment per NUMA node; groups read them in rotation,
 * at most k ranks one at a time.
 *
 * Source    paper 02 (Zhang, Meng, Huo, Multi-core aware Barrier, Bcast and Alltoall), "Broadcast:
 *           limited concurrency, NUMA-placed segments".  Ours: a message that the segments do not
 *           hold goes by rounds, through two halves of each segment; and k is kept by waiting, at
 *           each segment, for the rank that reads it k places before, so only the last k need to
 *           acknowledge it.
 * Shape     p ranks in G groups, those of the level below the top: a group is a member of the top
 *           group and all ranks below it, and its segment lies in that member's slice.  Nothing
 *           but the top: one group, one segment, in rank 0's slice.  In step i of a round group g
 *           reads segment (g + i) mod G.
 * Cost      T = n t + max over segments of the reads of n/G in turns of k     ns; t ns per byte
 *           copied; of more rounds the two overlap
 * Accepts   any n, if the lease has a window.
 *
 * All ranks but the root read every segment in the same order (shape/circle.h).  Rounds count over
 * all roots; each rank remembers who was root of the last round in each half, for the order
 * without that root tells who were the last k to read it.
 *
 * Line                    written by   read by                    value k means
 *   slot[r].full[half]    r            all others                 round k - 1 is in that half of
 *                                                                 all segments, r its root; with
 *                                                                 it, a header
 *   slot[r].read          r            k places on; any root      r has done the first k steps, of
 *                                                                 G a round
 *   slot[r].rounds,.root  r            r                          (plain) rounds so far; root of
 *                                                                 the last round in each half
 *   data                  any root     all others                 two halves of a segment, used if
 *                                                                 r heads a group
 *
 * Edges     R1 -> A1   the root's copies in                  happen before   the copies out
 *           R2 -> A2   the last k copies out of a half       happen before   any root's next copy
 *                      into it
 *           R2 -> A3   a copy out of a half of a segment     happens before  the one k places on:
 *                      so before one of the last k
 */
#include "alg/fragment.h"
#include "shape/circle.h"
#include "shape/rounds.h"

enum param { LIMIT, SEGMENT };

static const struct alg_param params[] = {
    [LIMIT] = { "limit", "1", "k, ranks that read one segment at a time; 0: ranks / groups", 0,
                4096, 0, NULL, .tune = "1,2,4" },
    [SEGMENT] = { "segment", "B",
                  "half a segment, of which a round fills one per NUMA node; 0: what the lease "
                  "holds",
                  0, 1 << 24, 0, NULL, .tune = "8K,32K" },
    { .name = NULL },
};

struct slot {
    mem_flag full[2], read;
    _Alignas(HUD_LINE) uint64_t rounds;
    uint64_t root[2];
};

static size_t window_bytes(const long *param, int ranks, size_t max_bytes)
{
    size_t room = max_bytes / 2 / HUD_LINE * HUD_LINE, wanted = mem_lines((size_t)param[SEGMENT]);

    (void)ranks;
    return 2 * (wanted != 0 && wanted < room ? wanted : room);
}

/* A round's half of a head's window. */
static char *half_of(struct mem *m, const struct coll *c, int head, uint64_t round)
{
    return (char *)mem_window(m, head) + round % 2 * (c->place->window_bytes / 2);
}

/* Before a round's copy into a segment: the last k to read what that half holds are done. */
static void reclaim(struct mem *m, const struct coll *c, uint64_t round, int segment)
{
    struct slot *mine = mem_slot(m, mem_rank(m));
    struct circle o = circle_of(c->groups, (int)mem_get(m, &mine->root[round % 2]));
    struct circle_place at = { .group = segment };

    for (int k = circle_limit(&o, c->param[LIMIT]); round >= 2 && k > 0; k--) {
        circle_back(&o, &at);
        struct slot *reader = mem_slot(m, at.rank);
        uint64_t before = (round - 2) * (uint64_t)o.count;
        mem_await(m, &reader->read, before + (uint64_t)(o.count - at.behind) + 1); /* A2 */
    }
}

/* The root copies a round in.  Returns its header. */
static uint64_t fill(struct mem *m, const struct coll *c, const struct circle *o, uint64_t round,
                     size_t sent)
{
    size_t half = c->place->window_bytes / 2, left = c->out->bytes - sent,
           bytes = rounds_next(left, half * (size_t)o->count);

    for (int s = 0; s < o->count; s++) {
        struct rounds_segment part = rounds_segment_of(bytes, o->count, HUD_LINE, s);
        reclaim(m, c, round, s);
        mem_in_all(m, half_of(m, c, o->heads[s], round), c->out, sent + part.first_bytes,
                   part.bytes);
    }
    return fragment_header(bytes, left);
}

/* Another copies it out, in G steps. */
static void drain(struct mem *m, const struct coll *c, const struct circle *o, uint64_t round,
                  size_t bytes, size_t done)
{
    int me = mem_rank(m), group = circle_group(o, me);
    struct circle_place before = circle_before(o, me, circle_limit(o, c->param[LIMIT]));
    struct slot *mine = mem_slot(m, me), *ahead = mem_slot(m, before.rank);

    for (int i = 0; i < o->count; i++) {
        uint64_t step = round * (uint64_t)o->count + (uint64_t)i + 1;
        int s = (group + i) % o->count;
        struct rounds_segment part = rounds_segment_of(bytes, o->count, HUD_LINE, s);
        if (i >= before.behind)
            mem_await(m, &ahead->read, step - (uint64_t)before.behind); /* A3 */
        mem_out(m, c->out, half_of(m, c, o->heads[s], round), done + part.first_bytes, part.bytes);
        mem_post(m, &mine->read, step); /* R2 */
    }
}

static void bcast_segments(struct mem *m, const struct coll *c)
{
    struct circle o = circle_of(c->groups, c->root);
    struct slot *mine = mem_slot(m, mem_rank(m)), *root = mem_slot(m, c->root);
    uint64_t round = mem_get(m, &mine->rounds), header = FRAGMENT_MORE;

    for (size_t done = 0; header & FRAGMENT_MORE; done += fragment_bytes(header), round++) {
        mem_flag *full = &root->full[round % 2];

        if (mem_rank(m) == c->root) {
            header = fill(m, c, &o, round, done);
            mem_put(m, full->payload, header);
            mem_post(m, full, round + 1); /* R1 */
        } else {
            mem_await(m, full, round + 1); /* A1 */
            header = mem_get(m, full->payload);
            drain(m, c, &o, round, fragment_bytes(header), done);
        }
        mem_put(m, &mine->root[round % 2], (uint64_t)c->root);
    }
    mem_put(m, &mine->rounds, round);
}

static const struct alg_family family = {
    .params = params,
    .fixed_bytes = sizeof(struct slot),
    .window_bytes = window_bytes,
};

ALG_DEFINE(bcast, segments) = {
    .coll = "bcast",
    .name = "segments",
    .doc = "the buffer is cut over the NUMA nodes, groups read the segments in rotation",
    .source = "paper 02, Broadcast",
    .family = &family,
    .run = bcast_segments,
};
