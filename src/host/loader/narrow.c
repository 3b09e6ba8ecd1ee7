/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * narrow.c - MPI_Bcast_c and related functions for an MPI without them (Open MPI 4 and 5), by those
 * of ints: arrays of large counts are converted to arrays of ints.
 *
 * The arrays of ints live until the function returns, also of nonblocking and persistent calls:
 * Open MPI, like huddle, reads them when the call is made.
 *
 * Counts and displacements that do not fit an int are an error, and so is a lack of memory for the
 * arrays: the communicator's error handler is called.  Those that MPI does not read at this rank
 * may have any value.  All others are passed on, negative ones too: the MPI reports them.
 */
#include "host/loader/loader.h"

#include <limits.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

/* Of arrays of ints; a function with fewer parameters does not look at the last arguments. */
typedef uintptr_t by_ints_11(uintptr_t a, uintptr_t b, uintptr_t c, uintptr_t d, uintptr_t e,
                             uintptr_t f, uintptr_t g, uintptr_t h, uintptr_t i, uintptr_t j,
                             uintptr_t k);
typedef uintptr_t by_ints_8(uintptr_t a, uintptr_t b, uintptr_t c, uintptr_t d, uintptr_t e,
                            uintptr_t f, uintptr_t g, uintptr_t h);

/* A call of an int: of the MPI, or of the front end that wraps it. */
typedef int one_of_comm(uintptr_t comm, int *answer);

/* Whether a buffer is MPI_IN_PLACE, in an MPI without the large functions: its counts mean nothing
 * then. */
static bool in_place(uintptr_t buffer)
{
    return buffer == 1 || buffer == (uintptr_t)-1;
}

/* How many members the arrays speak of; 0: the communicator is none, and the MPI reports that. */
static int members(uintptr_t comm, bool other_group)
{
    one_of_comm *is_inter = (one_of_comm *)hud_loader_next("MPI_Comm_test_inter", NULL);
    one_of_comm *size_of = (one_of_comm *)hud_loader_next("MPI_Comm_size", NULL);
    one_of_comm *others = (one_of_comm *)hud_loader_next("MPI_Comm_remote_size", NULL);
    int inter = 0, size = 0;

    if (!is_inter || !size_of || !others || is_inter(comm, &inter) != 0)
        return 0;
    (inter && other_group ? others : size_of)(comm, &size);
    return size;
}

/* ---- single counts --------------------------------------------------------------------------- */

/* What this rank is in a call. */
enum { ROOT = 1, LEAF = 2 };

/* All ranks of a call without a root are both.  In an intercommunicator the root is named -3
 * (MPICH) or -4 (Open MPI) by itself, and another negative number by the others of its group, which
 * are neither. */
static unsigned parts(const struct hud_narrow_call *c)
{
    one_of_comm *is_inter = (one_of_comm *)hud_loader_next("MPI_Comm_test_inter", NULL);
    one_of_comm *rank_of = (one_of_comm *)hud_loader_next("MPI_Comm_rank", NULL);
    int inter = 0, rank = -1, root = (int)c->root;

    if (!c->rooted)
        return ROOT | LEAF;
    if (!is_inter || !rank_of || is_inter(c->comm, &inter) != 0)
        return 0;
    rank_of(c->comm, &rank);
    if (!inter)
        return LEAF | (root == rank ? ROOT : 0);
    if (root >= 0)
        return LEAF;
    return root == -3 || root == -4 ? ROOT : 0;
}

/* No int holds it. */
static bool is_wide(uintptr_t count)
{
    return (int64_t)count > INT_MAX || (int64_t)count < INT_MIN;
}

/* The MPI might look at its lower half all the same. */
static bool fit(uintptr_t *count, bool is_read)
{
    bool wide = count && is_wide(*count);

    if (wide && !is_read)
        *count = 0;
    return !wide || !is_read;
}

