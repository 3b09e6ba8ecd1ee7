/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * data.h - what the ranks of a simulated call send, and what each must have afterwards.
 *
 * An element of a reduction is so many bytes, each added to its like modulo 256, so sums are known
 * in advance.
 */
#ifndef HUD_SIM_DATA_H
#define HUD_SIM_DATA_H

#include "sim/run/request.h"

/* Of one rank. */
struct data {
    unsigned char *in, *out;
    size_t in_bytes, out_bytes;
    struct hud_view whole[2];
    struct hud_view *views; /* [2 * ranks] where each rank has a buffer for each */
    size_t *block_bytes;    /* [ranks] where a result is cut over the ranks */
    struct hud_op op;
};

void data_create(const struct request *q, int rank, struct data *d);
void data_free(struct data *d);

/* Bytes per rank of all buffers together. */
double data_bytes(const struct request *q);
/* The call's views and operation. */
void data_call(const struct request *q, int rank, struct data *d, struct coll *c);
/* A rank that sends writes its buffer anew.  Returns its bytes: 0: it does not. */
size_t data_fill(const struct request *q, int rank, int round, struct data *d);
/* The first byte that is wrong after that round; out_bytes: none. */
size_t data_wrong(const struct request *q, int rank, int round, const struct data *d);

#endif
