/* SPDX-License-Identifier: BSD-3-Clause */
/* loader.h - the interface between the two halves of the loader: finding the MPI (loader.c), and
 * the MPI functions that it exports (trampolines.c). */
#ifndef HUD_LOADER_H
#define HUD_LOADER_H

#include "host/loader/front.h"

#include <stdbool.h>
#include <stdint.h>

/* Looks for an MPI in the process and plugs its front end in.  Does so once: later calls, and calls
 * that find no MPI, cost little. */
void hud_loader_attach(void);
/* The MPI has been initialised. */
void hud_loader_initialised(void);
/* The next definition of an MPI function after the loader's own, as its caller at `address` would
 * have found it; NULL: none. */
void *hud_loader_next(const char *name, void *address);

/*
 * narrow.c: a function of large counts, by the one of ints.  The counts of a call that are not
 * arrays, NULL where it has none, and what tells whether MPI reads them at this rank.
 */
struct hud_narrow_call {
    uintptr_t in, out, *count, *ins, *outs, root, comm;
    bool rooted, from_root;
};
/* False: a count that MPI reads does not fit an int.  One that it does not read becomes 0 then. */
bool hud_narrow_fit(const struct hud_narrow_call *call);
/* Reports that to the communicator's error handler.  The call then returns this. */
uintptr_t hud_narrow_refuse(uintptr_t comm);

/*
 * A function whose arrays hold large counts, by `function`, the one of arrays of ints.
 * The first: MPI_Alltoallv or MPI_Alltoallw; the second: MPI_Reduce_scatter; and their nonblocking
 * and persistent forms, whose further arguments come last.
 */
enum {
    HUD_ERR_COUNT_OF_ALL = 2
}; /* MPI_ERR_COUNT; the same number in Open MPI, MPICH and MPI 5's standard ABI */
uintptr_t hud_narrow_exchange(void (*function)(void), uintptr_t a, uintptr_t b, uintptr_t c,
                              uintptr_t d, uintptr_t e, uintptr_t f, uintptr_t g, uintptr_t h,
                              uintptr_t i, uintptr_t j, uintptr_t k);
uintptr_t hud_narrow_reduction(void (*function)(void), uintptr_t a, uintptr_t b, uintptr_t c,
                               uintptr_t d, uintptr_t e, uintptr_t f, uintptr_t g, uintptr_t h);
/* One block at this rank, and arrays for all.  Arrays that count at the root alone are not looked
 * at elsewhere. */
enum hud_narrow_form { HUD_NARROW_ALLGATHERV, HUD_NARROW_GATHERV, HUD_NARROW_SCATTERV };
enum { HUD_NARROW_MAX = 11 }; /* arguments, with those after the communicator */
uintptr_t hud_narrow_join(void (*function)(void), enum hud_narrow_form form,
                          const uintptr_t given[HUD_NARROW_MAX]);

/* Of a neighbourhood: arrays for those from which this rank gets, and for those to which it sends.
 */
enum hud_narrow_neighbors { HUD_NARROW_TO_ALL, HUD_NARROW_EXCHANGE, HUD_NARROW_EXCHANGE_BYTES };
uintptr_t hud_narrow_neighbors(void (*function)(void), enum hud_narrow_neighbors form,
                               const uintptr_t given[HUD_NARROW_MAX]);

/* From now on the trampolines of these names lead to the wrappers. */
void hud_trampolines_divert(const struct hud_wrapper *wrappers);
/* The same, with the next definition of each. */
void hud_trampolines_detour(const struct hud_detour *detours);

#endif
