/* SPDX-License-Identifier: BSD-3-Clause */
/* calls.c - see calls.h. */
#include "calls.h"

#include <stdlib.h>
#include <string.h>

enum { MAX_WORDS = 25 }; /* of an element that are looked at in one go */

/* Word w of what a rank contributes to its n-th call. */
static uint32_t word(int rank, int call, size_t w)
{
    uint32_t x = (uint32_t)w * 2654435761u + (uint32_t)rank * 40503u + (uint32_t)call * 977u;

    return x ^ x >> 15;
}

unsigned char *crew_buffer(size_t bytes)
{
    unsigned char *at = malloc(bytes + GUARD);

    if (!at)
        abort();
    memset(at, 0xA5, bytes + GUARD);
    return at;
}

int crew_release(unsigned char *at, size_t bytes)
{
    bool kept = true;

    for (int i = 0; i < GUARD; i++)
        kept = kept && at[bytes + (size_t)i] == 0xA5;
    free(at);
    return kept;
}

/* Bytes of what a rank contributes, from byte `at` on. */
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

void crew_add(const struct hud_op *op, void *dst, const void *const *src, int sources,
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

void crew_compose(const struct hud_op *op, void *dst, const void *const *src, int sources,
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

/* The result from byte `from` on, in the words that contribute() gave. */
static bool reduced(int ranks, const struct hud_op *op, int call, const unsigned char *at,
                    size_t from, size_t bytes)
{
    uint32_t element[CREW_MAX][MAX_WORDS], want[MAX_WORDS];
    size_t words = op->element_bytes / 4 < MAX_WORDS ? op->element_bytes / 4 : MAX_WORDS;

    for (size_t w = from / 4; w < (from + bytes) / 4; w += words, at += 4 * words) {
        const void *src[CREW_MAX] = { NULL };
        for (int r = 0; r < ranks; r++) {
            for (size_t i = 0; i < words; i++)
                element[r][i] = word(r, call, w + i);
            src[r] = element[r];
        }
        if (op->combine == crew_compose)
            crew_compose(op, want, src, ranks, 1);
        else
            crew_add(&(struct hud_op){ .element_bytes = 4 * words }, want, src, ranks, 1);
        if (memcmp(want, at, 4 * words) != 0)
            return false;
    }
    return true;
}

/* ---- a call of any collective ---------------------------------------------------------------- */

/* A call, as all ranks know it. */
struct made {
    int kind, call;
    struct coll_args args;
    size_t element;
    bool in_place;
};

/* Of a result: the later the rank, the larger its block; those of the first may be empty. */
static size_t before(const struct made *c, int rank)
{
    int ranks = c->args.ranks;
    size_t elements = c->args.bytes / c->element, parts = (size_t)(ranks * (ranks + 1) / 2);

    return rank == ranks ? c->args.bytes
                         : elements * (size_t)(rank * (rank + 1) / 2) / parts * c->element;
}

/* Of an exchange: the same back, where it is in place.  Some send nothing. */
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

/* In place: a rank's one block lies where it has the blocks of all. */
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
        unsigned char *want = crew_buffer(piece.bytes);
        contribution(from, c->call, piece.in_at, piece.bytes, want);
        bool sent_from = lies_within(c, me) && from_root(c);
        fine =
            fine && memcmp(out + (sent_from ? piece.in_at : piece.out_at), want, piece.bytes) == 0;
        crew_release(want, piece.bytes);
    }
    return fine;
}

/* By the function of the collective's own, where there is one: every other call. */
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

/* Views of the parts of both buffers, and the blocks of a result. */
static void cut(const struct made *c, int me, unsigned char *in, unsigned char *out,
                struct hud_view *ins, struct hud_view *outs, size_t *block_bytes)
{
    for (int r = 0; r < c->args.ranks; r++) {
        struct coll_piece to = piece_of(c, me, r), from = piece_of(c, r, me);
        ins[r] = crew_view(in + to.in_at, to.bytes);
        outs[r] = crew_view(out + from.out_at, from.bytes);
        block_bytes[r] = to.bytes;
    }
}

struct crew_call {
    struct made made;
    const struct hud_op *op;
    struct hud_view ins[CREW_MAX], outs[CREW_MAX], from, to;
    size_t block_bytes[CREW_MAX];
    int me;
    bool one; /* buffer for both */
    size_t sends, gets, room;
    unsigned char *in, *out;
    struct hud_args args;
};

/* Bytes of all ranks as a size that the collective has: whole words of each block. */
static struct made made_of(const struct crew_what *w)
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

static void give_args(struct crew_call *c)
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

struct crew_call *crew_begin(const struct crew_what *what, int me)
{
    struct crew_call *c = calloc(1, sizeof *c);
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
    c->out = crew_buffer(c->room);
    c->in = c->one ? c->out : crew_buffer(c->sends);
    c->from = crew_view(c->in, c->sends);
    c->to = crew_view(c->out, c->gets);
    fill(&c->made, me, c->in);
    cut(&c->made, me, c->in, c->out, c->ins, c->outs, c->block_bytes);
    give_args(c);
    return c;
}

struct hud_args *crew_args(struct crew_call *c)
{
    return &c->args;
}

void crew_pack(struct crew_call *c, const struct hud_view *how)
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

bool crew_check(struct crew_call *c)
{
    bool fine = right(&c->made, c->op, c->me, c->out);

    if (!c->one)
        memset(c->out, 0xA5, c->room);
    return fine;
}

bool crew_end(struct crew_call *c)
{
    bool kept = (c->one || crew_release(c->in, c->sends)) & crew_release(c->out, c->room);

    free(c);
    return kept;
}

void crew_make(struct rank *r, int kind, const struct hud_op *op, size_t bytes, bool in_place)
{
    struct crew_call *c =
        crew_begin(&(struct crew_what){ kind, r->calls, r->ranks, op, bytes, in_place }, r->number);
    bool taken = crew_took(r, make(r, &c->made, &c->args));
    bool fine = !taken || crew_check(c);

    crew_must(r, crew_end(c) & fine, coll_name(kind), bytes);
}

unsigned char crew_byte(int from, int to, int call, size_t i)
{
    return (unsigned char)word(from * CREW_MAX + to, call, i);
}
