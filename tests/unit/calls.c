/* SPDX-License-Identifier: BSD-3-Clause */
/* calls.c - see calls.h. */
#include "calls.h"

#include <stdlib.h>
#include <string.h>

enum { MAX_WORDS = 25 }; /* number of words of an element that are compared at once */

/* Returns word w of a rank's contribution to a call. */
static uint32_t word(int rank, int call, size_t w)
{
    uint32_t x = (uint32_t)w * 2654435761u + (uint32_t)rank * 40503u + (uint32_t)call * 977u;

    return x ^ x >> 15;
}

unsigned char *guarded_buffer(size_t bytes)
{
    unsigned char *at = malloc(bytes + GUARD);

    if (!at)
        abort();
    memset(at, 0xA5, bytes + GUARD);
    return at;
}

int guarded_free(unsigned char *at, size_t bytes)
{
    bool kept = true;

    for (int i = 0; i < GUARD; i++)
        kept = kept && at[bytes + (size_t)i] == 0xA5;
    free(at);
    return kept;
}

/* Fills in bytes of a rank's contribution, from byte `at` on. */
static void contribution(int rank, int call, size_t at, size_t bytes, unsigned char *to)
{
    uint32_t w;

    for (size_t skip = at % 4, n; bytes > 0; skip = 0, at += n, to += n, bytes -= n) {
        w = word(rank, call, at / 4);
        n = bytes < 4 - skip ? bytes : 4 - skip;
        memcpy(to, (unsigned char *)&w + skip, n);
    }
}

/* ---- operations ------------------------------------------------------------------------------ */

void add_words(const struct hud_op *op, void *dst, const void *const *src, int sources,
               size_t elements)
{
    for (size_t w = 0; w < elements * op->element_bytes / 4; w++) {
        uint32_t sum = 0, term;
        for (int s = 0; s < sources; s++) {
            memcpy(&term, (const char *)src[s] + 4 * w, 4);
            sum += term;
        }
        memcpy((char *)dst + 4 * w, &sum, 4);
    }
}

void compose_words(const struct hud_op *op, void *dst, const void *const *src, int sources,
                   size_t elements)
{
    (void)op;
    for (size_t e = 0; e < elements; e++) {
        uint32_t a[3], b[3];
        memcpy(a, (const char *)src[0] + 12 * e, 12);
        for (int s = 1; s < sources; s++) {
            memcpy(b, (const char *)src[s] + 12 * e, 12);
            a[0] *= b[0], a[1] = a[1] * b[0] + b[1], a[2] += b[2];
        }
        memcpy((char *)dst + 12 * e, a, 12);
    }
}

/* Reports whether the bytes from byte `from` on are the result of reducing the contributions. */
static bool reduced(int ranks, const struct hud_op *op, int call, const unsigned char *at,
                    size_t from, size_t bytes)
{
    uint32_t element[RANKS_MAX][MAX_WORDS], want[MAX_WORDS];
    size_t words = op->element_bytes / 4 < MAX_WORDS ? op->element_bytes / 4 : MAX_WORDS;

    for (size_t w = from / 4; w < (from + bytes) / 4; w += words, at += 4 * words) {
        const void *src[RANKS_MAX] = { NULL };
        for (int r = 0; r < ranks; r++) {
            for (size_t i = 0; i < words; i++)
                element[r][i] = word(r, call, w + i);
            src[r] = element[r];
        }
        if (op->combine == compose_words)
            compose_words(op, want, src, ranks, 1);
        else
            add_words(&(struct hud_op){ .element_bytes = 4 * words }, want, src, ranks, 1);
        if (memcmp(want, at, 4 * words) != 0)
            return false;
    }
    return true;
}

/* ---- a call of any collective ---------------------------------------------------------------- */

/* A call, with the same values on all ranks. */
struct made {
    int kind, call;
    struct coll_args args;
    size_t element;
    bool in_place;
};

/* Returns the bytes before a rank's block of a result. Blocks grow with the rank, and the first may
 * be empty. */
static size_t before(const struct made *c, int rank)
{
    int ranks = c->args.ranks;
    size_t elements = c->args.bytes / c->element, parts = (size_t)(ranks * (ranks + 1) / 2);

    return rank == ranks ? c->args.bytes
                         : elements * (size_t)(rank * (rank + 1) / 2) / parts * c->element;
}

