/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * bcast/inline.c - a small message travels in the line of the flag that announces it.
 *
 * Source    this project; ring and recycling by halves after paper 01's sets (q = 2), fan-out by
 *           paper 03's groups, or another tree.
 * Shape     p ranks, n <= 112 bytes, a tree.  The root writes one line; each rank reads its
 *           parent's line, re-publishes it if it has children, copies out.
 * Cost      T = sum over the path of l + o     ns; l one line transfer, o two copies of n bytes in
 *           the nearest cache
 * Accepts   n <= 112.  Decided before any rank touches shared memory.
 *
 * Each rank has a ring of RING lines, used by operation number, in two halves.  The root of
 * the first operation of a half waits until all ranks have finished the half before last, whose
 * lines these are; every later operation of the half happens after that.  So no acknowledgement is
 * on the path, and RING / 2 operations are in flight.
 *
 * Line                        written by   read by       value k means
 *   slot[r].ring[k % RING]      r            r's children  the message of operation k is in this
 *                                                          line: bytes, then data
 *   slot[r].done                r            any root      r has finished all operations up to k
 *
 * Edges     R1 -> A1   the copy into a line        happens before  a child's copy out of it
 *           R2 -> A2   a rank's last copy of a half  happens before  any rank's write to that
 *                      half's lines again
 */
#include "alg/alg.h"

enum param { KIND, DEGREE };

static const struct alg_param params[] = {
    [KIND] = { "tree", "", "who reads whose line", 0, SHAPE_KINDS - 1, SHAPE_GROUPED,
               hud_shape_names, .tune = "leaders,flat" },
    [DEGREE] = { "degree", "1", SHAPE_DEGREE_DOC, 2, 64, 8, NULL, .tune = "32" },
    { .name = NULL },
};

enum { RING = 32, HALF = RING / 2 };

struct packet { /* the payload of a line */
    uint64_t bytes;
    unsigned char data[MEM_PAYLOAD - sizeof(uint64_t)];
};
_Static_assert(sizeof(struct packet) == MEM_PAYLOAD, "a packet fills the line of its flag");

struct slot {
    mem_flag done;
    mem_flag ring[RING];
};

static bool accepts(const struct coll *c, int ranks)
{
    (void)ranks;
    return c->bytes <= sizeof((struct packet *)0)->data;
}

/* Before the first write to a half: everybody has finished with it. */
static void enter_half(struct mem *m, uint64_t op)
{
    for (int r = 0; r < mem_size(m); r++) {
        struct slot *other = mem_slot(m, r);
        if (r != mem_rank(m))
            mem_await(m, &other->done, op - HALF - 1); /* A2 */
    }
}

static void finish(struct mem *m, uint64_t op)
{
    struct slot *mine = mem_slot(m, mem_rank(m));

    if ((op + 1) % HALF == 0)
        mem_post(m, &mine->done, op); /* R2 */
}

static void send(struct mem *m, const struct coll *c)
{
    struct slot *mine = mem_slot(m, mem_rank(m));
    mem_flag *line = &mine->ring[c->op % RING];
    struct packet *p = (struct packet *)line->payload;

    if (c->op % HALF == 0 && c->op >= RING)
        enter_half(m, c->op);
    mem_in_all(m, p->data, c->out, 0, c->out->bytes);
    mem_put(m, &p->bytes, c->out->bytes);
    mem_post(m, line, c->op); /* R1 */
}

static void receive(struct mem *m, const struct coll *c, const struct shape_tree *t)
{
    int me = mem_rank(m);
    struct slot *parent = mem_slot(m, hud_shape_parent(t, me));
    mem_flag *from = &parent->ring[c->op % RING];
    const struct packet *p = (const struct packet *)from->payload;

    mem_await(m, from, c->op); /* A1 */
    size_t bytes = mem_get(m, &p->bytes);
    if (hud_shape_child(t, me, 0) >= 0) {
        struct slot *mine = mem_slot(m, me);
        mem_flag *line = &mine->ring[c->op % RING];
        mem_copy(m, line->payload, p, sizeof p->bytes + bytes);
        mem_post(m, line, c->op); /* R1 */
    }
    mem_out(m, c->out, p->data, 0, bytes);
}

static void bcast_inline(struct mem *m, const struct coll *c)
{
    const struct shape_tree t = { (enum shape_kind)c->param[KIND], (int)c->param[DEGREE],
                                  mem_size(m), c->root, c->groups };

    if (mem_rank(m) == c->root)
        send(m, c);
    else
        receive(m, c, &t);
    finish(m, c->op);
}

static const struct alg_family family = {
    .params = params,
    .fixed_bytes = sizeof(struct slot),
};

ALG_DEFINE(bcast, inline) = {
    .coll = "bcast",
    .name = "inline",
    .doc = "the payload travels in the flag's line, down a tree",
    .source = "this project, after papers 01 (sets) and 03 (groups)",
    .accepts = accepts,
    .family = &family,
    .run = bcast_inline,
};
