/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * reduce/inline.c - contributions travel in flag lines, and the root reduces all of them.
 *
 * Source    this project; ring and recycling by halves as in bcast/inline, after paper 01's sets (q = 2).
 * Shape     p ranks, n <= 112 bytes.  All but the root write a line and are done; the root reads p - 1 lines, from rank 0 on.
 * Cost      T = l + (p - 2) g + p o     ns; l one line transfer, g one more overlapped line, o a copy or reduction of n bytes in the nearest cache
 *           traffic: one line written; at the root p - 1 read
 * Accepts   n <= 112.
 *
 * A rank that is not the root hears of nobody.  So it has a ring of RING lines, used by operation number, in two halves; before a half begins, it makes sure that
 * those who were roots in the half before last, whose lines these are, have finished that.  It knows them: it has noted the root of each operation.
 *
 * Line                        written by   read by       value k means
 *   slot[r].ring[k % RING]      r            the root      r's contribution to operation k is in this line
 *   slot[r].done                r            all others    r has finished all operations up to k
 *   slot[r].root[k % RING]      r            r             (plain) who was the root of operation k
 *
 * Edges     R1 -> A1   a rank's contribution     happens before  the root's reading it
 *           R2 -> A2   a root's reads of a half  happen before   the others' next write to its lines
 */
#include "alg/contribution.h"

enum { RING = 32, HALF = RING / 2 };

struct slot {
    mem_flag done;
    _Alignas(HUD_LINE) uint64_t root[RING];
    mem_flag ring[RING];
};

/* Before the first write to a half: its readers have left it. */
static void enter_half(struct mem *m, const struct slot *mine, uint64_t op)
{
    int last = mem_rank(m);

    for (uint64_t k = op - RING; k < op - HALF; k++) {
        int root = (int)mem_get(m, &mine->root[k % RING]);
        struct slot *reader = mem_slot(m, root);
        if (root != mem_rank(m) && root != last)
            mem_await(m, &reader->done, op - HALF - 1); /* A2 */
        last = root;
    }
}

/* The root's own contribution comes from its view, or, where it had to be copied, from its line. */
static void gather(struct mem *m, const struct coll *c, bool copied)
{
    const struct mem_span in = { .view = &c->in }, out = { .view = &c->out };
    struct mem_span from[MEM_SOURCES];
    int count = 0;

    for (int r = 0; r < mem_size(m); r++) {
        mem_flag *line = &((struct slot *)mem_slot(m, r))->ring[c->op % RING];
        if (r != c->root)
            mem_await(m, line, c->op); /* A1 */
        from[count++] = r == c->root && !copied ? in : (struct mem_span){ .shared = contribution_at(line) };
        if (count == MEM_SOURCES || r == mem_size(m) - 1) {
            mem_reduce(m, c->reduction, &out, NULL, from, count, c->bytes);
            from[0] = out;
            count = 1;
        }
    }
}

/* Of more ranks than one reduction reads the result grows in `out`, which may be `in`: then the root's contribution, too, is copied. */
static void run(struct mem *m, const struct coll *c)
{
    struct slot *mine = mem_slot(m, mem_rank(m));
    mem_flag *line = &mine->ring[c->op % RING];
    bool root = mem_rank(m) == c->root, copies = !root || mem_size(m) > MEM_SOURCES;

    if (c->op % HALF == 0 && c->op >= RING)
        enter_half(m, mine, c->op);
    mem_put(m, &mine->root[c->op % RING], (uint64_t)c->root);
    if (copies)
        contribution_in(m, c, contribution_at(line), 0, c->bytes);
    if (root)
        gather(m, c, copies);
    else
        mem_post(m, line, c->op); /* R1 */
    if ((c->op + 1) % HALF == 0)
        mem_post(m, &mine->done, c->op); /* R2 */
    if (!root)
        contribution_claim(m, c, &mine->ring[(c->op + 1) % RING]);
}

ALG_DEFINE(reduce, inline) = {
    .coll = "reduce",
    .name = "inline",
    .doc = "contributions travel in flag lines, the root reduces all of them",
    .source = "this project, after papers 01 (sets) and 05",
    .ordered = true,
    .accepts = contribution_fits,
    .fixed_bytes = sizeof(struct slot),
    .run = run,
};
