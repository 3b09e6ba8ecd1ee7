/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * single_reduce.h - reductions by single copy: every rank owns a slice of the message.  It pulls pieces of the others' contributions into its box, reduces them with
 * its own, in rank order, and pushes the result, which still lies in its caches, to whom it is for.
 *
 * At the first copy that does not come off an owner stops; its word to the others is then: results lack from byte `from` on, those up to `end` lie in my box.  When all
 * have stopped or are through, they do what is lacking in turns: who owns it reduces what the others have put into their boxes, and all take the result from its box.
 */
#ifndef HUD_ALG_SINGLE_REDUCE_H
#define HUD_ALG_SINGLE_REDUCE_H

#include "alg/single_box.h"

enum { REDUCE_SOURCES = 8 }; /* most that are pulled before they are reduced: the box is cut into so many */

/* What a collective makes of it, on one rank. */
struct reduce_job {
    struct mem *m;
    const struct coll *c;
    size_t (*starts)(const struct coll *c, int ranks, int rank); /* where a rank's slice begins; all end where the next one's begins */
    bool (*gets)(const struct coll *c, int rank, int owner);     /* the owner's result is for this rank's out */
    bool scatters;                                               /* out is the own slice, not all of them */
};

static inline size_t reduce_start(const struct reduce_job *j, int rank)
{
    return j->starts(j->c, mem_size(j->m), rank);
}

/* Slices that differ by an element at most. */
static inline size_t reduce_starts_evenly(const struct coll *c, int ranks, int rank)
{
    size_t element = c->reduction->element_bytes;

    return c->bytes / element * (size_t)rank / (size_t)ranks * element;
}

static inline size_t reduce_elements(const struct reduce_job *j, size_t bytes)
{
    return bytes - bytes % j->c->reduction->element_bytes;
}

static inline struct mem_span reduce_out(const struct reduce_job *j, size_t at)
{
    return (struct mem_span){ .view = &j->c->out, .offset_bytes = at - (j->scatters ? reduce_start(j, mem_rank(j->m)) : 0) };
}

static inline struct mem_span reduce_box(const struct reduce_job *j, int rank)
{
    return (struct mem_span){ .shared = single_box(j->m, j->c, rank, 0) };
}

/* Pieces in a box. */
static inline int reduce_pieces(const struct reduce_job *j)
{
    int fit = (int)(2 * single_half(j->c->slot_bytes, mem_size(j->m)) / SINGLE_LEAST), most = fit < REDUCE_SOURCES ? fit : REDUCE_SOURCES;

    return mem_size(j->m) < most ? mem_size(j->m) : most;
}

static inline size_t reduce_piece_bytes(const struct reduce_job *j)
{
    return 2 * single_half(j->c->slot_bytes, mem_size(j->m)) / (size_t)reduce_pieces(j) / HUD_LINE * HUD_LINE;
}

/* A rank's contribution: the own one, one that is pulled into the i-th piece of the box, or what the rank has put into its box.  False: could not be pulled. */
static inline bool reduce_source(const struct reduce_job *j, int rank, size_t at, size_t bytes, bool pull, int i, struct mem_span *source)
{
    if (rank == mem_rank(j->m)) {
        *source = (struct mem_span){ .view = &j->c->in, .offset_bytes = at };
        return true;
    }
    *source = reduce_box(j, pull ? mem_rank(j->m) : rank);
    if (!pull)
        return true;
    struct single_place from = single_meet(j->m, j->c, rank);
    source->shared = (char *)source->shared + (size_t)i * reduce_piece_bytes(j);
    return from.in != 0 && mem_pull(j->m, source, rank, from.in, at, bytes) == bytes;
}

/* Reduces all contributions to some bytes; what does not go in at once is reduced to the first piece of the own box. */
static inline bool reduce_all(const struct reduce_job *j, size_t at, size_t bytes, bool pull, const struct mem_span *to)
{
    struct mem_span from[MEM_SOURCES], sum = reduce_box(j, mem_rank(j->m));
    int count = 0, most = pull ? reduce_pieces(j) : MEM_SOURCES;

    for (int rank = 0; rank < mem_size(j->m); rank++) {
        if (count == most) {
            mem_reduce(j->m, j->c->reduction, &sum, NULL, from, count, bytes);
            from[0] = sum;
            count = 1;
        }
        if (!reduce_source(j, rank, at, bytes, pull, count, &from[count]))
            return false;
        count++;
    }
    mem_reduce(j->m, j->c->reduction, to, NULL, from, count, bytes);
    return true;
}

/* True: all whom the result is for have it. */
static inline bool reduce_push(const struct reduce_job *j, size_t at, size_t bytes, const struct mem_span *result)
{
    bool good = true;

    for (int k = 1; good && k < mem_size(j->m); k++) {
        int rank = single_other(j->m, k);
        if (!j->gets(j->c, rank, mem_rank(j->m)))
            continue;
        uint64_t to = single_meet(j->m, j->c, rank).out;
        bool reached = to != 0 && (result->shared || mem_expose(j->m, result->view) != 0);
        good = reached && mem_push(j->m, result, rank, to, at, bytes) == bytes;
    }
    return good;
}

