/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * machine.h - micro-measurements of this machine, a function each, for the description that the
 * simulator uses (sim/machine.h).
 *
 * Each function returns a number, 0 or more, and stores in *note how the number was measured.  A
 * negative number means that it cannot be measured here; then the note gives the reason.
 */
#ifndef BENCH_MACHINE_H
#define BENCH_MACHINE_H

#include "lab/sim/machine.h"

enum { MACHINE_NOTE = 160 };

struct measured {
    struct sim_machine *m; /* its topology, without numbers */
    const int *os;         /* [cores] number of a core's first processor */
    size_t nearest_bytes, private_bytes,
        shared_bytes; /* sizes of caches; 0: unknown, or, for the first, the same as the second */
};

/* Returns a word of a description, or NULL if the word cannot be measured here. */
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
measure_fn measure_store_gap, measure_revoke_each, measure_retake, measure_return;
/* machine_bytes.c */
measure_fn measure_cached, measure_nearest, measure_memory, measure_from_shared,
    measure_nontemporal, measure_reduce;
/* machine_together.c */
measure_fn measure_node, measure_socket, measure_shared;
measure_fn measure_streams; /* numbers of cores instead of classes */
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
    MACHINE_PRIVATE = 256 << 10, /* bytes of a core's own cache, if the system does not report
                                    them */
    MEASURED_APART = 512,        /* bytes between nodes of a chain: more than lines that are fetched
                                    together */
    MACHINE_FAR = 8 << 20        /* bytes that are read from memory */
};

/* ---- measured.c ---- */

/* Stores some pairs of cores of a class, far from each other in the list of all pairs.  Returns
 * their number. */
int measured_pairs(const struct measured *on, int class, int pair[MACHINE_PAIRS][2]);

/* Returns sizes for measurements: a quarter of a core's own cache; a share of the
 * shared cache for each of the threads, larger than their own caches, or 0 if unknown; and a buffer
 * on its own pages, for free(), or NULL if out of memory. */
size_t measured_share(const struct measured *on);
size_t measured_beyond(const struct measured *on, int threads);
unsigned char *measured_buffer(size_t bytes);

/* Links `count` nodes of MEASURED_APART bytes to a cycle, or follows `count` links. */
void measured_link(void *chain, size_t count);
void measured_follow(const void *chain, size_t count);

/* Returns a core whose memory is at this distance from core 0, or -1 if there is none. */
int measured_toucher(const struct measured *on, int class);

#endif
