/* SPDX-License-Identifier: BSD-3-Clause */
/* calls.c - computes the packed bytes that a rank sends and must receive, from the descriptor of
 * the collective. */
#include "calls.h"

#include "check/grow.h"
#include "coll/coll.h"

#include <string.h>

typedef unsigned char byte;

static uint64_t mix(uint64_t x)
{
    x ^= x >> 31;
    x *= 0x9E3779B97F4A7C15u;
    return x ^ x >> 29;
}

/* Fills `out` with bytes of a pseudorandom stream. Bytes are in 0..127, so none equals the filling
 * of an empty buffer. */
static void stream(uint64_t id, uint64_t from, uint64_t to, size_t bytes, byte *out)
{
    uint64_t x = mix(id * 1000003 + from * 1009 + to + 1);

    for (size_t i = 0; i < bytes; i++) {
        if (i % 8 == 0)
            x = mix(x + 0x632BE59BD9B4E019u);
        out[i] = (byte)(x >> i % 8 * 8 & 0x7F);
    }
}

/* ---- the operation ---- */

static void combine(const struct hud_op *op, void *dst, const void *const *src, int sources,
                    size_t elements)
{
    unsigned factor = op->commutative ? 1 : 31;
    size_t bytes = elements * op->element_bytes;
    byte *sum = hud_must(malloc(bytes + 1));

    memcpy(sum, src[0], bytes);
    for (int s = 1; s < sources; s++)
        for (size_t at = 0; at < bytes; at += op->element_bytes)
            for (size_t i = 0, carry = 0; i < op->element_bytes; i++) {
                carry += sum[at + i] * factor + ((const byte *)src[s])[at + i];
                sum[at + i] = (byte)carry;
                carry >>= 8;
            }
    memcpy(dst, sum, bytes);
    free(sum);
}

static struct hud_op operation(const struct call *call)
{
    return (struct hud_op){ .element_bytes = call->element,
                            .commutative = !call->alg->ordered,
                            .combine = combine,
                            .name = "test" };
}

static int kind_of(const struct call *call)
{
    return hud_coll_kind(call->alg->coll);
}

static bool has(const struct call *call, unsigned flags)
{
    return coll_has(kind_of(call), flags);
}

/* ---- ranks with smaller counts ---- */

static bool counts_less(const struct call *call, int rank)
{
    return call->shorter >= 0 && (rank == call->shorter) != call->others_shorter;
}

/* Returns the call as a rank sees it, with this rank's count. */
static struct call seen_by(const struct call *call, int rank)
{
    struct call own = *call;

    own.other_blocks = false;
    if (!counts_less(call, rank) || has(call, COLL_ONE_BUFFER))
        return own;
    own.bytes = call->shorter_bytes;
    own.alg = call->shorter_alg;
    own.other_blocks = call->other_blocks;
    return own;
}

const struct alg *call_alg(const struct call *call, int rank)
{
    return seen_by(call, rank).alg;
}

/* ---- blocks ---- */

/* Returns the bytes of a rank's block of a reduce_scatter: as equal as possible, or of any size. */
static size_t block_of(const struct call *call, int rank)
{
    size_t elements = call->bytes / call->element, ranks = (size_t)call->ranks, r = (size_t)rank,
           left = elements;
    uint64_t cut = call->id + call->other_blocks;

    if (mix(cut) % 2 == 0)
        return (elements * (r + 1) / ranks - elements * r / ranks) * call->element;
    for (size_t i = 0; i < ranks; i++) {
        size_t take = i + 1 == ranks              ? left
                      : mix(cut * 7 + i) % 3 == 0 ? 0
                                                  : left * (mix(cut * 5 + i) % 8) / 8;
        if (i == r)
            return take * call->element;
        left -= take;
    }
    return 0;
}

/* Returns the bytes of a block from one rank to another. */
static size_t pair_of(const struct call *call, int from, int to)
{
    uint64_t x = mix(call->id * 77 + (uint64_t)from * 1013 + (uint64_t)to);

    if (!coll_has(hud_coll_kind(call->alg->coll), COLL_VIEWS))
        return call->bytes;
    if (call->in_place && from > to) /* the same in both directions */
        return pair_of(call, to, from);
    return x % 4 == 0 ? 0 : x % 4 == 1 ? call->bytes : x / 4 % (call->bytes + 1);
}

/* ---- the collective's descriptor applied ---- */

static size_t block(const void *host, int from, int to)
{
    const struct call *call = host;

    return has(call, COLL_COUNTS) ? block_of(call, to) : pair_of(call, from, to);
}