bool hud_narrow_fit(const struct hud_narrow_call *c)
{
    unsigned sends = c->from_root ? ROOT : LEAF, gets = c->from_root ? LEAF : ROOT;
    bool all_fit = (!c->count || !is_wide(*c->count)) && (!c->ins || !is_wide(*c->ins)) &&
                   (!c->outs || !is_wide(*c->outs));
    unsigned here = all_fit ? 0 : parts(c);

    return all_fit || (fit(c->count, here) && fit(c->ins, here & sends && !in_place(c->in)) &&
                       fit(c->outs, here & gets && !in_place(c->out)));
}

uintptr_t hud_narrow_refuse(uintptr_t comm)
{
    typedef int call_handler(uintptr_t comm, int code);
    call_handler *call = (call_handler *)hud_loader_next("MPI_Comm_call_errhandler", NULL);
    int code = call ? call(comm, HUD_ERR_COUNT_OF_ALL) : 0;

    return code != 0 ? (uintptr_t)code : HUD_ERR_COUNT_OF_ALL; /* of a wrong communicator */
}

/* ---- arrays of counts ------------------------------------------------------------------------ */

/* An array of `count` large integers as ints into *ints, to be freed.  False: one does not fit, or
 * no memory. */
static bool narrow(uintptr_t array, int count, int **ints)
{
    const int64_t *large = (const int64_t *)array;

    *ints = large ? malloc(((size_t)count + 1) * sizeof **ints) : NULL;
    for (int i = 0; *ints && i < count; i++) {
        if (large[i] > INT_MAX || large[i] < INT_MIN)
            return false;
        (*ints)[i] = (int)large[i];
    }
    return *ints || !large;
}

uintptr_t hud_narrow_exchange(void (*function)(void), uintptr_t a, uintptr_t b, uintptr_t c,
                              uintptr_t d, uintptr_t e, uintptr_t f, uintptr_t g, uintptr_t h,
                              uintptr_t i, uintptr_t j, uintptr_t k)
{
    by_ints_11 *by_int = (by_ints_11 *)function;
    int *ints[4] = { NULL, NULL, NULL, NULL }, count = members(i, true);
    bool alike = in_place(a);

    bool fits = (alike || (narrow(b, count, &ints[0]) && narrow(c, count, &ints[1]))) &&
                narrow(f, count, &ints[2]) && narrow(g, count, &ints[3]);
    uintptr_t code = 0;
    if (fits)
        code = by_int(a, (uintptr_t)ints[0], (uintptr_t)ints[1], d, e, (uintptr_t)ints[2],
                      (uintptr_t)ints[3], h, i, j, k);
    for (int n = 0; n < 4; n++)
        free(ints[n]);
    return fits ? code : hud_narrow_refuse(i);
}

uintptr_t hud_narrow_reduction(void (*function)(void), uintptr_t a, uintptr_t b, uintptr_t c,
                               uintptr_t d, uintptr_t e, uintptr_t f, uintptr_t g, uintptr_t h)
{
    by_ints_8 *by_int = (by_ints_8 *)function;
    uintptr_t code = 0;
    int *ints = NULL;

    bool fits = narrow(c, members(f, false), &ints);
    if (fits)
        code = by_int(a, b, (uintptr_t)ints, d, e, f, g, h);
    free(ints);
    return fits ? code : hud_narrow_refuse(f);
}

/* Of this rank: how many send to it, and to how many it sends.  False: the communicator has no
 * neighbourhoods, and the MPI reports that. */
