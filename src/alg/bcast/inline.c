/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * bcast/inline.c - a small message travels in the line of the flag that announces it.
 *
 * Source    this project; the ring and its reuse by halves follow paper 01's sets (q = 2), the
 *           fan-out follows paper 03's groups, or another tree.
 * Shape     p ranks, n <= 112 bytes, a tree.  A parent writes one line that all its children read
 *           (lines = shared), or a line of each child (lines = each).  Each rank copies the message
 *           out, and publishes it again if it has children.
 * Cost      T = sum over the path of l + o     ns; l one line transfer, o two copies of n bytes in
 *           the L1 cache.  With a shared line, children queue for it; with a line each, o counts
 *           once for each earlier child.
 * Accepts   n <= 112.  Decided before any rank touches shared memory.
 *
 * Each rank has a ring of RING lines, used by operation number, in two halves.  The root of the
 * first operation of a half waits until all ranks have finished the half before last, which used
 * the same lines.  Every later operation of the half happens after that.  So no acknowledgement is
 * on the path, and RING / 2 operations are in flight.
 *
 * Line                        written by   read by       value k means
 *   slot[r].ring[k % RING]      r, or        r's children  the message of operation k is in this
 *                               its parent   or r          line: bytes, then data
 *   slot[r].done                r            any root      r has finished all operations up to k
 *
 * Edges     R1 -> A1   the copy into a line        happens before  a child's copy out of it
 *           R2 -> A2   a rank's last copy of a half  happens before  any rank's write to that
 *                      half's lines again
 *
 * Deadlock  A root waits only until others finish earlier operations.  Any other rank waits for its
 *           parent's line, and a parent writes its line without waiting for its children.
 * Safety    The root of the first operation of a half writes after A2, so after all reads of the
 *           old contents.  Any other rank that writes to the half has received that root's message.
 */
#include "alg/alg.h"

enum param { KIND, DEGREE, LINES };
enum lines { SHARED, EACH };

static const char *const lines[] = { [SHARED] = "shared", [EACH] = "each", NULL };

static const struct alg_param params[] = {
    [KIND] = { "tree", "", "tree of ranks; each rank reads its parent's line", 0, SHAPE_KINDS - 1,
               SHAPE_GROUPED, hud_shape_names, .tune = "leaders,flat" },
    [DEGREE] = { "degree", "1", SHAPE_DEGREE_DOC, 2, 64, 8, NULL, .tune = "32" },
    [LINES] = { "lines", "",
                "shared: all children poll one line of their parent; each: one line per child",
                SHARED, EACH, SHARED, lines, .tune = "each" },
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

/* Waits, before the first write to a half, until all ranks have finished with its last use. */
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

/* Returns the line of `owner` for an operation. */
static mem_flag *line_of(struct mem *m, uint64_t op, int owner)
{
    return &((struct slot *)mem_slot(m, owner))->ring[op % RING];
}

/* Writes the message to a line and posts it.  `from` is the parent's packet, or NULL at the root,
 * which copies from its own buffer. */
static void write_line(struct mem *m, const struct coll *c, int owner, const struct packet *from,
                       size_t bytes)
{
    mem_flag *line = line_of(m, c->op, owner);
    struct packet *p = (struct packet *)line->payload;

    if (from) {
        mem_copy(m, p, from, sizeof p->bytes + bytes);
    } else {
        mem_in_all(m, p->data, c->out, 0, bytes);
        mem_put(m, &p->bytes, bytes);
    }
    mem_post(m, line, c->op); /* R1 */
}

static void publish(struct mem *m, const struct coll *c, const struct shape_tree *t,
                    const struct packet *from, size_t bytes)
{
    int me = mem_rank(m);

    if (c->param[LINES] == SHARED)
        write_line(m, c, me, from, bytes);
    else
        for (int i = 0, child; (child = hud_shape_child(t, me, i)) >= 0; i++)
            write_line(m, c, child, from, bytes);
}

static void send(struct mem *m, const struct coll *c, const struct shape_tree *t)
{
    if (c->op % HALF == 0 && c->op >= RING)
        enter_half(m, c->op);
    publish(m, c, t, NULL, c->out->bytes);
}

static void receive(struct mem *m, const struct coll *c, const struct shape_tree *t)
{
    int me = mem_rank(m), owner = c->param[LINES] == EACH ? me : hud_shape_parent(t, me);
    mem_flag *from = line_of(m, c->op, owner), *next = line_of(m, c->op + 1, owner);
    const struct packet *p = (const struct packet *)from->payload;

    mem_prefetch_next(m, from, c->op, next, c->op + 1,
                      offsetof(mem_flag, payload) + sizeof p->bytes + c->out->bytes);
    mem_await(m, from, c->op); /* A1 */
    size_t bytes = mem_get(m, &p->bytes);
    if (hud_shape_child(t, me, 0) >= 0)
        publish(m, c, t, p, bytes);
    mem_out(m, c->out, p->data, 0, bytes);
}

static void bcast_inline(struct mem *m, const struct coll *c)
{
    const struct shape_tree t = coll_tree(m, c, c->root, KIND, DEGREE);

    if (mem_rank(m) == c->root)
        send(m, c, &t);
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
    .doc = "the message is in its flag's cache line and passes down a tree of ranks",
    .source = "this project, after papers 01 (sets) and 03 (groups)",
    .accepts = accepts,
    .family = &family,
    .run = bcast_inline,
};