static struct coll_args args_of(const struct call *call)
{
    return (struct coll_args){
        .bytes = call->bytes, .ranks = call->ranks, .root = call->root, .block = block, .host = call
    };
}

static struct coll_piece piece_of(const struct call *call, int from, int to)
{
    const struct coll_args args = args_of(call);

    return hud_coll_piece(hud_coll_kind(call->alg->coll), &args, from, to);
}

/* Returns the number of ranks whose contributions are in a rank's result of a reduction. */
static int sources_of(const struct call *call, int rank)
{
    const struct coll_args args = args_of(call);

    return hud_coll_sources(hud_coll_kind(call->alg->coll), &args, rank);
}

static size_t in_bytes(const struct call *call, int rank)
{
    const struct coll_args args = args_of(call);

    return hud_coll_in_bytes(hud_coll_kind(call->alg->coll), &args, rank);
}

static size_t out_bytes(const struct call *call, int rank)
{
    size_t end = 0;

    for (int from = 0; from < call->ranks; from++) {
        struct coll_piece piece = piece_of(call, from, rank);
        end = piece.out_at + piece.bytes > end ? piece.out_at + piece.bytes : end;
    }
    return has(call, COLL_ONE_BUFFER) && counts_less(call, rank) ? call->shorter_bytes : end;
}

/* Fills in the block from one rank to another, or the sender's only block. */
static void piece_stream(const struct call *call, int from, int to, size_t bytes, byte *at)
{
    bool whole = has(call, COLL_REDUCES | COLL_SAME_TO_ALL);

    stream(call->id, (uint64_t)from, whole ? 0 : (uint64_t)to, bytes, at);
}

static void send(const struct call *call, int rank, byte *to)
{
    if (has(call, COLL_REDUCES | COLL_SAME_TO_ALL)) {
        piece_stream(call, rank, 0, in_bytes(call, rank), to);
        return;
    }
    for (int r = 0; r < call->ranks; r++) {
        struct coll_piece piece = piece_of(call, rank, r);
        piece_stream(call, rank, r, piece.bytes, to + piece.in_at);
    }
}

/* Results of the latest calls, which all ranks of a call need. `sources` ranks are added up. */
static struct {
    struct call call;
    int sources;
    byte *sum;
} kept[8];

static bool same_data(const struct call *a, const struct call *b)
{
    return a->id == b->id && a->bytes == b->bytes && a->ranks == b->ranks &&
           a->element == b->element && a->alg->ordered == b->alg->ordered;
}

static const byte *sum_of(const struct call *call, int sources)
{
    size_t at = call->id % (sizeof kept / sizeof *kept);

    if (!kept[at].sum || !same_data(&kept[at].call, call) || kept[at].sources != sources) {
        struct hud_op op = operation(call);
        byte *one = hud_must(malloc(call->bytes + 1));
        kept[at].call = *call;
        kept[at].sources = sources;
        kept[at].sum = hud_must(realloc(kept[at].sum, call->bytes + 1));
        for (int r = 0; r < sources; r++) {
            const void *both[] = { kept[at].sum, one };
            send(call, r, r == 0 ? kept[at].sum : one);
            if (r != 0)
                combine(&op, kept[at].sum, both, 2, call->bytes / call->element);
        }
        free(one);
    }
    return kept[at].sum;
}

/* Reports whether two ranks detect different counts and must fail. */
static bool are_unlike(const struct call *call, int a, int b)
{
    struct call of_a = seen_by(call, a), of_b = seen_by(call, b);
    bool differ = of_a.bytes != of_b.bytes;

    for (int r = 0; has(call, COLL_COUNTS) && r < call->ranks; r++)
        differ = differ || block_of(&of_a, r) != block_of(&of_b, r);
    return has(call, COLL_REDUCES) ? differ : !has(call, COLL_ROOTED) && of_a.alg != of_b.alg;
}

/* Returns the bytes of a block that arrive. In an exchange both ends must count them. */
static size_t coming(const struct call *call, int from, int rank)
{
    const struct call theirs = seen_by(call, from), mine = seen_by(call, rank);
    size_t sent = piece_of(&theirs, from, rank).bytes, got = piece_of(&mine, from, rank).bytes;

    return are_unlike(call, from, rank) ? 0 : sent < got ? sent : got;
}

