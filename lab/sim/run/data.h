/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * data.h - the data that ranks send in a simulated call, and the data that each must have
 * afterwards.
 *
 * The bytes of a reduction's elements are added one by one modulo 256, so results are known in
 * advance.
 */
#ifndef HUD_SIM_DATA_H
#define HUD_SIM_DATA_H

#include "lab/sim/run/request.h"

/* The data of a rank. */
struct data {
    unsigned char *in, *out;
    size_t in_bytes, out_bytes;
    struct hud_view whole[2];
    struct hud_view *views; /* [2 * ranks] if each rank has a buffer for each rank */
    size_t *block_bytes;    /* [ranks] if a result is divided among the ranks */
    struct hud_op op;
};

void data_create(const struct request *q, int rank, struct data *d);
void data_free(struct data *d);

/* Returns the bytes of all buffers of a rank. */
double data_bytes(const struct request *q);
/* Sets the call's views and operation. */
void data_call(const struct request *q, int rank, struct data *d, struct coll *c);
/* Writes a sending rank's buffer with new data.  Returns the number of bytes, 0 if the rank does
 * not send. */
size_t data_fill(const struct request *q, int rank, int round, struct data *d);
/* Returns the first byte that is wrong after a round, or out_bytes if all are right. */
size_t data_wrong(const struct request *q, int rank, int round, const struct data *d);

#endif
