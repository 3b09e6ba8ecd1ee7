/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * bcast/single.c - single copy: receivers read the root's buffer itself, while the root writes the end of the message into theirs.
 *
 * Source    this project: the kernel copies from one process to another, as the MPIs let it for messages (CMA), here called by both sides at once.
 * Shape     p ranks, n bytes.  A receiver pulls n - n/p bytes, the root pushes n/p to each in turn, so that all copy for about the same time.
 * Cost      T = 3 l + (1 - 1/p) n t     ns; l one line transfer, t ns per byte that the kernel copies, and maps to do so
 * Accepts   any n, if the ranks can reach each other's memory (alg.direct) and the lease has a window.
 *
 * What cannot be reached (a packed view, a call that the kernel refuses or cuts short) goes through a window of two halves in the root's slot, once the others
 * are served.  A view that holds less than the message pulls what it holds.  Positions count fragments of a root's window, over all operations.
 *
 * Line                       written by   read by        value k means
 *   slot[r].here             r            root, or all   r has entered operation k; with it, where its view is and what it holds
 *   slot[r].peer[i].served   r, as root   i              r writes nothing to i's view in operation k any more; with it, whether all has been written
 *   slot[r].peer[i].done     i            r, as root     i reads nothing from r's view in operation k any more; with it, whether i needs the window
 *   slot[r].word[p % 2]      r, as root   who needs it   p + 1: the fragment at position p is in the window; with it, its bytes
 *   slot[r].peer[i].left     i            r, as root     i reads nothing before position k of the window any more
 *   slot[r].at               r            who needs it   (plain) position of r's window
 *
 * Edges     R1 -> A1   an entry                     happens before  others' use of the view
 *           R2 -> A2   the root's push              happens before  the receiver's return
 *           R3 -> A3   a receiver's pull            happens before  the root's return
 *           R4 -> A4   the copy into the window     happens before  the copies out
 *           R5 -> A5   the copies out               happen before   the root's next write there
 */
#include "alg/alg.h"

enum { HALF = 32 << 10 }; /* bytes of half a window; less where the lease holds less */

struct peer {
    mem_flag served, done, left;
};

struct slot {
    mem_flag here, word[2];
    _Alignas(HUD_LINE) uint64_t at;
    _Alignas(HUD_LINE) struct peer peer[]; /* [ranks], then the window */
};

struct place {               /* the payload of here */
    uint64_t address, bytes; /* address 0: out of reach */
};

static size_t half_of(size_t slot_bytes, int ranks)
{
    size_t flags = sizeof(struct slot) + (size_t)ranks * sizeof(struct peer);
    size_t half = slot_bytes > flags ? (slot_bytes - flags) / 2 / HUD_LINE * HUD_LINE : 0;

    return half < HALF ? half : HALF;
}

static size_t slot_bytes(const long *param, int ranks, size_t most_bytes)
{
    size_t half = half_of(most_bytes, ranks);

    (void)param;
    return half == 0 ? 0 : sizeof(struct slot) + (size_t)ranks * sizeof(struct peer) + 2 * half;
}

static char *window(struct mem *m, struct slot *root, const struct coll *c, uint64_t at)
{
    return (char *)&root->peer[mem_size(m)] + at % 2 * half_of(c->slot_bytes, mem_size(m));
}

static void enter(struct mem *m, const struct coll *c, uint64_t address)
{
    struct slot *mine = mem_slot(m, mem_rank(m));
    struct place *out = (struct place *)mine->here.payload;

    mem_put(m, &out->address, address);
    mem_put(m, &out->bytes, c->buf.bytes);
    mem_post(m, &mine->here, c->op); /* R1 */
}

static struct place await_place(struct mem *m, const struct coll *c, int rank)
{
    struct slot *theirs = mem_slot(m, rank);
    const struct place *in = (const struct place *)theirs->here.payload;

    mem_await(m, &theirs->here, c->op); /* A1 */
    return (struct place){ mem_get(m, &in->address), mem_get(m, &in->bytes) };
}

/* Bytes that the root pushes to a receiver: the end of the message, into a view that can hold all of it. */
static size_t share(const struct mem *m, uint64_t address, size_t holds, size_t bytes)
{
    return address != 0 && holds == bytes ? bytes / (size_t)mem_size(m) : 0;
}