/* Reports whether a rank's block is smaller than the block sent to it. */
static bool is_cut(const struct call *call, int from, int rank)
{
    const struct call theirs = seen_by(call, from), mine = seen_by(call, rank);

    return has(call, COLL_BLOCKS) &&
           piece_of(&theirs, from, rank).bytes > piece_of(&mine, from, rank).bytes;
}

static int want_status(const struct call *call, int rank)
{
    bool cut = has(call, COLL_ONE_BUFFER) && counts_less(call, rank);

    for (int from = 0; from < call->ranks && !has(call, COLL_ONE_BUFFER); from++)
        cut = cut || are_unlike(call, from, rank) || is_cut(call, from, rank);
    return cut ? HUD_ERR_TRUNCATE : HUD_OK;
}

/* Writes the expected bytes over the earlier bytes in `to`. Takes bytes of any value from `got`. */
static void want(const struct call *call, int rank, const struct user_buffer *got, byte *to)
{
    const struct call mine = seen_by(call, rank);

    if (has(call, COLL_REDUCES)) {
        struct coll_piece piece = piece_of(&mine, 0, rank);
        if (want_status(call, rank) == HUD_OK)
            memcpy(to, sum_of(call, sources_of(&mine, rank)) + piece.in_at, piece.bytes);
        return;
    }
    for (int from = 0; from < call->ranks; from++) {
        struct coll_piece piece = piece_of(&mine, from, rank);
        if (call->in_place && is_cut(call, from, rank))
            user_buffer_read(got, piece.out_at, piece.bytes, to + piece.out_at);
        else
            piece_stream(call, from, rank, coming(call, from, rank), to + piece.out_at);
    }
}

bool call_reduces(const char *coll)
{
    return coll_has(hud_coll_kind(coll), COLL_REDUCES);
}

bool call_moves(const char *coll)
{
    return coll_has(hud_coll_kind(coll), COLL_BLOCKS) ||
           !coll_has(hud_coll_kind(coll), COLL_UNSIZED);
}

size_t call_view_bytes(const char *coll, size_t bytes, int ranks)
{
    return coll_has(hud_coll_kind(coll), COLL_BLOCKS) ? bytes * (size_t)ranks : bytes;
}

/* ---- a rank ---- */

struct call_user *call_user_create(struct sim *s, int ranks, size_t max_bytes)
{
    struct call_user *u = hud_must(calloc(1, sizeof *u));

    u->in = user_buffer_create(s, max_bytes);
    u->out = user_buffer_create(s, max_bytes);
    u->parts = hud_must(calloc(2 * (size_t)ranks, sizeof *u->parts));
    u->views = hud_must(calloc(2 * (size_t)ranks + 2, sizeof *u->views));
    u->block_bytes = hud_must(calloc((size_t)ranks, sizeof *u->block_bytes));
    return u;
}

void call_user_free(struct call_user *u)
{
    free(u->in);
    free(u->out);
    free(u->parts);
    free(u->views);
    free(u->block_bytes);
    free(u);
}

/* Fills in the bytes that this rank sends, from `offset` on. */
static void fill(const struct call *call, int rank, size_t offset, struct user_buffer *b)
{
    byte *message = hud_must(calloc(b->view.bytes + 1, 1));

    send(call, rank, message + offset);
    user_buffer_fill(b, message);
    free(message);
}

static void prepare_one(const struct call *call, int rank, struct call_user *u, struct coll *c)
{
    if (rank == call->root)
        fill(call, rank, 0, u->out);
    u->views[1] = u->out->view;
    c->out = &u->views[1];
}

/* Reports whether a rank's block is in place within its buffer for all blocks. */
static bool lies_within(const struct call *call, int rank)
{
    return call->in_place && !has(call, COLL_REDUCES | COLL_ONE_BUFFER) &&
           (has(call, COLL_SAME_TO_ALL) || (has(call, COLL_ROOTED) && rank == call->root));
}

#define from_root(call) coll_from_root(hud_collectives[kind_of(call)].flags)

/* Reports whether the root of an in-place scatter keeps its block in its send buffer. */
static bool gets_within(const struct call *call, int rank)
{
    return lies_within(call, rank) && from_root(call);
}

/* Makes views of the parts of both buffers, a pair for each rank. */
static void cut(const struct call *call, int rank, struct call_user *u, struct user_buffer *in,
                struct coll *c)
{
    int ranks = call->ranks, kind = kind_of(call);
    struct hud_view *ins = u->views, *outs = u->views + ranks;

