/* SPDX-License-Identifier: BSD-3-Clause */
/* calls.c - one call of each collective on the survivors of a job, with a result that can be
 * checked. */
#include "job.h"

#include <stdlib.h>
#include <string.h>

/* Within one line, some lines, one fragment, some fragments, more than a set of buffers, more than
 * a lease. */
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

static void contribute(const struct member *m, uint32_t *at, size_t words)
{
    for (size_t w = 0; w < words; w++)
        at[w] = word(m->group[m->place], m->calls, w);
}

static bool summed(const struct member *m, const uint32_t *at, size_t from, size_t words)
{
    for (size_t w = 0; w < words; w++) {
        uint32_t sum = 0;
        for (int r = 0; r < m->size; r++)
            sum += word(m->group[r], m->calls, from + w);
        if (at[w] != sum)
            return false;
    }
    return true;
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

static struct hud_view view_of(const struct member *m, uint32_t *at, size_t words)
{
    bool packed = m->options->packed;

    return (struct hud_view){ .base = at,
                              .bytes = 4 * words,
                              .pack = packed ? pack : NULL,
                              .unpack = packed ? unpack : NULL };
}

static int barrier(const struct member *m, hud_team *team, size_t words, int root, uint32_t *in,
                   uint32_t *out, bool *right)
{
    (void)m, (void)words, (void)root, (void)in, (void)out;
    *right = true;
    return hud_barrier(team);
}

static int bcast(const struct member *m, hud_team *team, size_t words, int root, uint32_t *in,
                 uint32_t *out, bool *right)
{
    struct hud_view view = view_of(m, m->place == root ? in : out, words);
    int status = hud_bcast(team, &view, root);
    const uint32_t *got = view.base;

    *right = true;
    for (size_t w = 0; w < words; w++)
        *right = *right && got[w] == word(m->group[root], m->calls, w);
    return status;
}

static int reduce(const struct member *m, hud_team *team, size_t words, int root, uint32_t *in,
                  uint32_t *out, bool *right)
{
    struct hud_view from = view_of(m, in, words), to = view_of(m, out, words);
    struct hud_op sum;

    hud_op_find(HUD_SUM, HUD_UINT32, &sum);
    int status = hud_reduce(team, &from, m->place == root ? &to : NULL, &sum, root);
    *right = m->place != root || summed(m, out, 0, words);
    return status;
}

static int allreduce(const struct member *m, hud_team *team, size_t words, int root, uint32_t *in,
                     uint32_t *out, bool *right)
{
    struct hud_view from = view_of(m, in, words), to = view_of(m, out, words);
    struct hud_op sum;

    (void)root;
    hud_op_find(HUD_SUM, HUD_UINT32, &sum);
    int status = hud_allreduce(team, &from, &to, &sum);
    *right = summed(m, out, 0, words);
    return status;
}

/* Whole words in blocks as equal as can be. */
static int reduce_scatter(const struct member *m, hud_team *team, size_t words, int root,
                          uint32_t *in, uint32_t *out, bool *right)
{
    size_t block[JOB_RANKS], begin = 0;
    struct hud_op sum;

    (void)root;
    for (int r = 0; r < m->size; r++) {
        block[r] =
            4 * (words * (size_t)(r + 1) / (size_t)m->size - words * (size_t)r / (size_t)m->size);
        begin += r < m->place ? block[r] / 4 : 0;
    }
    struct hud_view from = view_of(m, in, words), to = view_of(m, out, block[m->place] / 4);
    hud_op_find(HUD_SUM, HUD_UINT32, &sum);
    int status = hud_reduce_scatter(team, &from, &to, block, &sum);
    *right = summed(m, out, begin, block[m->place] / 4);
    return status;
}

static int alltoall(const struct member *m, hud_team *team, size_t words, int root, uint32_t *in,
                    uint32_t *out, bool *right)
{
    size_t block = words / (size_t)m->size + 1, all = block * (size_t)m->size;
    struct hud_view from = view_of(m, in, all), to = view_of(m, out, all);

    (void)root;
    int status = hud_alltoall(team, &from, &to);
    *right = true;
    for (size_t w = 0; w < all; w++)
        *right = *right && out[w] == word(m->group[w / block], m->calls,
                                          w % block + (size_t)m->place * block);
    return status;
}

static int allgather(const struct member *m, hud_team *team, size_t words, int root, uint32_t *in,
                     uint32_t *out, bool *right)
{
    size_t block = words / (size_t)m->size + 1, all = block * (size_t)m->size;
    struct hud_view from = view_of(m, in, block), to = view_of(m, out, all);
    struct hud_args args = { .in = &from, .out = &to, .collective = hud_collective("allgather") };

    (void)root;
    int status = hud_call(team, &args);
    *right = true;
    for (size_t w = 0; w < all; w++)
        *right = *right && out[w] == word(m->group[w / block], m->calls, w % block);
    return status;
}

/* What rank i of the team sends to rank j; some pairs exchange nothing. */
static size_t sent(const struct member *m, int i, int j, size_t words)
{
    return words / (size_t)m->size * (size_t)((i * j + 2 * i + j + m->calls) % 3);
}

static int alltoallv(const struct member *m, hud_team *team, size_t words, int root, uint32_t *in,
                     uint32_t *out, bool *right)
{
    struct hud_view from[JOB_RANKS], to[JOB_RANKS];
    size_t max = words / (size_t)m->size * 2;

    (void)root;
    for (int r = 0; r < m->size; r++) {
        from[r] = view_of(m, in + (size_t)r * max, sent(m, m->place, r, words));
        to[r] = view_of(m, out + (size_t)r * max, sent(m, r, m->place, words));
    }
    int status = hud_alltoallv(team, from, to);
    *right = true;
    for (int r = 0; r < m->size; r++)
        for (size_t w = 0; w < to[r].bytes / 4; w++)
            *right = *right && out[(size_t)r * max + w] ==
                                   word(m->group[r], m->calls, (size_t)m->place * max + w);
    return status;
}

static const struct {
    const char *name;
    int (*make)(const struct member *m, hud_team *team, size_t words, int root, uint32_t *in,
                uint32_t *out, bool *right);
} collectives[] = {
    { "barrier", barrier },     { "bcast", bcast },
    { "reduce", reduce },       { "allreduce", allreduce },
    { "alltoall", alltoall },   { "alltoallv", alltoallv },
    { "allgather", allgather }, { "reduce_scatter", reduce_scatter },
};

/*
 * The buffers of a call that has failed belong to the caller again.  They are kept, with other
 * bytes in them: who reads them now gets what nobody sent, and who writes into them is found at the
 * end.
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
    size_t words = bytes_of[size] / 4, room = 2 * words + JOB_RANKS, c = 0;
    uint32_t *in = calloc(room, sizeof *in), *out = calloc(room, sizeof *out);

    if (!in || !out)
        abort();
    contribute(m, in, room);
    while (strcmp(collectives[c].name, collective) != 0)
        if (++c == sizeof collectives / sizeof *collectives)
            abort(); /* a collective that this file does not know */
    int status = collectives[c].make(m, team, words, root, in, out, right);
    give_back(in, room, status);
    give_back(out, room, status);
    return status;
}