/* The k-th of the other ranks. */
static int other(const struct mem *m, int k)
{
    return (mem_rank(m) + k) % mem_size(m);
}

/* All who need the window have left what lies before `at`. */
static void await_left(struct mem *m, struct slot *mine, uint64_t at)
{
    for (int k = 1; k < mem_size(m); k++) {
        struct peer *peer = &mine->peer[other(m, k)];
        if (mem_get(m, peer->done.payload))
            mem_await(m, &peer->left, at); /* A5 */
    }
}

static void fill(struct mem *m, const struct coll *c, struct slot *mine)
{
    size_t half = half_of(c->slot_bytes, mem_size(m)), sent = 0;
    uint64_t first = mem_get(m, &mine->at), at = first;

    for (size_t rest = c->buf.bytes; rest != 0; rest = c->buf.bytes - sent) {
        mem_flag *word = &mine->word[at % 2];
        if (at - first >= 2)
            await_left(m, mine, at - 1);
        size_t bytes = mem_in(m, window(m, mine, c, at), &c->buf, sent, rest < half ? rest : half); /* whole elements: may be fewer */
        mem_put(m, word->payload, bytes);
        mem_post(m, word, ++at); /* R4 */
        sent += bytes;
    }
    await_left(m, mine, at);
    mem_put(m, &mine->at, at);
}

static void drain(struct mem *m, const struct coll *c, struct slot *root, size_t whole)
{
    uint64_t at = mem_get(m, &root->at);

    for (size_t done = 0, bytes; done < whole; done += bytes) {
        mem_flag *word = &root->word[at % 2];
        mem_await(m, word, at + 1); /* A4 */
        bytes = mem_get(m, word->payload);
        mem_out(m, &c->buf, window(m, root, c, at), done, bytes);
        mem_post(m, &root->peer[mem_rank(m)].left, ++at); /* R5 */
    }
}

/* The end of the message; true: all of it. */
static bool push(struct mem *m, const struct coll *c, int rank, uint64_t address, size_t part)
{
    const struct mem_span end = { .view = &c->buf, .offset_bytes = c->buf.bytes - part };

    return mem_push(m, &end, rank, address, end.offset_bytes, part) == part;
}

static void send(struct mem *m, const struct coll *c, uint64_t address)
{
    struct slot *mine = mem_slot(m, mem_rank(m));
    uint64_t needed = 0;

    for (int k = 1; k < mem_size(m); k++) {
        struct peer *peer = &mine->peer[other(m, k)];
        struct place to = await_place(m, c, other(m, k));
        size_t part = address != 0 ? share(m, to.address, to.bytes, c->buf.bytes) : 0;
        mem_put(m, peer->served.payload, push(m, c, other(m, k), to.address, part));
        mem_post(m, &peer->served, c->op); /* R2 */
    }
    for (int k = 1; k < mem_size(m); k++) {
        struct peer *peer = &mine->peer[other(m, k)];
        mem_await(m, &peer->done, c->op); /* A3 */
        needed |= mem_get(m, peer->done.payload);
    }
    if (needed)
        fill(m, c, mine);
}

static void receive(struct mem *m, const struct coll *c, uint64_t address)
{
    struct slot *root = mem_slot(m, c->root);
    struct peer *mine = &root->peer[mem_rank(m)];
    struct place from = await_place(m, c, c->root);
    size_t most = from.bytes - share(m, address, c->buf.bytes, from.bytes);
    bool good =
        address != 0 && from.address != 0 && mem_pull(m, &(struct mem_span){ .view = &c->buf }, c->root, from.address, 0, most) == most;

    mem_await(m, &mine->served, c->op); /* A2 */
    good = mem_get(m, mine->served.payload) && good;
    mem_put(m, mine->done.payload, !good);
    mem_post(m, &mine->done, c->op); /* R3 */
    if (!good)
        drain(m, c, root, from.bytes);
}

static void run(struct mem *m, const struct coll *c)
{
    uint64_t address = mem_expose(m, &c->buf);

    enter(m, c, address);
    if (mem_rank(m) == c->root)
        send(m, c, address);
    else
        receive(m, c, address);
}

ALG_DEFINE(bcast, single) = {
    .coll = "bcast",
    .name = "single",
    .doc = "single copy: receivers read the root's memory while it writes into theirs",
    .source = "this project",
    .direct = true,
    .slot_bytes = slot_bytes,
    .run = run,
};