static bool degrees(uintptr_t comm, int *ins, int *outs)
{
    typedef int count_of_dist(uintptr_t comm, int *ins, int *outs, int *weighted);
    typedef int count_of_graph(uintptr_t comm, int rank, int *count);
    enum { CART = 1, GRAPH, DIST_GRAPH }; /* in Open MPI; all others have the large functions */
    one_of_comm *topology_of = (one_of_comm *)hud_loader_next("MPI_Topo_test", NULL);
    one_of_comm *rank_of = (one_of_comm *)hud_loader_next("MPI_Comm_rank", NULL);
    one_of_comm *dimensions = (one_of_comm *)hud_loader_next("MPI_Cartdim_get", NULL);
    count_of_graph *of_graph = (count_of_graph *)hud_loader_next("MPI_Graph_neighbors_count", NULL);
    count_of_dist *of_dist =
        (count_of_dist *)hud_loader_next("MPI_Dist_graph_neighbors_count", NULL);
    int topology = 0, rank = 0, weighted, code = 1;

    if (!topology_of || !rank_of || !dimensions || !of_graph || !of_dist ||
        topology_of(comm, &topology) != 0)
        return false;
    if (topology == DIST_GRAPH)
        return of_dist(comm, ins, outs, &weighted) == 0;
    if (topology == CART && (code = dimensions(comm, ins)) == 0)
        *ins *= 2;
    if (topology == GRAPH && rank_of(comm, &rank) == 0)
        code = of_graph(comm, rank, ins);
    *outs = *ins;
    return code == 0;
}

uintptr_t hud_narrow_neighbors(void (*function)(void), enum hud_narrow_neighbors form,
                               const uintptr_t given[HUD_NARROW_MAX])
{
    by_ints_11 *by_int = (by_ints_11 *)function;
    bool to_all = form == HUD_NARROW_TO_ALL, fits = !to_all || !is_wide(given[1]);
    int step = form == HUD_NARROW_EXCHANGE_BYTES ? 2 : 1; /* which has places as they are */
    uintptr_t a[HUD_NARROW_MAX], code = 0, comm = given[to_all ? 7 : 8];
    int *ints[4] = { NULL, NULL, NULL, NULL }, ins = 0, outs = 0;

    memcpy(a, given, sizeof a);
    if (degrees(comm, &ins, &outs)) {
        for (int k = to_all ? 2 : 0; fits && k < 4; k += step) {
            int at = k < 2 ? 1 + k : (to_all ? 4 : 5) + k - 2;
            fits = narrow(a[at], k < 2 ? outs : ins, &ints[k]);
            a[at] = (uintptr_t)ints[k];
        }
    }
    if (fits)
        code = by_int(a[0], a[1], a[2], a[3], a[4], a[5], a[6], a[7], a[8], a[9], a[10]);
    for (int k = 0; k < 4; k++)
        free(ints[k]);
    return fits ? code : hud_narrow_refuse(comm);
}

uintptr_t hud_narrow_join(void (*function)(void), enum hud_narrow_form form,
                          const uintptr_t given[HUD_NARROW_MAX])
{
    by_ints_11 *by_int = (by_ints_11 *)function;
    bool rooted = form != HUD_NARROW_ALLGATHERV, from_root = form == HUD_NARROW_SCATTERV;
    int at = from_root ? 1 : 4, *ints[2] = { NULL, NULL };
    uintptr_t a[HUD_NARROW_MAX], code = 0, comm = given[rooted ? 8 : 7];
    struct hud_narrow_call call = { .comm = comm, .rooted = rooted, .from_root = from_root };

    memcpy(a, given, sizeof a);
    call.in = a[0];
    call.out = from_root ? a[4] : a[3];
    *(from_root ? &call.outs : &call.ins) = &a[from_root ? 5 : 1];
    call.root = rooted ? a[7] : 0;
    bool fits = hud_narrow_fit(&call), reads = parts(&call) & ROOT;
    int count = reads ? members(comm, true) : 0;
    for (int k = 0; reads && fits && k < 2; k++) {
        fits = narrow(a[at + k], count, &ints[k]);
        a[at + k] = (uintptr_t)ints[k];
    }
    if (fits)
        code = by_int(a[0], a[1], a[2], a[3], a[4], a[5], a[6], a[7], a[8], a[9], a[10]);
    free(ints[0]);
    free(ints[1]);
    return fits ? code : hud_narrow_refuse(comm);
}
