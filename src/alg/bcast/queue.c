/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * bcast/queue.c - pipelined copy-in/copy-out through a queue of buffers that lies on its owner's NUMA node.
 *
 * Source    paper 01 (Kurnosov, Tokmasheva, Shared memory based MPI broadcast algorithm for NUMA systems), "Algorithm"; its parameters s, f, q
 *           and the tree.  Control words that the reader resets are counters here, owned by whoever announces (the paper: by the parent, in the
 *           child's memory); a fragment may be shorter than f, so that packed datatypes work, and its length travels with it.
 * Shape     p ranks, n bytes.  The root copies in, p - 1 ranks copy out of the root's queue: 2 n bytes moved per rank at most.
 * Cost      T = ceil(n/b) (t_wo + t_a + t f) + ceil(n/f) t_w + n t    ns; b = s f bytes of a queue, t ns per byte copied in and out,
 *           t_w a notification down the tree, t_wo + t_a the wait for a free set and its release   (paper 01, "Time model", s > 1)
 * Accepts   any n, if the lease has a window.
 *
 * Positions count units of UNIT bytes of the queue since the lease began, over all roots; every rank keeps its own, and they agree between
 * operations.  Position k lies in unit k % units of the *root's* queue.  The queue is q sets; no fragment crosses from one set into the next.
 * Whoever is root when a set begins waits until all ranks have left that set (its use before last was q sets ago); all that follows in the
 * set happens after that, also under another root.  So an acknowledgement is one line per set and rank, whoever the roots are.
 *
 * Line                      written by   read by       value k means
 *   slot[r].word[k % units]   r            r's children  the fragment at position k - 1 is in the root's queue; payload: its bytes, units and what is left
 *   slot[r].left              r            any root      r reads nothing before position k any more
 *   slot[r].at                r            r             (plain) r's position
 *   slot[r].data              r            all others    fragments, from the announcement to the last `left`
 *
 * Edges     R1 -> A1   the root's copy-in  happens before  the copies out; the announcement passes down the tree before each copy
 *           R2 -> A2   a rank's last read of a set  happens before  any root's or parent's next write to it
 */
#include "alg/alg.h"

enum { UNIT = 4096, UNITS_MOST = 4096, SETS_MOST = 8 };

enum param { FRAGMENT, BUFFERS, SETS, TREE, DEGREE };

static const struct alg_param params[] = {
    [FRAGMENT] = { "fragment", "B", "f, bytes copied and announced at once; 0: sqrt(n t_w / t), at most a set", 0, 1 << 24, 0, NULL },
    [BUFFERS] = { "buffers", "1", "s, buffers of f bytes; 0: what the lease holds", 0, UNITS_MOST, 0, NULL },
    [SETS] = { "sets", "1", "q, sets of buffers that the root refills as a whole", 1, SETS_MOST, 3, NULL },
    [TREE] = { "tree", "", "who announces fragments to whom", 0, SHAPE_KINDS - 1, SHAPE_GROUPED, hud_shape_names },
    [DEGREE] = { "degree", "1", "children of a rank in the trees kary, balanced and knomial", 2, 64, 2, NULL },
    { .name = NULL },
};

struct notice { /* the payload of a control word */
    uint64_t bytes, units, rest;
};

struct slot {
    mem_flag left;
    _Alignas(HUD_LINE) uint64_t at;
    mem_flag word[]; /* units; then, page-aligned within the slice where the page is, the data */
};

/* How a region of slot_bytes divides: units per set and in all. */
struct queue {
    uint64_t sets, set_units, units;
};

static uint64_t units_of(uint64_t bytes)
{
    return (bytes + UNIT - 1) / UNIT;
}

static struct queue divide(const long *param, size_t slot_bytes)
{
    struct queue q = { .sets = (uint64_t)param[SETS] };
    size_t room = slot_bytes > sizeof(struct slot) ? slot_bytes - sizeof(struct slot) : 0;
    uint64_t units = room / (UNIT + sizeof(mem_flag)), wanted = (uint64_t)param[BUFFERS] * units_of((uint64_t)param[FRAGMENT]);

    units = units < UNITS_MOST ? units : UNITS_MOST;
    q.set_units = (wanted != 0 && wanted < units ? wanted : units) / q.sets;
    q.units = q.set_units * q.sets;
    return q;
}

static bool accepts(const struct coll *c, int ranks)
{
    (void)ranks;
    return c->slot_bytes != 0;
}

static size_t slot_bytes(const long *param, int ranks, size_t most_bytes)
{
    struct queue q = divide(param, most_bytes);

    (void)ranks;
    return q.units == 0 ? 0 : sizeof(struct slot) + q.units * (sizeof(mem_flag) + UNIT);
}

static char *data_of(struct slot *slot, const struct queue *q, uint64_t position)
{
    return (char *)&slot->word[q->units] + position % q->units * UNIT;
}

/* f of an n-byte message, in units: paper 01, "Choosing", rule 1, with t_w / t = 2560 bytes. */
static uint64_t fragment_units(const struct coll *c)
{
    enum { RATIO = 2560 };
    uint64_t f = units_of((uint64_t)c->param[FRAGMENT]), n = c->buf.bytes;

    if (f == 0)
        for (f = 1; f * UNIT * f * UNIT < n * RATIO; f *= 2)
            ;
    return f;
}

/* Units of the next fragment: what is left of the set in equal parts of at most f. */
static uint64_t next_units(const struct queue *q, uint64_t at, uint64_t f)
{
    uint64_t left = q->set_units - at % q->set_units, parts = (left + f - 1) / f;

    return (left + parts - 1) / parts;
}

/* A root enters a set: everybody has left what it held. */
static void enter_set(struct mem *m, const struct queue *q, uint64_t at)
{
    for (int r = 0; at >= q->units && r < mem_size(m); r++) {
        struct slot *other = mem_slot(m, r);
        if (r != mem_rank(m))
            mem_await(m, &other->left, at - q->units + q->set_units); /* A2 */
    }
}

/* Moves this rank's position past a fragment; at the end of a set, says so. */
static uint64_t pass(struct mem *m, const struct queue *q, struct slot *mine, uint64_t at, uint64_t units)
{
    at += units;
    if (at % q->set_units == 0)
        mem_post(m, &mine->left, at); /* R2 */
    return at;
}

static void send(struct mem *m, const struct coll *c, const struct queue *q)
{
    struct slot *mine = mem_slot(m, mem_rank(m));
    uint64_t at = mem_get(m, &mine->at), f = fragment_units(c);

    for (size_t sent = 0; sent < c->buf.bytes;) {
        uint64_t units = next_units(q, at, f);
        size_t rest = c->buf.bytes - sent, most = rest < units * UNIT ? rest : units * UNIT;
        mem_flag *word = &mine->word[at % q->units];
        struct notice *notice = (struct notice *)word->payload;

        if (at % q->set_units == 0)
            enter_set(m, q, at);
        size_t bytes = mem_in(m, data_of(mine, q, at), &c->buf, sent, most); /* whole elements: may be fewer */
        sent += bytes;
        units = units_of(bytes);
        mem_put(m, &notice->bytes, bytes);
        mem_put(m, &notice->units, units);
        mem_put(m, &notice->rest, c->buf.bytes - sent);
        mem_post(m, word, at + 1); /* R1 */
        at = pass(m, q, mine, at, units);
    }
    mem_put(m, &mine->at, at);
}

static void receive(struct mem *m, const struct coll *c, const struct queue *q, const struct shape_tree *t)
{
    int me = mem_rank(m);
    struct slot *mine = mem_slot(m, me), *root = mem_slot(m, c->root), *parent = mem_slot(m, hud_shape_parent(t, me));
    bool leaf = hud_shape_child(t, me, 0) < 0;
    uint64_t at = mem_get(m, &mine->at), rest = 1;

    for (size_t got = 0; rest != 0;) {
        mem_flag *word = &parent->word[at % q->units];
        const struct notice *notice = (const struct notice *)word->payload;

        mem_await(m, word, at + 1); /* A1 */
        uint64_t bytes = mem_get(m, &notice->bytes), units = mem_get(m, &notice->units);
        rest = mem_get(m, &notice->rest);
        if (!leaf) {
            mem_flag *own = &mine->word[at % q->units];
            mem_copy(m, own->payload, notice, sizeof *notice);
            mem_post(m, own, at + 1); /* R1 */
        }
        mem_out(m, &c->buf, data_of(root, q, at), got, bytes);
        got += bytes;
        at = pass(m, q, mine, at, units);
    }
    mem_put(m, &mine->at, at);
}

static void run(struct mem *m, const struct coll *c)
{
    struct queue q = divide(c->param, c->slot_bytes);
    struct shape_tree t = {
        .kind = (enum shape_kind)c->param[TREE], .degree = (int)c->param[DEGREE], .ranks = mem_size(m), .root = c->root, .groups = c->groups
    };

    if (mem_rank(m) == c->root)
        send(m, c, &q);
    else
        receive(m, c, &q, &t);
}

ALG_DEFINE(bcast, queue) = {
    .coll = "bcast",
    .name = "queue",
    .doc = "pipelined copy-in/copy-out through a queue on the root's NUMA node",
    .source = "paper 01, Algorithm",
    .params = params,
    .accepts = accepts,
    .slot_bytes = slot_bytes,
    .window = true,
    .run = run,
};
