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

static void contribute(const struct rank *r, unsigned char *at, size_t bytes)
{
    for (size_t w = 0; w < bytes / 4; w++)
        memcpy(at + 4 * w, &(uint32_t){ word(r->number, r->calls, w) }, 4);
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

/* ---- a call of each collective --------------------------------------------------------------- */

static void call_barrier(struct rank *r, const struct hud_op *op, size_t bytes, bool in_place)
{
    (void)op, (void)bytes, (void)in_place;
    crew_took(r, hud_barrier(r->team));
}

static void call_bcast(struct rank *r, const struct hud_op *op, size_t bytes, bool in_place)
{
    unsigned char *at = crew_buffer(bytes), *want = crew_buffer(bytes);
    int root = r->calls % r->ranks;
    struct hud_view v = crew_view(at, bytes);

    (void)op, (void)in_place;
    contribute(&(struct rank){ .number = root, .calls = r->calls }, want, bytes);
    if (r->number == root)
        memcpy(at, want, bytes);
    bool fine = !crew_took(r, hud_bcast(r->team, &v, root)) || memcmp(at, want, bytes) == 0;
    crew_must(r, crew_release(at, bytes) & crew_release(want, bytes) & fine, "bcast", bytes);
}

static void call_allreduce(struct rank *r, const struct hud_op *op, size_t bytes, bool in_place)
{
    unsigned char *in = crew_buffer(bytes), *out = in_place ? in : crew_buffer(bytes);
    struct hud_view from = crew_view(in, bytes), to = crew_view(out, bytes);
    int call = r->calls;

    contribute(r, in, bytes);
    bool fine = !crew_took(r, hud_allreduce(r->team, &from, &to, op)) ||
                reduced(r->ranks, op, call, out, 0, bytes);
    crew_must(r, (in_place || crew_release(in, bytes)) & crew_release(out, bytes) & fine,
              "allreduce", bytes);
}

static void call_reduce(struct rank *r, const struct hud_op *op, size_t bytes, bool in_place)
{
    int call = r->calls, root = call % r->ranks;
    bool mine = r->number == root;
    unsigned char *in = crew_buffer(bytes), *out = in_place ? in : crew_buffer(mine ? bytes : 0);
    struct hud_view from = crew_view(in, bytes), to = crew_view(out, bytes);

    contribute(r, in, bytes);
    bool fine = !crew_took(r, hud_reduce(r->team, &from, mine ? &to : NULL, op, root)) || !mine ||
                reduced(r->ranks, op, call, out, 0, bytes);
    crew_must(r,
              (in_place || crew_release(in, bytes)) &
                  crew_release(out, mine || in_place ? bytes : 0) & fine,
              "reduce", bytes);
}

/* The later the rank, the larger its block; those of the first may be empty. */
static void call_reduce_scatter(struct rank *r, const struct hud_op *op, size_t bytes,
                                bool in_place)
{
    size_t block[CREW_MAX], elements = bytes / op->element_bytes, cut[CREW_MAX + 1] = { 0 };
    size_t parts = (size_t)(r->ranks * (r->ranks + 1) / 2);
    int call = r->calls, me = r->number;

    for (int i = 0; i < r->ranks; i++) {
        cut[i + 1] = i + 1 == r->ranks
                         ? bytes
                         : elements * (size_t)((i + 1) * (i + 2) / 2) / parts * op->element_bytes;
        block[i] = cut[i + 1] - cut[i];
    }
    unsigned char *in = crew_buffer(bytes), *out = in_place ? in : crew_buffer(block[me]);
    struct hud_view from = crew_view(in, bytes), to = crew_view(out, block[me]);
    contribute(r, in, bytes);
    bool fine = !crew_took(r, hud_reduce_scatter(r->team, &from, &to, block, op)) ||
                reduced(r->ranks, op, call, out, cut[me], block[me]);
    crew_must(r,
              (in_place || crew_release(in, bytes)) &
                  crew_release(out, in_place ? bytes : block[me]) & fine,
              "reduce_scatter", bytes);
}

/* `bytes` words' worth of message in blocks of whole words. */
static void call_alltoall(struct rank *r, const struct hud_op *op, size_t bytes, bool in_place)
{
    size_t block = bytes / 4 / (size_t)r->ranks * 4 + 4, whole = block * (size_t)r->ranks;
    unsigned char *in = crew_buffer(whole), *out = in_place ? in : crew_buffer(whole);
    struct hud_view from = crew_view(in, whole), to = crew_view(out, whole);
    int call = r->calls;
    bool fine = true;

    (void)op;
    contribute(r, in, whole);
    if (crew_took(r, hud_alltoall(r->team, &from, &to)))
        for (size_t w = 0; w < whole / 4; w++) {
            uint32_t got, want = word((int)(4 * w / block), call,
                                      w % (block / 4) + (size_t)r->number * (block / 4));
            memcpy(&got, out + 4 * w, 4);
            fine = fine && got == want;
        }
    crew_must(r, (in_place || crew_release(in, whole)) & crew_release(out, whole) & fine,
              "alltoall", whole);
}

/* What rank i sends to rank j; the same back, where it is exchanged in place.  Some send nothing.
 * */
static size_t sent(int i, int j, size_t bytes, bool in_place)
{
    return bytes / 4 * (size_t)((in_place ? i + j : 3 * i + 2 * j) % 4) + (size_t)(i == j);
}

unsigned char crew_byte(int from, int to, int call, size_t i)
{
    return (unsigned char)word(from * CREW_MAX + to, call, i);
}

static void call_alltoallv(struct rank *r, const struct hud_op *op, size_t bytes, bool in_place)
{
    struct hud_view in[CREW_MAX], out[CREW_MAX];
    int call = r->calls, me = r->number;
    bool fine = true;

    (void)op;
    for (int i = 0; i < r->ranks; i++) {
        size_t to = sent(me, i, bytes, in_place), from = sent(i, me, bytes, in_place);
        in[i] = crew_view(crew_buffer(to), to);
        out[i] = in_place ? in[i] : crew_view(crew_buffer(from), from);
        for (size_t b = 0; b < to; b++)
            ((unsigned char *)in[i].base)[b] = crew_byte(me, i, call, b);
    }
    bool taken = crew_took(r, hud_alltoallv(r->team, in, in_place ? in : out));
    for (int i = 0; i < r->ranks; i++) {
        for (size_t b = 0; taken && b < out[i].bytes; b++)
            fine = fine && ((unsigned char *)out[i].base)[b] == crew_byte(i, me, call, b);
        fine = (in_place || crew_release(in[i].base, in[i].bytes)) &
               crew_release(out[i].base, out[i].bytes) & fine;
    }
    crew_must(r, fine, "alltoallv", bytes);
}

crew_call *const crew_calls[COLL_KINDS] = {
    [COLL_BARRIER] = call_barrier,
    [COLL_BCAST] = call_bcast,
    [COLL_REDUCE] = call_reduce,
    [COLL_ALLREDUCE] = call_allreduce,
    [COLL_REDUCE_SCATTER] = call_reduce_scatter,
    [COLL_ALLTOALL] = call_alltoall,
    [COLL_ALLTOALLV] = call_alltoallv,
};