    for (int r = 0; r < ranks; r++) {
        struct coll_piece to = piece_of(call, rank, r), from = piece_of(call, r, rank);
        ins[r] = user_part_view(&u->parts[r], in, to.in_at, to.bytes);
        outs[r] = user_part_view(&u->parts[ranks + r], u->out, from.out_at, from.bytes);
    }
    if (lies_within(call, rank) && !from_root(call) && in == u->out)
        c->in = &outs[rank];
    if (gets_within(call, rank))
        c->out = &ins[rank];
    if (coll_in_each(kind, call->root, rank))
        c->in = ins;
    if (coll_out_each(kind, call->root, rank))
        c->out = outs;
}

static void prepare_two(const struct call *call, int rank, struct call_user *u, struct sim *s,
                        struct coll *c)
{
    size_t got = out_bytes(call, rank);
    bool none = got == 0 && !has(call, COLL_COUNTS);
    struct user_buffer *in = call->in_place && !none && !from_root(call) ? u->out : u->in;
    struct hud_view *whole = u->views + 2 * call->ranks;

    if (lies_within(call, rank) && in == u->out) {
        fill(call, rank, piece_of(call, rank, rank).out_at, in);
    } else {
        user_buffer_reset(in, in_bytes(call, rank), hud_sim_random(s, 2) == 0);
        fill(call, rank, 0, in);
    }
    whole[0] = in->view;
    whole[1] = u->out->view;
    c->in = &whole[0];
    if (none)
        whole[1] = (struct hud_view){ 0 };
    else if (in == u->out)
        whole[1].bytes = got;
    c->out = gets_within(call, rank) ? c->in : &whole[1];
    if (has(call, COLL_REDUCES)) {
        u->reduction = operation(call);
        c->reduction = &u->reduction;
    }
    for (int r = 0; has(call, COLL_COUNTS) && r < call->ranks; r++)
        u->block_bytes[r] = block_of(call, r);
    c->block_bytes = has(call, COLL_COUNTS) ? u->block_bytes : NULL;
    if (has(call, COLL_VIEWS))
        cut(call, rank, u, in, c);
}

/* Writes to `to` the first `bytes` bytes of the rank's `out` before the call. */
static void before(const struct call *call, int rank, size_t bytes, byte *to)
{
    bool holds = call->in_place && !from_root(call);

    memset(to, holds ? 0 : USER_NOTHING, bytes);
    if (holds)
        send(call, rank, to + (lies_within(call, rank) ? piece_of(call, rank, rank).out_at : 0));
}

static void prepare(const struct call *call, int rank, struct call_user *u, struct sim *s,
                    struct coll *c)
{
    c->bytes = has(call, COLL_UNSIZED) ? 0 : call->bytes;
    if (!call_moves(call->alg->coll))
        return;
    user_buffer_reset(u->out, out_bytes(call, rank), hud_sim_random(s, 2) == 0);
    if (has(call, COLL_ONE_BUFFER))
        prepare_one(call, rank, u, c);
    else
        prepare_two(call, rank, u, s, c);
}

void call_prepare(const struct call *call, int rank, struct call_user *u, struct sim *s,
                  struct coll *c)
{
    const struct call own = seen_by(call, rank);

    prepare(&own, rank, u, s, c);
}

void call_verify(const struct call *call, int rank, const struct call_user *u, struct sim *s,
                 int status)
{
    const struct call own = seen_by(call, rank);
    bool moves = call_moves(call->alg->coll);
    size_t bytes = moves ? out_bytes(&own, rank) : 0,
           room = call_view_bytes(call->alg->coll, call->bytes, call->ranks) + 1;

    if (status != (moves ? want_status(call, rank) : HUD_OK))
        hud_sim_fail(s,
                     "wrong status: %d at rank %d after %s/%s, call %llu, its view holds %zu "
                     "bytes, it counts %zu of %zu\n",
                     status, rank, own.alg->coll, own.alg->name, (unsigned long long)call->id,
                     bytes, own.bytes, call->bytes);
    if (bytes == 0 || (moves && gets_within(&own, rank)))
        return;
    byte *message = hud_must(malloc(room));
    before(&own, rank, room, message);
    want(call, rank, u->out, message);
    size_t wrong = user_buffer_differs(u->out, message, bytes);
    free(message);
    if (wrong < bytes)
        hud_sim_fail(s,
                     "wrong result: byte %zu of %zu at rank %d after %s/%s, call %llu, root %d, "
                     "elements of %zu%s\n",
                     wrong, bytes, rank, call->alg->coll, call->alg->name,
                     (unsigned long long)call->id, call->root, call->element,
                     call->in_place ? ", in place" : "");
}
