/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * scatter/inline.c - the root puts a block for each rank behind a flag of that rank's own, its
 * first bytes in the flag's line.
 *
 * Source    this project; ring and recycling by halves as in bcast/inline.
 * Shape     p ranks, blocks of n bytes.  The root writes p - 1 blocks, from rank r + 1 on; each
 *           other rank reads its own.
 * Cost      T = (p - 1) o + l + o     ns; l one line transfer, o a copy of n bytes in the nearest
 *           cache
 *           traffic: 2 (p - 1) n bytes beyond in and out; the root's own block goes from in to out
 * Accepts   n + 8 bytes in a cell: a set's share of one rank, whole lines.  The budget is doubled
 *           where a line for each rank asks for that, and no more.
 *
 * A root hears of nobody.  So each rank has a ring of RING sets of cells, used by operation number,
 * in two halves; before a half begins, a rank that was a root in the half before last, whose sets
 * these are, makes sure that all others have finished that.  Cells begin at the same places
 * whatever the blocks' bytes are.
 *
 * Line                           written by   read by     value k, n means
 *   slot[r].set[k % RING].cell   root r       its rank    the block of operation k for that rank,
 *                                                         of n bytes, is behind this flag
 *   slot[r].done                 r            any root    r has finished all operations up to k
 *   slot[r].sent[k % RING]       r            r           (plain) whether r was the root of
 *                                                         operation k
 *
 * Edges     R1 -> A1   the root's copy in              happens before  a rank's copy out
 *           R2 -> A2   a rank's last copy of a half    happens before  the root's next write to the
 *                                                                      sets of that half
 *
 * Deadlock  A rank waits for the root of its operation.  The root waits for operations before its
 *           own.
 *
 * Safety    A block of a root that has counted otherwise is read as the root has put it.  What the
 *           rank's block does not hold is dropped, and the call reports that.
 */
#include "alg/block.h"

enum param { BUDGET };
enum { RING = 4, HALF = RING / 2 };
enum {
    HEAD = offsetof(mem_flag, payload),
    BYTES = 24, /* bits of a value that are the bytes of a block */
    PREFETCH_MAX = 8192
};

static const struct alg_param params[] = {
    [BUDGET] = { "budget", "B", "all sets of a rank; up to twice that for a line each",
                 RING *HUD_LINE, RING << 20, 32 << 10, NULL, .tune = "128K,512K" },
    { .name = NULL },
};

struct slot {
    mem_flag done;
    _Alignas(HUD_LINE) uint64_t sent[RING];
    _Alignas(HUD_LINE) char sets[];
};

static size_t others(int ranks)
{
    return ranks > 1 ? (size_t)ranks - 1 : 1;
}

static size_t slot_bytes(const long *param, int ranks, size_t max_bytes)
{
    size_t room = max_bytes > sizeof(struct slot) ? max_bytes - sizeof(struct slot) : 0,
           min = RING * others(ranks) * HUD_LINE, budget = (size_t)param[BUDGET],
           wanted = budget < min && min / 2 <= budget ? min : budget,
           cell = (wanted < room ? wanted : room) / RING / others(ranks) / HUD_LINE * HUD_LINE;

    return cell == 0 ? 0 : sizeof(struct slot) + RING * others(ranks) * cell;
}

static size_t cell_bytes(const struct coll *c, int ranks)
{
    return (c->place->slot_bytes - sizeof(struct slot)) / RING / others(ranks);
}

static bool accepts(const struct coll *c, int ranks)
{
    return c->bytes <= cell_bytes(c, ranks) - HEAD && c->bytes >> BYTES == 0;
}

/* The cell of an operation for a rank, in the root's slot. */
static mem_flag *cell_of(struct mem *m, const struct coll *c, int rank, uint64_t op)
{
    struct slot *slot = mem_slot(m, c->root);
    size_t set = op % RING * others(mem_size(m)), cell = (size_t)(rank > c->root ? rank - 1 : rank);

    return (mem_flag *)(slot->sets + (set + cell) * cell_bytes(c, mem_size(m)));
}

/* Before the first write to a half: the others have finished with it. */
static void enter_half(struct mem *m, const struct slot *mine, uint64_t op)
{
    uint64_t sent = 0;

    for (uint64_t k = op - RING; k < op - HALF; k++)
        sent |= mem_get(m, &mine->sent[k % RING]);
    for (int k = 1; sent != 0 && k < mem_size(m); k++) {
        struct slot *other = mem_slot(m, (mem_rank(m) + k) % mem_size(m));
        mem_await(m, &other->done, op - HALF - 1); /* A2 */
    }
}

static void send(struct mem *m, const struct coll *c)
{
    int me = mem_rank(m), ranks = mem_size(m);
    size_t all = HEAD + c->bytes;

    for (int k = 1; k < ranks; k++) {
        int to = me + k < ranks ? me + k : me + k - ranks;
        mem_flag *cell = cell_of(m, c, to, c->op);
        mem_in_all(m, (char *)cell + HEAD, c->in, (size_t)to * c->bytes, c->bytes);
        mem_post(m, cell, (c->op << BYTES) + c->bytes); /* R1 */
    }
    if (!coll_in_place(c)) {
        const struct mem_span own = block_at(c->in, c->bytes, me);
        mem_move(m, &(struct mem_span){ .view = c->out }, &own, c->bytes);
    }
    for (int to = 0; to < ranks && (size_t)to * all < PREFETCH_MAX; to++)
        if (to != me)
            mem_prefetch_own(m, cell_of(m, c, to, c->op + 1),
                             all < PREFETCH_MAX ? all : PREFETCH_MAX);
}

static void receive(struct mem *m, const struct coll *c)
{
    mem_flag *cell = cell_of(m, c, mem_rank(m), c->op);
    size_t bytes = mem_await(m, cell, c->op << BYTES) - (c->op << BYTES); /* A1 */

    mem_out(m, c->out, (char *)cell + HEAD, 0, bytes);
}

static void scatter_inline(struct mem *m, const struct coll *c)
{
    struct slot *mine = mem_slot(m, mem_rank(m));
    bool root = mem_rank(m) == c->root;

    if (c->op % HALF == 0 && c->op >= RING)
        enter_half(m, mine, c->op);
    mem_put(m, &mine->sent[c->op % RING], root);
    if (root)
        send(m, c);
    else
        receive(m, c);
    if ((c->op + 1) % HALF == 0)
        mem_post(m, &mine->done, c->op); /* R2 */
}

static const struct alg_family family = {
    .params = params,
    .slot_bytes = slot_bytes,
};

ALG_DEFINE(scatter, inline) = {
    .coll = "scatter",
    .name = "inline",
    .doc = "a block for each rank lies behind a flag of its own, its first bytes in the line",
    .source = "this project, after bcast/inline",
    .accepts = accepts,
    .family = &family,
    .run = scatter_inline,
};
