/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * bcast/segments.c - the buffer is cut into a segment per NUMA node; groups read the segments in
 * rotation, with at most k ranks at a segment at a time.
 *
 * Source    paper 02 (Zhang, Meng, Huo, Multi-core aware Barrier, Bcast and Alltoall), "Broadcast:
 *           limited concurrency, NUMA-placed segments".  Our additions: a message that does not fit
 *           into the segments is sent in rounds, through two halves of each segment.  The limit k
 *           is kept by waiting, at each segment, for the rank that reads it k places before, so
 *           only the last k readers need to acknowledge it.
 * Shape     p ranks in G groups, the groups of the level below the top: a group is a member of the
 *           top group and all ranks below it, and its segment is in the slice of that member.  If
 *           there is only the top level, there is one group and one segment, in rank 0's slice.  In
 *           step i of a round, group g reads segment (g + i) mod G.
 * Cost      T = n t + max over segments of the reads of n/G in turns of k     ns; t ns per byte
 *           copied; with more rounds, the two terms overlap
 * Accepts   any n, if the lease has a window.
 *
 * All ranks but the root read every segment in the same order (circle.h).  Rounds count over
 * all roots.  Each rank remembers the root of the last round in each half, because the order
 * without that root tells which ranks were the last k readers.
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
 *           R2 -> A3   a copy out of a half of a segment     happens before  the copy k places on:
 *                      so before one of the last k
 *
 * Deadlock  Copies out are ordered by round, step and place in the circle.  A copy waits for the
 *           root's copies in of its round, and for one copy out that comes earlier in this order.
 *           A root waits only for copies out of the round two before.
 * Safety    A copy into a half waits for the last k copies out of its old contents (A2).  Each
 *           other copy out comes before one of them, k places on, which has waited for it (A3).
 */
#include "alg/fragment.h"
#include "lab/alg/bcast/circle.h"
#include "lab/alg/rounds.h"

enum param { LIMIT, SEGMENT };

static const struct alg_param params[] = {
    [LIMIT] = { "limit", "1", "k, ranks that read a segment at the same time; 0: ranks / groups", 0,
                4096, 0, NULL, .tune = "1,2,4" },
    [SEGMENT] = { "segment", "B",
                  "bytes of half a segment; a round fills one half per NUMA node; 0: as much as "
                  "the lease allows",
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

/* Returns a round's half of a head's window. */
static char *half_of(struct mem *m, const struct coll *c, int head, uint64_t round)
{
    return (char *)mem_window(m, head) + round % 2 * (c->place->window_bytes / 2);
}

/* Waits, before a round's copy into a segment, until the last k readers of the half's old contents
 * are done. */
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

/* Copies a round in, at the root, and returns its header. */
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

/* Copies a round out, at another rank, in G steps. */
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
    .doc = "the shared buffer is divided among the NUMA nodes; groups of ranks read the segments "
           "in rotation",
    .source = "paper 02, Broadcast",
    .family = &family,
    .run = bcast_segments,
};
