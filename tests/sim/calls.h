/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * calls.h - defines the bytes that the ranks of a sequence send in a call of any collective, and
 * the bytes that each rank must have afterwards.
 *
 * A reduction's operation treats an element as one number of element_bytes bytes, so a cut within
 * an element gives a wrong result. An algorithm that keeps the ranks in order gets a * 31 + b, in
 * which neither the order nor the bracketing may change. Other algorithms get a + b.
 *
 * Some ranks may have smaller counts than the others, as in incorrect programs. A broadcast and
 * exchanges deliver the bytes that both ends have counted, but in place a truncated block may hold
 * anything. A reduction must fail on all ranks and write nothing.
 */
#ifndef HUD_CALLS_H
#define HUD_CALLS_H

#include "views.h"

/* One call, the same for all ranks. */
struct call {
    const struct alg *alg;
    size_t bytes; /* coll.bytes; if ranks know only their own bytes, the size of the largest
                   * block */
    uint64_t id;  /* calls in close succession have different data */
    int root, ranks;
    size_t element;
    bool in_place;
    int shorter;         /* a rank that counts shorter_bytes only, or -1 */
    bool others_shorter; /* all ranks except `shorter` count shorter_bytes */
    size_t shorter_bytes;
    const struct alg *shorter_alg; /* the algorithm run by ranks with smaller counts; of the same
                                    * family */
    bool other_blocks; /* these ranks count as many bytes, but cut the result into other blocks */
};

/* The buffers and views of one rank. */
struct call_user {
    struct user_buffer *in, *out;
    struct user_part *parts; /* [2 * ranks] */
    struct hud_view *views;  /* [2 * ranks], followed by a view of each whole buffer */
    size_t *block_bytes;     /* [ranks] */
    struct hud_op reduction;
};

struct call_user *call_user_create(struct sim *s, int ranks, size_t max_bytes);
void call_user_free(struct call_user *u);

/* Returns the maximum number of bytes in a rank's view. */
size_t call_view_bytes(const char *coll, size_t bytes, int ranks);

bool call_reduces(const char *coll);
/* Reports whether the collective moves bytes. */
bool call_moves(const char *coll);

/* Returns the algorithm that a rank runs. */
const struct alg *call_alg(const struct call *call, int rank);

/* Fills the buffers of a rank in, and the views and the operation of c. */
void call_prepare(const struct call *call, int rank, struct call_user *u, struct sim *s,
                  struct coll *c);

/* Ends the simulation with a report if the rank does not have the expected bytes or status. */
void call_verify(const struct call *call, int rank, const struct call_user *u, struct sim *s,
                 int status);

#endif
