/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * trampolines.c - the MPI_* functions that the preloaded library exports: those that a front end
 * wraps, and those that initialise an MPI.
 *
 * Interposition works only for symbols of the preloaded library itself, and before any MPI is
 * known.  So each function here jumps through a table: to the front end's wrapper, or else to the
 * definition that the caller would have found without huddle (first call: looked up; later calls: a
 * load and a jump). All arguments are integers or pointers, and are passed on unchanged: handles
 * are ints in MPICH and pointers in Open MPI.  The Fortran names are those that do not call the C
 * function in some MPI.
 *
 * A profiling tool that is preloaded before huddle gets the calls first.  If it calls PMPI_*,
 * huddle does not see the call; nothing breaks.
 */
#define _GNU_SOURCE
#include "coll/coll.h"
#include "core/local.h"
#include "host/loader/loader.h"
#include "host/map.h"

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Parameters by the kinds of signatures.def; arguments have the kinds' names. */
#define PARAM_buffer uintptr_t buffer
#define PARAM_in uintptr_t in
#define PARAM_out uintptr_t out
#define PARAM_count uintptr_t count
#define PARAM_ins uintptr_t ins
#define PARAM_outs uintptr_t outs
#define PARAM_counts uintptr_t counts
#define PARAM_in_counts uintptr_t in_counts
#define PARAM_out_counts uintptr_t out_counts
#define PARAM_in_places uintptr_t in_places
#define PARAM_out_places uintptr_t out_places
#define PARAM_type uintptr_t type
#define PARAM_in_type uintptr_t in_type
#define PARAM_out_type uintptr_t out_type
#define PARAM_in_types uintptr_t in_types
#define PARAM_out_types uintptr_t out_types
#define PARAM_op uintptr_t op
#define PARAM_root uintptr_t root
#define PARAM_comm uintptr_t comm
#define PARAM_in_bytes uintptr_t in_bytes
#define PARAM_out_bytes uintptr_t out_bytes
/* .. of nonblocking and persistent collectives, and of what goes with them */
#define PARAM_request uintptr_t request
#define PARAM_info uintptr_t info
#define PARAM_made uintptr_t made
#define PARAM_freed uintptr_t freed
/* .. of MPI_Init and others, that have none of these kinds */
#define PARAM_count_at uintptr_t count_at
#define PARAM_words_at uintptr_t words_at
#define PARAM_required uintptr_t required
#define PARAM_provided uintptr_t provided
#define PARAM_error uintptr_t error
#define PARAM_window uintptr_t window
#define PARAM_flag uintptr_t flag

/* What struct hud_narrow_call has of them. */
#define COUNTED_buffer
#define COUNTED_in .in = in,
#define COUNTED_out .out = out,
#define COUNTED_count .count = &count,
#define COUNTED_ins .ins = &ins,
#define COUNTED_outs .outs = &outs,
#define COUNTED_type
#define COUNTED_in_type
#define COUNTED_out_type
#define COUNTED_op
#define COUNTED_root .root = root, .rooted = true,
#define COUNTED_comm .comm = comm,
#define COUNTED_request
#define COUNTED_info
#define COUNTED_in_bytes
#define COUNTED_made

/* ROW(name, kinds of the parameters) for names that are not collectives of signatures.def. */
#define INITIALISERS(ROW)                                                                          \
    ROW(MPI_Init, count_at, words_at)                                                              \
    ROW(MPI_Init_thread, count_at, words_at, required, provided)                                   \
    ROW(mpi_init_, error)                                                                          \
    ROW(mpi_init_thread_, required, provided, error)                                               \
    ROW(mpi_init_f08_, error)                                                                      \
    ROW(mpi_init_thread_f08_, required, provided, error)
