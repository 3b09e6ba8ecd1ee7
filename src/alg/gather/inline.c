/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * gather/inline.c - a rank's block lies behind one flag of its own, its first bytes in the flag's
 * line, and the root copies all of them out.
 *
 * Source    this project; ring and recycling by halves as in reduce/inline.
 * Shape     p ranks, blocks of n bytes.  All but the root write a block and are done; the root
 *           copies p - 1 blocks out, from rank r + 1 on.
 * Cost      T = l + (p - 2) g + p o     ns; l one line transfer, g one more overlapped line, o a
 *           copy of n bytes in the nearest cache
 *           traffic: 2 (p - 1) n bytes beyond in and out; the root's own block goes from in to out
 * Accepts   n + 8 bytes in one of RING sets.
 *
 * A rank that is not the root hears of nobody.  So it has a ring of RING sets, used by operation
 * number, in two halves; before a half begins, it makes sure that those who were roots in the half
 * before last, whose sets these are, have finished that.  It knows them: it has noted the root of
 * each operation.
 *
 * Line                       written by   read by    value k, n means
 *   slot[r].set[k % RING]    r            the root   r's block of operation k, of n bytes, is
 *                                                    behind this flag
 *   slot[r].done             r            all others r has finished all operations up to k
 *   slot[r].root[k % RING]   r            r          (plain) who was the root of operation k
 *
 * Edges     R1 -> A1   a rank's copy in           happens before  the root's copy out
 *           R2 -> A2   a root's copies of a half  happen before   the others' next write to its
 *                                                                 sets
 *
 * Deadlock  The root waits for blocks of its own operation, which no rank withholds but for A2; a
 *           rank waits there for operations before its own.
 *
 * Safety    A block of a rank that has counted otherwise is read as that rank has put it.  What the
 *           root's block does not hold is dropped, and the call reports that.
 */
#include "alg/block.h"

enum param { BUDGET };
enum { RING = 8, HALF = RING / 2 };
enum {
    HEAD = offsetof(mem_flag, payload),
    BYTES = 24, /* bits of a value that are the bytes of a block */
    PREFETCH_MAX = 8192
};

static const struct alg_param params[] = {
    [BUDGET] = { "budget", "B", "all sets of a rank", RING *HUD_LINE, RING << 20, 8 << 10, NULL,
                 .tune = "64K,256K" },
    { .name = NULL },
};

struct slot {
    mem_flag done;
    _Alignas(HUD_LINE) uint64_t root[RING];
    _Alignas(HUD_LINE) char sets[];
};

static size_t slot_bytes(const long *param, int ranks, size_t max_bytes)
{
    size_t room = max_bytes > sizeof(struct slot) ? max_bytes - sizeof(struct slot) : 0,
           wanted = (size_t)param[BUDGET] < room ? (size_t)param[BUDGET] : room,
           set = wanted / RING / HUD_LINE * HUD_LINE;

    (void)ranks;
    return set == 0 ? 0 : sizeof(struct slot) + RING * set;
}

static size_t set_bytes(const struct coll *c)
{
    return (c->place->slot_bytes - sizeof(struct slot)) / RING;
}

static bool accepts(const struct coll *c, int ranks)
{
    (void)ranks;
    return c->bytes <= set_bytes(c) - HEAD && c->bytes >> BYTES == 0;
}

static mem_flag *set_of(struct mem *m, const struct coll *c, int rank, uint64_t op)
{
    struct slot *slot = mem_slot(m, rank);

    return (mem_flag *)(slot->sets + op % RING * set_bytes(c));
}

/* Before the first write to a half: its readers have finished with it. */
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

static void send(struct mem *m, const struct coll *c)
{
    mem_flag *set = set_of(m, c, mem_rank(m), c->op);
    size_t all = HEAD + c->bytes;

    mem_in_all(m, (char *)set + HEAD, c->in, 0, c->bytes);
    mem_post(m, set, (c->op << BYTES) + c->bytes); /* R1 */
    mem_prefetch_own(m, set_of(m, c, mem_rank(m), c->op + 1),
                     all < PREFETCH_MAX ? all : PREFETCH_MAX);
}

static void receive(struct mem *m, const struct coll *c, int from)
{
    const struct mem_span to = block_at(c->out, c->bytes, from);
    mem_flag *set = set_of(m, c, from, c->op);
    size_t bytes = mem_await(m, set, c->op << BYTES) - (c->op << BYTES); /* A1 */

    block_out(m, &to, c->bytes, (char *)set + HEAD, bytes);
}

static void gather_inline(struct mem *m, const struct coll *c)
{
    struct slot *mine = mem_slot(m, mem_rank(m));
    int me = mem_rank(m), ranks = mem_size(m);

    if (c->op % HALF == 0 && c->op >= RING)
        enter_half(m, mine, c->op);
    mem_put(m, &mine->root[c->op % RING], (uint64_t)c->root);
    if (me != c->root) {
        send(m, c);
    } else {
        const struct mem_span own = block_at(c->out, c->bytes, me);
        if (!coll_in_place(c))
            mem_move(m, &own, &(struct mem_span){ .view = c->in }, c->bytes);
        for (int k = 1; k < ranks; k++)
            receive(m, c, me + k < ranks ? me + k : me + k - ranks);
    }
    if ((c->op + 1) % HALF == 0)
        mem_post(m, &mine->done, c->op); /* R2 */
}

static const struct alg_family family = {
    .params = params,
    .slot_bytes = slot_bytes,
};

ALG_DEFINE(gather, inline) = {
    .coll = "gather",
    .name = "inline",
    .doc = "a rank's block lies behind one flag, its first bytes in the line",
    .source = "this project, after reduce/inline",
    .accepts = accepts,
    .family = &family,
    .run = gather_inline,
};
