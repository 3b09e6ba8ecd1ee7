/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * calls.h - what the ranks of a sequence send in a call of any collective, and what each must have
 * afterwards.
 *
 * A reduction's operation treats an element as one number of so many bytes, so a cut within an
 * element shows.  An algorithm that takes the ranks in order gets a * 31 + b, in which neither the
 * order nor the bracketing may change; the others get a + b.
 *
 * Some ranks may count less than the others, as in wrong programs.  A broadcast and exchanges bring
 * what both ends have counted, but in place a block that is cut may hold anything.  A reduction
 * must fail on all ranks and write nothing.
 */
#ifndef HUD_CALLS_H
#define HUD_CALLS_H

#include "views.h"

/* One call, the same for all ranks. */
struct call {
    const struct alg *alg;
    size_t bytes; /* as coll.bytes; where ranks know only their own: of the largest block */
    uint64_t id;  /* no two calls near each other have the same data */
    int root, ranks;
    size_t element;
    bool in_place;
    int shorter;         /* a rank that counts shorter_bytes only, -1: none */
    bool others_shorter; /* all but that rank do */
    size_t shorter_bytes;
    const struct alg *shorter_alg; /* what runs on such ranks; of the same family */
    bool other_blocks; /* such ranks count as many bytes, but cut the result into other blocks */
};

/* Of one rank. */
struct call_user {
    struct user_buffer *in, *out;
    struct user_part *parts; /* [2 * ranks] */
    struct hud_view *views;  /* [2 * ranks] */
    size_t *block_bytes;     /* [ranks] */
    struct hud_op reduction;
};

struct call_user *call_user_create(struct sim *s, int ranks, size_t max_bytes);
void call_user_free(struct call_user *u);

/* Most bytes of a rank's view in it. */
size_t call_view_bytes(const char *coll, size_t bytes, int ranks);

bool call_reduces(const char *coll);
/* It moves bytes. */
bool call_moves(const char *coll);

/* What a rank runs. */
const struct alg *call_alg(const struct call *call, int rank);

/* Fills the buffers of a rank in, and the views and the operation of c. */
void call_prepare(const struct call *call, int rank, struct call_user *u, struct sim *s,
                  struct coll *c);

/* Afterwards: ends the simulation with a report if the rank has not what it must have. */
void call_verify(const struct call *call, int rank, const struct call_user *u, struct sim *s,
                 int status);

#endif