#define OTHERS(ROW)                                                                                \
    ROW(mpi_barrier_f08_, comm, error)                                                             \
    ROW(MPI_Win_test, window, flag)                                                                \
    ROW(MPI_Cart_sub, comm, ins, made)                                                             \
    ROW(MPI_Comm_accept, in, info, root, comm, made)                                               \
    ROW(MPI_Comm_connect, in, info, root, comm, made)                                              \
    ROW(MPI_Comm_spawn, in, ins, count, info, root, comm, made, outs)                              \
    ROW(MPI_Comm_spawn_multiple, count, in, ins, counts, op, root, comm, made, outs)               \
    ROW(MPI_Comm_create, comm, root, made)                                                         \
    ROW(MPI_Comm_dup, comm, made)                                                                  \
    ROW(MPI_Comm_dup_with_info, comm, info, made)                                                  \
    ROW(MPI_Comm_idup, comm, made, request)                                                        \
    ROW(MPI_Comm_idup_with_info, comm, info, made, request)                                        \
    ROW(MPI_Comm_split, comm, type, root, made)                                                    \
    ROW(MPI_Comm_split_type, comm, type, root, info, made)                                         \
    ROW(MPI_Cart_create, comm, count, ins, outs, flag, made)                                       \
    ROW(MPI_Graph_create, comm, count, ins, outs, flag, made)                                      \
    ROW(MPI_Dist_graph_create, comm, count, in, ins, out, outs, info, flag, made)                  \
    ROW(MPI_Dist_graph_create_adjacent, comm, count, in, ins, type, out, outs, info, flag, made)   \
    ROW(MPI_Intercomm_create, comm, root, op, type, count, made)                                   \
    ROW(MPI_Win_create, buffer, count, type, info, comm, made)                                     \
    ROW(MPI_Win_create_dynamic, info, comm, made)                                                  \
    ROW(MPI_Win_allocate, count, type, info, comm, buffer, made)                                   \
    ROW(MPI_Win_allocate_shared, count, type, info, comm, buffer, made)                            \
    ROW(MPI_Win_create_c, buffer, in_bytes, count, info, comm, made)                               \
    ROW(MPI_Win_allocate_c, in_bytes, count, info, comm, buffer, made)                             \
    ROW(MPI_Win_allocate_shared_c, in_bytes, count, info, comm, buffer, made)                      \
    ROW(MPI_File_open, comm, in, type, info, made)                                                 \
    ROW(MPI_Comm_free, freed)                                                                      \
    ROW(MPI_Comm_disconnect, freed)                                                                \
    ROW(MPI_Op_free, freed)                                                                        \
    ROW(MPI_Request_get_status, request, flag, error)                                              \
    ROW(mpi_comm_free_f08_, freed, error)                                                          \
    ROW(mpi_op_free_f08_, freed, error)                                                            \
    ROW(mpi_comm_disconnect_f08_, freed, error)                                                    \
    ROW(mpi_ibarrier_f08_, comm, request, error)                                                   \
    ROW(mpi_comm_idup_f08_, comm, made, request, error)                                            \
    ROW(mpi_comm_idup_with_info_f08_, comm, info, made, request, error)                            \
    ROW(mpi_request_get_status_f08_, request, flag, out, error)
enum {
#define INDEX(name, ...) AT_##name,
    INITIALISERS(INDEX) OTHERS(INDEX)
#define ROW INDEX
#include "host/loader/names.def"
#define F08 INDEX
#include "host/f08.def"
        NAMES
};

static const char *const names[NAMES] = {
#define NAME(name, ...) #name,
    INITIALISERS(NAME) OTHERS(NAME)
#define ROW NAME
#include "host/loader/names.def"
#define F08 NAME
#include "host/f08.def"
};

/* Each begins as the function that looks the next definition up. */
#define FIRST(name, ...) static uintptr_t first_##name(MAP(PARAM_, __VA_ARGS__));
INITIALISERS(FIRST)
OTHERS(FIRST)
#define ROW FIRST
#include "host/loader/names.def"
#define F08 FIRST
#include "host/f08.def"
static _Atomic(void *) targets[NAMES] = {
#define TARGET(name, ...) (void *)first_##name,
    INITIALISERS(TARGET) OTHERS(TARGET)
#define ROW TARGET
#include "host/loader/names.def"
#define F08 TARGET
#include "host/f08.def"
};

#define EXPORT __attribute__((visibility("default")))
#define DECLARE(name, ...) EXPORT uintptr_t name(MAP(PARAM_, __VA_ARGS__));
INITIALISERS(DECLARE)
OTHERS(DECLARE)
#define ROW DECLARE
#include "host/loader/names.def"
#define F08 DECLARE
#include "host/f08.def"

/*
 * MPI_Bcast_c and its kin, of an MPI that has none (Open MPI 4 and 5).  A program that uses a name
 * only where it is defined (mpi4py: a weak symbol) finds ours, so it must work.  Counts that no int
 * holds are an error (narrow.c).
 */
#define NARROW_alltoallv hud_narrow_exchange
#define NARROW_alltoallw hud_narrow_exchange
#define NARROW_reduce_scatter hud_narrow_reduction
#define NARROW_JOIN(form, function, ...)                                                           \
    hud_narrow_join(function, form, (const uintptr_t[HUD_NARROW_MAX]){ __VA_ARGS__ })
