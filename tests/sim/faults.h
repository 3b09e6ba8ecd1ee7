/* SPDX-License-Identifier: BSD-3-Clause */
/* faults.h - small algorithms with one fault each, and right ones. */
#ifndef HUD_FAULTS_H
#define HUD_FAULTS_H

#include "alg/alg.h"

enum { FAULT_RANKS = 3, FAULT_CALLS = 6 };

/* The region of each slice. */
struct slot {
    mem_flag full;
    mem_flag done;
    mem_flag met; /* in rank 0's slot */
    _Alignas(HUD_LINE) uint64_t word;
    _Alignas(HUD_LINE) unsigned char data[256];
};

struct fault {
    struct alg alg;
    int calls, lines;     /* lines of faults.c that the report must name */
    const char *expected; /* in the report; NULL: none may come */
    bool always;          /* whatever the seed */
};

extern const struct fault faults[]; /* ended by an empty name */

void right_bcast(struct mem *m, const struct coll *c);
void right_barrier(struct mem *m, const struct coll *c);

#endif