/* The own slice, as far as that goes. */
static inline struct single_lack reduce_direct(const struct reduce_job *j)
{
    int me = mem_rank(j->m);
    size_t at = reduce_start(j, me), end = reduce_start(j, me + 1), most = reduce_elements(j, reduce_piece_bytes(j));
    struct mem_span box = reduce_box(j, me);

    if (j->scatters && coll_in_place(j->c))
        return (struct single_lack){ at, at };
    for (size_t n; at < end; at += n) {
        struct mem_span result = j->gets(j->c, me, me) ? reduce_out(j, at) : box;
        n = end - at < most ? end - at : most;
        if (!reduce_all(j, at, n, true, &result))
            return (struct single_lack){ at, at };
        if (reduce_push(j, at, n, &result))
            continue;
        if (!result.shared)
            mem_move(j->m, &box, &result, n);
        return (struct single_lack){ at, at + n };
    }
    return (struct single_lack){ at, at };
}

/* A turn of this rank's own: fragment k, of its slice; or of another owner's. */
static inline void reduce_own_turn(const struct reduce_job *j, size_t at, size_t bytes, bool reduced, size_t k)
{
    int me = mem_rank(j->m), ranks = mem_size(j->m);
    struct mem_span box = reduce_box(j, me), out = reduce_out(j, at);

    for (int i = 1; !reduced && i < ranks; i++)
        single_await_full(j->m, single_other(j->m, i), k);
    if (!reduced)
        reduce_all(j, at, bytes, false, &box);
    for (int i = 1; i < ranks; i++)
        single_full(j->m, single_other(j->m, i), k);
    if (j->gets(j->c, me, me))
        mem_out(j->m, out.view, box.shared, out.offset_bytes, bytes);
    for (int i = 1; i < ranks; i++)
        single_await_taken(j->m, single_other(j->m, i), k);
}

static inline void reduce_turn(const struct reduce_job *j, int owner, size_t at, size_t bytes, bool reduced, size_t k)
{
    const struct mem_span in = { .view = &j->c->in, .offset_bytes = at };

    if (!reduced) {
        mem_in_all(j->m, single_box(j->m, j->c, mem_rank(j->m), 0), in.view, in.offset_bytes, bytes);
        single_full(j->m, owner, k);
    }
    single_await_full(j->m, owner, k);
    if (j->gets(j->c, mem_rank(j->m), owner))
        mem_out(j->m, &j->c->out, single_box(j->m, j->c, owner, 0), at, bytes);
    single_taken(j->m, owner, k);
}

/* What is lacking of all slices: first what has been reduced, since the boxes that hold it are needed for the rest; then that.  Returns the next fragment. */
static inline size_t reduce_turns(const struct reduce_job *j, const struct single_lack *own, bool reduced, size_t k)
{
    int me = mem_rank(j->m);
    size_t most = reduce_elements(j, single_half(j->c->slot_bytes, mem_size(j->m)));

    for (int owner = 0; owner < mem_size(j->m); owner++) {
        struct single_lack lack = owner == me ? *own : single_told(j->m, owner, me);
        size_t end = reduced ? lack.end : reduce_start(j, owner + 1);
        for (size_t at = reduced ? lack.from : lack.end, n; at < end; at += n, k++) {
            n = reduced || end - at < most ? end - at : most;
            if (owner == me)
                reduce_own_turn(j, at, n, reduced, k);
            else
                reduce_turn(j, owner, at, n, reduced, k);
        }
    }
    return k;
}

static inline void reduce_run(const struct reduce_job *j)
{
    const struct coll *c = j->c;
    bool closed = j->scatters && coll_in_place(c); /* the own result would lie across what others pull */
    const struct single_place place = { .in = closed ? 0 : mem_expose(j->m, &c->in), .out = mem_expose(j->m, &c->out) };

    for (int k = 1; k < mem_size(j->m); k++)
        single_enter(j->m, c, single_other(j->m, k), &place);
    struct single_lack own = reduce_direct(j);
    for (int k = 1; k < mem_size(j->m); k++) {
        single_meet(j->m, c, single_other(j->m, k)); /* has heard the last word, which this one replaces */
        single_tell(j->m, c, single_other(j->m, k), own.from, own.end);
    }
    for (int k = 1; k < mem_size(j->m); k++)
        single_hear(j->m, c, single_other(j->m, k));
    size_t turns = reduce_turns(j, &own, false, reduce_turns(j, &own, true, 0));
    for (int k = 1; k < mem_size(j->m); k++)
        single_close(j->m, single_other(j->m, k), turns);
}

#endif