/* Returns the bytes of the block from rank i to rank j. In an exchange in place both directions
 * have the same size. Some blocks are empty. */
static size_t block(const void *host, int i, int j)
{
    const struct made *c = host;

    if (coll_has(c->kind, COLL_COUNTS))
        return before(c, j + 1) - before(c, j);
    return c->args.bytes / 4 * (size_t)((c->in_place ? i + j : 3 * i + 2 * j) % 4) +
           (size_t)(i == j);
}

static bool from_root(const struct made *c)
{
    return coll_from_root(hud_collectives[c->kind].flags);
}

/* Reports whether a rank's own block is in place within its buffer for the blocks of all ranks. */
static bool lies_within(const struct made *c, int me)
{
    return c->in_place && !coll_has(c->kind, COLL_REDUCES | COLL_ONE_BUFFER) &&
           (coll_has(c->kind, COLL_SAME_TO_ALL) ||
            (coll_has(c->kind, COLL_ROOTED) && me == c->args.root));
}

static struct coll_piece piece_of(const struct made *c, int from, int to)
{
    return hud_coll_piece(c->kind, &c->args, from, to);
}

static void fill(const struct made *c, int me, unsigned char *in)
{
    size_t at = lies_within(c, me) && !from_root(c) ? piece_of(c, me, me).out_at : 0;

    contribution(me, c->call, 0, hud_coll_in_bytes(c->kind, &c->args, me), in + at);
}

static bool right(const struct made *c, const struct hud_op *op, int me, const unsigned char *out)
{
    struct coll_piece own = piece_of(c, 0, me);
    bool fine = true;

    if (coll_has(c->kind, COLL_REDUCES))
        return reduced(hud_coll_sources(c->kind, &c->args, me), op, c->call, out, own.in_at,
                       own.bytes);
    for (int from = 0; from < c->args.ranks; from++) {
        struct coll_piece piece = piece_of(c, from, me);
        unsigned char *want = guarded_buffer(piece.bytes);
        contribution(from, c->call, piece.in_at, piece.bytes, want);
        bool sent_from = lies_within(c, me) && from_root(c);
        fine =
            fine && memcmp(out + (sent_from ? piece.in_at : piece.out_at), want, piece.bytes) == 0;
        guarded_free(want, piece.bytes);
    }
    return fine;
}

/* Makes the call. Every second call uses the collective's own function, if there is one, and the
 * others use hud_call. */
static int make(struct rank *r, const struct made *c, const struct hud_args *a)
{
    switch (c->call % 2 ? c->kind : COLL_KINDS) {
    case COLL_BARRIER:
        return hud_barrier(r->team);
    case COLL_BCAST:
        return hud_bcast(r->team, a->out, a->root);
    case COLL_REDUCE:
        return hud_reduce(r->team, a->in, a->out, a->op, a->root);
    case COLL_ALLREDUCE:
        return hud_allreduce(r->team, a->in, a->out, a->op);
    case COLL_REDUCE_SCATTER:
        return hud_reduce_scatter(r->team, a->in, a->out, a->block_bytes, a->op);
    case COLL_ALLTOALL:
        return hud_alltoall(r->team, a->in, a->out);
    case COLL_ALLTOALLV:
        return hud_alltoallv(r->team, a->in, a->out);
    default:
        return hud_call(r->team, a);
    }
}

/* Makes views of the parts of both buffers, and the blocks of a result. */
static void cut(const struct made *c, int me, unsigned char *in, unsigned char *out,
                struct hud_view *ins, struct hud_view *outs, size_t *block_bytes)
{
    for (int r = 0; r < c->args.ranks; r++) {
        struct coll_piece to = piece_of(c, me, r), from = piece_of(c, r, me);
        ins[r] = view_of(in + to.in_at, to.bytes);
        outs[r] = view_of(out + from.out_at, from.bytes);
        block_bytes[r] = to.bytes;
    }
}

