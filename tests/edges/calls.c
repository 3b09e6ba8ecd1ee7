/* SPDX-License-Identifier: BSD-3-Clause */
/* calls.c - makes a call of any collective among the ranks of a job and verifies its result. The
 * collective's descriptor gives the pieces that each rank sends and receives. */
#include "job.h"

#include "coll/coll.h"

#include <stdlib.h>
#include <string.h>

/* Sizes in bytes: within one line, several lines, one fragment, several fragments, more than a set
 * of buffers, more than a lease. */
static const size_t bytes_of[JOB_SIZES] = { 8, 104, 1304, 17000, 140000, 600000 };

enum { KEPT = 8 };

static struct buffer {
    uint32_t *at;
    size_t words;
} failed[KEPT];
static int kept;

static uint32_t word(int rank, int call, size_t w)
{
    uint32_t x = (uint32_t)w * 2654435761u + (uint32_t)rank * 40503u + (uint32_t)call * 977u;

    return x ^ x >> 15;
}

static size_t pack(const struct hud_view *view, void *dst, size_t offset_bytes, size_t max_bytes)
{
    memcpy(dst, (const char *)view->base + offset_bytes, max_bytes);
    return max_bytes;
}

static void unpack(const struct hud_view *view, const void *src, size_t offset_bytes, size_t bytes)
{
    memcpy((char *)view->base + offset_bytes, src, bytes);
}

static struct hud_view view_of(const struct member *m, uint32_t *at, size_t bytes)
{
    bool packed = m->options->packed;

    return (struct hud_view){
        .base = at, .bytes = bytes, .pack = packed ? pack : NULL, .unpack = packed ? unpack : NULL
    };
}

/* ---- a call, described alike on all ranks ---- */

struct made {
    const struct member *m;
    int kind;
    struct coll_args args;
};

/* Returns the bytes of the block from rank `from` to rank `to`. Blocks of a result are whole words
 * and as equal as possible. In an exchange some pairs send nothing. */
static size_t block(const void *host, int from, int to)
{
    const struct made *c = host;
    size_t words = c->args.bytes / 4, ranks = (size_t)c->args.ranks, r = (size_t)to;

    if (coll_has(c->kind, COLL_COUNTS))
        return 4 * (words * (r + 1) / ranks - words * r / ranks);
    return 4 * (words / ranks * (size_t)((from * to + 2 * from + to + c->m->calls) % 3));
}

/* Returns a call whose size is about `words` words over all ranks, in the form the collective
 * uses. */
static struct made made_of(const struct member *m, int kind, size_t words, int root)
{
    bool equal = coll_has(kind, COLL_BLOCKS) && !coll_has(kind, COLL_VIEWS);

    return (struct made){ .m = m,
                          .kind = kind,
                          .args = { .bytes = 4 * (equal ? words / (size_t)m->size + 1 : words),
                                    .ranks = m->size,
                                    .root = root,
                                    .block = block } };
}

static struct coll_piece piece_of(const struct made *c, int from, int to)
{
    return hud_coll_piece(c->kind, &c->args, from, to);
}

static size_t in_bytes(const struct made *c, int rank)
{
    return hud_coll_in_bytes(c->kind, &c->args, rank);
}

static size_t out_bytes(const struct made *c, int rank)
{
    return hud_coll_out_bytes(c->kind, &c->args, rank);
}

/* Returns word `w` of what rank `from` contributes. For a reduction, returns the sum of this word
 * over all contributions to this rank's result. */
static uint32_t sent(const struct made *c, int from, size_t w)
{
    const struct member *m = c->m;
    uint32_t sum = 0;

    if (!coll_has(c->kind, COLL_REDUCES))
        return word(m->group[from], m->calls, w);
    for (int r = 0; r < hud_coll_sources(c->kind, &c->args, m->place); r++)
        sum += word(m->group[r], m->calls, w);
    return sum;
}

static bool right_piece(const struct made *c, int from, const uint32_t *out)
{
    struct coll_piece piece = piece_of(c, from, c->m->place);
    bool right = true;

    for (size_t w = 0; w < piece.bytes / 4; w++)
        right = right && out[piece.out_at / 4 + w] == sent(c, from, piece.in_at / 4 + w);
    return right;
}

/* Reports whether the result is right. A reduction is verified as a single piece, because `sent`
 * sums all contributions. */
static bool is_right(const struct made *c, const uint32_t *out)
{
    bool right = true;

    for (int from = 0; from < (coll_has(c->kind, COLL_REDUCES) ? 1 : c->m->size); from++)
        right = right && right_piece(c, from, out);
    return right;
}

/* ---- making the call ---- */

static int make(const struct made *c, hud_team *team, uint32_t *in, uint32_t *out)
{
    struct hud_view ins[JOB_RANKS], outs[JOB_RANKS];
    size_t block_bytes[JOB_RANKS];
    const struct member *m = c->m;
    struct hud_op sum;
    struct hud_args args = { .collective = c->kind,
                             .root = c->args.root,
                             .in = ins,
                             .out = outs,
                             .block_bytes = block_bytes,
                             .op = &sum };

    hud_op_find(HUD_SUM, HUD_UINT32, &sum);
    for (int r = 0; r < m->size; r++) {
        struct coll_piece to = piece_of(c, m->place, r), from = piece_of(c, r, m->place);
        ins[r] = view_of(m, in + to.in_at / 4, to.bytes);
        outs[r] = view_of(m, out + from.out_at / 4, from.bytes);
        block_bytes[r] = to.bytes;
    }
    if (!coll_in_each(c->kind, c->args.root, m->place))
        ins[0] = view_of(m, in, in_bytes(c, m->place));
    if (!coll_out_each(c->kind, c->args.root, m->place))
        outs[0] = view_of(m, out, out_bytes(c, m->place));
    if (coll_has(c->kind, COLL_ONE_BUFFER))
        outs[0] = view_of(m, m->place == c->args.root ? in : out, c->args.bytes);
    return hud_call(team, &args);
}

/*
 * Releases a buffer after a call. The buffer of a failed call is kept and filled with other bytes,
 * to detect ranks that still access this memory: a reader gets a wrong result, and a write is found
 * at the end.
 */
static void give_back(uint32_t *buffer, size_t words, int status)
{
    static const uint32_t other = 0xEEEEEEEE;

    if (status != HUD_ERR_FAILED || kept == KEPT) {
        free(buffer);
        return;
    }
    for (size_t w = 0; w < words; w++)
        buffer[w] = other;
    failed[kept++] = (struct buffer){ buffer, words };
}

bool calls_touched(void)
{
    bool touched = false;

    for (int i = 0; i < kept; i++) {
        for (size_t w = 0; w < failed[i].words; w++)
            touched = touched || failed[i].at[w] != 0xEEEEEEEE;
        free(failed[i].at);
    }
    return touched;
}

int calls_make(const struct member *m, hud_team *team, const char *collective, int size, int root,
               bool *right)
{
    struct made c = made_of(m, hud_coll_kind(collective), bytes_of[size] / 4, root);
    size_t room = 2 * bytes_of[size] / 4 + JOB_RANKS;
    uint32_t *in = calloc(room, sizeof *in), *out = calloc(room, sizeof *out);

    if (!in || !out || c.kind < 0)
        abort();
    c.args.host = &c;
    for (size_t w = 0; w < room; w++)
        in[w] = word(m->group[m->place], m->calls, w);
    int status = make(&c, team, in, out);
    *right = is_right(&c, coll_has(c.kind, COLL_ONE_BUFFER) && m->place == root ? in : out);
    give_back(in, room, status);
    give_back(out, room, status);
    return status;
}