#define NARROW_allgatherv(...) NARROW_JOIN(HUD_NARROW_ALLGATHERV, __VA_ARGS__)
#define NARROW_gatherv(...) NARROW_JOIN(HUD_NARROW_GATHERV, __VA_ARGS__)
#define NARROW_scatterv(...) NARROW_JOIN(HUD_NARROW_SCATTERV, __VA_ARGS__)
#define BY_INT(sent_from_root, name, ...)                                                          \
    static uintptr_t by_int_##name(MAP(PARAM_, __VA_ARGS__))                                       \
    {                                                                                              \
        const struct hud_narrow_call call = { .from_root = sent_from_root,                         \
                                              JOIN(COUNTED_, __VA_ARGS__) };                       \
        return hud_narrow_fit(&call) ? name(__VA_ARGS__) : hud_narrow_refuse(comm);                \
    }
#define FORMS_BY_INT(from_root, Name, name, ...)                                                   \
    BY_INT(from_root, MPI_##Name, __VA_ARGS__)                                                     \
    BY_INT(from_root, MPI_I##name, __VA_ARGS__, request)                                           \
    BY_INT(from_root, MPI_##Name##_init, __VA_ARGS__, info, request)
#define HANDLED(Name, name, ...) FORMS_BY_INT(false, Name, name, __VA_ARGS__)
#define HANDLED_ROOTED(Name, name, ID, ...)                                                        \
    FORMS_BY_INT(!(COLL_FLAGS_##ID & COLL_TO_ROOT), Name, name, __VA_ARGS__)
/* The functions for arrays take what follows the communicator, too. */
#define HANDLED_ARRAYS(Name, name, ...)                                                            \
    static uintptr_t by_int_MPI_##Name(MAP(PARAM_, __VA_ARGS__))                                   \
    {                                                                                              \
        return NARROW_##name((void (*)(void))MPI_##Name, __VA_ARGS__, 0, 0);                       \
    }                                                                                              \
    static uintptr_t by_int_MPI_I##name(MAP(PARAM_, __VA_ARGS__, request))                         \
    {                                                                                              \
        return NARROW_##name((void (*)(void))MPI_I##name, __VA_ARGS__, request, 0);                \
    }                                                                                              \
    static uintptr_t by_int_MPI_##Name##_init(MAP(PARAM_, __VA_ARGS__, info, request))             \
    {                                                                                              \
        return NARROW_##name((void (*)(void))MPI_##Name##_init, __VA_ARGS__, info, request);       \
    }
#define NARROW_NEIGHBORS(form, function, ...)                                                      \
    hud_narrow_neighbors((void (*)(void))(function), form,                                         \
                         (const uintptr_t[HUD_NARROW_MAX]){ __VA_ARGS__ })
#define BY_INTS_OF_NEIGHBORS(form, name, ...)                                                      \
    static uintptr_t by_int_##name(MAP(PARAM_, __VA_ARGS__))                                       \
    {                                                                                              \
        return NARROW_NEIGHBORS(form, name, __VA_ARGS__);                                          \
    }
#define BY_INT_AS_IT_IS(form, name, ...) BY_INT(false, name, __VA_ARGS__)
#define NEIGHBORS_allgather BY_INT_AS_IT_IS, 0
#define NEIGHBORS_alltoall BY_INT_AS_IT_IS, 0
#define NEIGHBORS_allgatherv BY_INTS_OF_NEIGHBORS, HUD_NARROW_TO_ALL
#define NEIGHBORS_alltoallv BY_INTS_OF_NEIGHBORS, HUD_NARROW_EXCHANGE
#define NEIGHBORS_alltoallw BY_INTS_OF_NEIGHBORS, HUD_NARROW_EXCHANGE_BYTES
#define NEIGHBORS_BY_INT(make, form, Name, name, ...)                                              \
    make(form, MPI_Neighbor_##name, __VA_ARGS__)                                                   \
        make(form, MPI_Ineighbor_##name, __VA_ARGS__, request)                                     \
            make(form, MPI_Neighbor_##name##_init, __VA_ARGS__, info, request)
#define NEIGHBORS_EXPAND(...) NEIGHBORS_BY_INT(__VA_ARGS__)
#define NEIGHBORS(Name, name, ...) NEIGHBORS_EXPAND(NEIGHBORS_##name, Name, name, __VA_ARGS__)
#include "host/signatures.def"

/* Their unit is an int, too. */
BY_INT(false, MPI_Win_create, buffer, in_bytes, count, info, comm, made)
BY_INT(false, MPI_Win_allocate, in_bytes, count, info, comm, buffer, made)
BY_INT(false, MPI_Win_allocate_shared, in_bytes, count, info, comm, buffer, made)

/* MPI 4's function, where there is MPI 3's: hints may be ignored. */
static uintptr_t idup_without_info(uintptr_t comm, uintptr_t info, uintptr_t made,
                                   uintptr_t request)
{
    (void)info;
    return MPI_Comm_idup(comm, made, request);
}

static void *const fallbacks[NAMES] = {
    [AT_MPI_Comm_idup_with_info] = (void *)idup_without_info,
    [AT_MPI_Win_create_c] = (void *)by_int_MPI_Win_create,
    [AT_MPI_Win_allocate_c] = (void *)by_int_MPI_Win_allocate,
    [AT_MPI_Win_allocate_shared_c] = (void *)by_int_MPI_Win_allocate_shared,
#define HANDLED(Name, name, ...)                                                                   \
    [AT_MPI_##Name##_c] = (void *)by_int_MPI_##Name,                                               \
    [AT_MPI_I##name##_c] = (void *)by_int_MPI_I##name,                                             \
    [AT_MPI_##Name##_init_c] = (void *)by_int_MPI_##Name##_init,
#define HANDLED_ARRAYS HANDLED
#define NEIGHBORS(Name, name, ...)                                                                 \
    [AT_MPI_Neighbor_##name##_c] = (void *)by_int_MPI_Neighbor_##name,                             \
    [AT_MPI_Ineighbor_##name##_c] = (void *)by_int_MPI_Ineighbor_##name,                           \
    [AT_MPI_Neighbor_##name##_init_c] = (void *)by_int_MPI_Neighbor_##name##_init,
#include "host/signatures.def"
};

/* Open MPI 4 has the persistent collectives as extensions. */
static void *extension(const char *name, void *caller)
{
    char other[64];

    if (strncmp(name, "MPI_", 4) != 0 || snprintf(other, sizeof other, "MPIX_%s", name + 4) < 0)
        return NULL;
    return hud_loader_next(other, caller);
}

static void *look_up(int at, void *caller)
{
    void *next = hud_loader_next(names[at], caller);

    if (!next)
        next = extension(names[at], caller);
    if (!next)
        next = fallbacks[at];
    if (!next) {
        fprintf(stderr, "huddle: %s is called, and no MPI in this process defines it\n", names[at]);
        abort(); /* without us the dynamic linker would have ended it */
    }
    local_set(&targets[at], next);
    return next;
}

static void divert(const char *name, void (*function)(void))
{
    for (int at = 0; at < NAMES; at++)
        if (strcmp(name, names[at]) == 0)
            local_set(&targets[at], (void *)function);
}

void hud_trampolines_divert(const struct hud_wrapper *wrappers)
{
    for (; wrappers->name; wrappers++)
        divert(wrappers->name, wrappers->function);
}

void hud_trampolines_detour(const struct hud_detour *detours)
{
    for (; detours->name; detours++) {
        *detours->next = hud_loader_next(detours->name, NULL);
        if (*detours->next)
            divert(detours->name, detours->function);
    }
}

#define JUMP(function, ...) ((uintptr_t(*)(MAP(PARAM_, __VA_ARGS__)))(function))(__VA_ARGS__)

#define LOOK_UP(name, ...)                                                                         \
    static uintptr_t first_##name(MAP(PARAM_, __VA_ARGS__))                                        \
    {                                                                                              \
        return JUMP(look_up(AT_##name, __builtin_return_address(0)), __VA_ARGS__);                 \
    }
INITIALISERS(LOOK_UP)
OTHERS(LOOK_UP)
#define ROW LOOK_UP
#include "host/loader/names.def"
#define F08 LOOK_UP
#include "host/f08.def"

#define INITIALISER(name, ...)                                                                     \
    uintptr_t name(MAP(PARAM_, __VA_ARGS__))                                                       \
    {                                                                                              \
        hud_loader_attach();                                                                       \
        uintptr_t result = JUMP(local_get(&targets[AT_##name]), __VA_ARGS__);                      \
        hud_loader_initialised();                                                                  \
        return result;                                                                             \
    }
INITIALISERS(INITIALISER)

#define FORWARD(name, ...)                                                                         \
    uintptr_t name(MAP(PARAM_, __VA_ARGS__))                                                       \
    {                                                                                              \
        return JUMP(local_get(&targets[AT_##name]), __VA_ARGS__);                                  \
    }
OTHERS(FORWARD)
#define ROW FORWARD
#include "host/loader/names.def"
#define F08 FORWARD
#include "host/f08.def"