struct call {
    struct made made;
    const struct hud_op *op;
    struct hud_view ins[RANKS_MAX], outs[RANKS_MAX], from, to;
    size_t block_bytes[RANKS_MAX];
    int me;
    bool one; /* a single buffer serves as input and output */
    size_t sends, gets, room;
    unsigned char *in, *out;
    struct hud_args args;
};

/* Returns a call whose size is about the bytes asked for, in whole words per block. */
static struct made made_of(const struct call_what *w)
{
    bool equal = coll_has(w->kind, COLL_BLOCKS) && !coll_has(w->kind, COLL_UNSIZED);

    return (
        struct made){ .kind = w->kind,
                      .call = w->number,
                      .args = { .bytes = equal ? w->bytes / 4 / (size_t)w->ranks * 4 + 4 : w->bytes,
                                .ranks = w->ranks,
                                .root = w->number % w->ranks,
                                .block = block },
                      .element = w->op ? w->op->element_bytes : 1,
                      .in_place = w->in_place };
}

static void give_args(struct call *c)
{
    const struct made *made = &c->made;
    int kind = made->kind, root = made->args.root;
    bool within = coll_has(kind, COLL_VIEWS) && lies_within(made, c->me),
         receives = !coll_has(kind, COLL_TO_ROOT) || c->me == root;

    c->args = (struct hud_args){
        .collective = kind, .op = c->op, .block_bytes = c->block_bytes, .root = root
    };
    c->args.in = within && !from_root(made) ? &c->outs[c->me] : &c->from;
    c->args.out = within ? &c->ins[c->me] : receives ? &c->to : NULL;
    if (coll_in_each(kind, root, c->me))
        c->args.in = c->ins;
    if (coll_out_each(kind, root, c->me))
        c->args.out = made->in_place && c->args.in == c->ins ? c->ins : c->outs;
}

struct call *call_begin(const struct call_what *what, int me)
{
    struct call *c = calloc(1, sizeof *c);
    int kind = what->kind;

    if (!c)
        abort();
    c->made = made_of(what);
    c->made.args.host = &c->made;
    c->op = what->op;
    c->me = me;
    c->one = what->in_place || coll_has(kind, COLL_ONE_BUFFER);
    c->sends = hud_coll_in_bytes(kind, &c->made.args, me);
    c->gets = hud_coll_out_bytes(kind, &c->made.args, me);
    c->room = c->one && c->sends > c->gets ? c->sends : c->gets;
    c->out = guarded_buffer(c->room);
    c->in = c->one ? c->out : guarded_buffer(c->sends);
    c->from = view_of(c->in, c->sends);
    c->to = view_of(c->out, c->gets);
    fill(&c->made, me, c->in);
    cut(&c->made, me, c->in, c->out, c->ins, c->outs, c->block_bytes);
    give_args(c);
    return c;
}

struct hud_args *call_args(struct call *c)
{
    return &c->args;
}

void call_pack(struct call *c, const struct hud_view *how)
{
    struct hud_view *all[] = { &c->from, &c->to, NULL, NULL };

    for (int r = 0; r < c->made.args.ranks; r++) {
        all[2] = &c->ins[r];
        all[3] = &c->outs[r];
        for (int i = r == 0 ? 0 : 2; i < 4; i++) {
            all[i]->pack = how->pack;
            all[i]->unpack = how->unpack;
        }
    }
}

bool call_check(struct call *c)
{
    bool fine = right(&c->made, c->op, c->me, c->out);

    if (!c->one)
        memset(c->out, 0xA5, c->room);
    return fine;
}

bool call_end(struct call *c)
{
    bool kept = (c->one || guarded_free(c->in, c->sends)) & guarded_free(c->out, c->room);

    free(c);
    return kept;
}

bool call_make(struct rank *r, int kind, const struct hud_op *op, size_t bytes, bool in_place)
{
    struct call *c =
        call_begin(&(struct call_what){ kind, r->calls, r->ranks, op, bytes, in_place }, r->rank);
    bool taken = rank_handled(r, make(r, &c->made, &c->args));
    bool fine = !taken || call_check(c);

    rank_check(r, call_end(c) & fine, coll_name(kind), bytes);
    return taken;
}

unsigned char call_byte(int from, int to, int call, size_t i)
{
    return (unsigned char)word(from * RANKS_MAX + to, call, i);
}
