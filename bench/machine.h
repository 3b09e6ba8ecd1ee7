/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * machine.h - micro-measurements of this machine, one function each, for the description that the
 * simulator uses (sim/machine.h).
 *
 * Each returns a number, 0 or more, and in *note how it was measured.  A negative number means that
 * it cannot be measured here; the note says why.
 */
#ifndef BENCH_MACHINE_H
#define BENCH_MACHINE_H

#include "sim/machine.h"

enum { MACHINE_NOTE = 160 };

struct measured {
    struct sim_machine *m; /* its topology, without numbers */
    const int *os;         /* [cores] number of a core's first processor */
    size_t nearest_bytes, private_bytes,
        shared_bytes; /* of the caches; 0: not known, or, the first, the same as the second */
};

/* A word of a description; NULL: it cannot be measured here. */
typedef const char *measure_word_fn(const struct measured *on, char note[MACHINE_NOTE]);
typedef double measure_fn(const struct measured *on, int class, char note[MACHINE_NOTE]);

/* machine_lines.c */
measure_fn measure_hit, measure_post, measure_add, measure_transfer, measure_hop, measure_revoke,
    measure_serve, measure_home;
/* machine_scans.c */
measure_fn measure_fetch_add, measure_gap, measure_scan_gap;
/* machine_homes.c */
measure_fn measure_home_busy;
/* machine_stores.c */
measure_fn measure_store_gap, measure_revoke_each;
/* machine_bytes.c */
measure_fn measure_cached, measure_nearest, measure_memory, measure_from_shared, measure_past,
    measure_reduce;
/* machine_together.c */
measure_fn measure_node, measure_socket, measure_shared;
measure_fn measure_streams; /* of so many cores, instead of a class */
/* machine_caches.c */
measure_word_fn measure_fill, measure_dirty, measure_share;
/* machine_memory.c */
measure_fn measure_latency;
/* machine_kernel.c */
measure_fn measure_kernel, measure_call, measure_other, measure_process;
/* machine_calls.c */
measure_fn measure_enter, measure_data, measure_reducing, measure_clock;

enum {
    MACHINE_PAIRS = 4,
    MACHINE_PAGE = 4096,
    MACHINE_PRIVATE = 256 << 10, /* bytes of a core's own cache, if the system does not say */
    MEASURED_APART = 512,        /* nodes of a chain: farther than lines are fetched together */
    MACHINE_FAR = 8 << 20        /* bytes that are read from memory */
};

/* Some pairs of cores of a class, far from each other in the list of all; *count of them. */
int measured_pairs(const struct measured *on, int class, int pair[MACHINE_PAIRS][2]);

/* machine_bytes.c: a quarter of a core's own cache; a share of the shared cache for each of the
 * threads, beyond their own caches, 0: not known; bytes on pages of their own, for free(), NULL:
 * out of memory. */
size_t measured_share(const struct measured *on);
size_t measured_beyond(const struct measured *on, int threads);
unsigned char *measured_buffer(size_t bytes);

/* machine_memory.c: makes a circle of so many nodes, MEASURED_APART bytes each; follows so many. */
void measured_link(void *chain, size_t count);
void measured_follow(const void *chain, size_t count);

/* A core whose memory is so far from core 0, -1: there is none (machine_memory.c). */
int measured_toucher(const struct measured *on, int class);

#endif
