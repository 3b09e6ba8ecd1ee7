/* SPDX-License-Identifier: BSD-3-Clause */
/* faults.h - small algorithms with one fault each, and correct ones. */
#ifndef HUD_FAULTS_H
#define HUD_FAULTS_H

#include "alg/alg.h"

enum { FAULT_RANKS = 3, FAULT_CALLS = 6 };

/* The region of each slice. */
struct slot {
    mem_flag full;
    mem_flag done;
    mem_flag met; /* used in rank 0's slot */
    _Alignas(HUD_LINE) uint64_t word;
    _Alignas(HUD_LINE) unsigned char data[256];
};

struct fault {
    struct alg alg;
    int calls, lines;     /* minimum number of lines of its file named in the report */
    const char *expected; /* text in the report; NULL if there must be no report */
    bool always;          /* reported with any seed */
};

#define FAULT(coll_, function, calls_, lines_, expected_, ...)                                     \
    {                                                                                              \
        .alg = { .coll = coll_, .name = #function, .run = function }, .calls = calls_,             \
        .lines = lines_, .expected = expected_, __VA_ARGS__                                        \
    }

extern const struct fault faults[], reduce_faults[], last_faults[]; /* ended by a fault without a
                                                                     * name */

void right_bcast(struct mem *m, const struct coll *c);
void right_barrier(struct mem *m, const struct coll *c);

#endif
