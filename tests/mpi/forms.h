/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * forms.h - calls a collective in each of its forms: blocking, nonblocking, persistent.
 *
 * The persistent functions are looked up at run time, because only MPI 4 has them, and Open MPI 4
 * has them under other names.
 */
#ifndef HUD_TESTS_FORMS_H
#define HUD_TESTS_FORMS_H

#define _GNU_SOURCE
#include "kinds.h"

#include <dlfcn.h>
#include <sys/mman.h>

enum form { BLOCKING, NONBLOCKING, PERSISTENT, FORMS };

enum kind_of_call {
    BARRIER,
    BCAST,
    REDUCE,
    ALLREDUCE,
    REDUCE_SCATTER,
    REDUCE_SCATTER_BLOCK,
    SCAN,
    EXSCAN,
    GATHER,
    GATHERV,
    SCATTER,
    SCATTERV,
    ALLGATHER,
    ALLGATHERV,
    ALLTOALL,
    ALLTOALLV,
    ALLTOALLW,
    CALLS
};

enum { RANKS_MAX = 64 };

/* The arguments passed to MPI. */
struct arguments {
    const void *in;
    void *out;
    int in_count, out_count, in_counts[RANKS_MAX], out_counts[RANKS_MAX];
    int in_places[RANKS_MAX], out_places[RANKS_MAX], root;
    MPI_Datatype in_type, out_type, in_types[RANKS_MAX], out_types[RANKS_MAX];
    MPI_Op op;
    MPI_Comm comm;
    bool no_in, no_out; /* MPI ignores the arrays for the sent or for the received blocks */
};

/* Returns a pointer for an array ignored by MPI: alternately NULL and an address that crashes a
 * reader, as a freed array may. */
static UNUSED void *no_array(void)
{
    static void *page;
    static unsigned turn;

    if (!page)
        page = mmap(NULL, 4096, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    return turn++ % 2 ? page : NULL;
}

#define IN_ARRAY(name) (a->no_in ? no_array() : a->in_##name)
#define OUT_ARRAY(name) (a->no_out ? no_array() : a->out_##name)

#define ARGS_BARRIER comm
#define ARGS_BCAST out, a->out_count, a->out_type, a->root, a->comm
#define ARGS_REDUCE in, a->out, a->in_count, a->in_type, a->op, a->root, a->comm
#define ARGS_ALLREDUCE in, a->out, a->in_count, a->in_type, a->op, a->comm
#define ARGS_REDUCE_SCATTER in, a->out, a->out_counts, a->in_type, a->op, a->comm
#define ARGS_REDUCE_SCATTER_BLOCK in, a->out, a->out_count, a->in_type, a->op, a->comm
#define ARGS_GATHER in, a->in_count, a->in_type, a->out, a->out_count, a->out_type, a->root, a->comm
#define ARGS_GATHERV                                                                               \
    in, a->in_count, a->in_type, a->out, OUT_ARRAY(counts), OUT_ARRAY(places), a->out_type,        \
        a->root, a->comm
#define ARGS_SCATTERV                                                                              \
    in, IN_ARRAY(counts), IN_ARRAY(places), a->in_type, a->out, a->out_count, a->out_type,         \
        a->root, a->comm
#define ARGS_ALLGATHER in, a->in_count, a->in_type, a->out, a->out_count, a->out_type, a->comm
#define ARGS_ALLGATHERV                                                                            \
    in, a->in_count, a->in_type, a->out, a->out_counts, a->out_places, a->out_type, a->comm
#define ARGS_ALLTOALLV                                                                             \
    in, IN_ARRAY(counts), IN_ARRAY(places), a->in_type, a->out, a->out_counts, a->out_places,      \
        a->out_type, a->comm
#define ARGS_ALLTOALLW                                                                             \
    in, IN_ARRAY(counts), IN_ARRAY(places), IN_ARRAY(types), a->out, a->out_counts, a->out_places, \
        a->out_types, a->comm

/* ROW(kind, name, last part of its MPI names, arguments) */
#define ROWS(ROW)                                                                                  \
    ROW(BARRIER, barrier, Barrier, ARGS_BARRIER)                                                   \
    ROW(BCAST, bcast, Bcast, ARGS_BCAST)                                                           \
    ROW(REDUCE, reduce, Reduce, ARGS_REDUCE)                                                       \
    ROW(ALLREDUCE, allreduce, Allreduce, ARGS_ALLREDUCE)                                           \
    ROW(REDUCE_SCATTER, reduce_scatter, Reduce_scatter, ARGS_REDUCE_SCATTER)                       \
    ROW(REDUCE_SCATTER_BLOCK, reduce_scatter_block, Reduce_scatter_block,                          \
        ARGS_REDUCE_SCATTER_BLOCK)                                                                 \
    ROW(SCAN, scan, Scan, ARGS_ALLREDUCE)                                                          \
    ROW(EXSCAN, exscan, Exscan, ARGS_ALLREDUCE)                                                    \
    ROW(GATHER, gather, Gather, ARGS_GATHER)                                                       \
    ROW(GATHERV, gatherv, Gatherv, ARGS_GATHERV)                                                   \
    ROW(SCATTER, scatter, Scatter, ARGS_GATHER)                                                    \
    ROW(SCATTERV, scatterv, Scatterv, ARGS_SCATTERV)                                               \
    ROW(ALLGATHER, allgather, Allgather, ARGS_ALLGATHER)                                           \
    ROW(ALLGATHERV, allgatherv, Allgatherv, ARGS_ALLGATHERV)                                       \
    ROW(ALLTOALL, alltoall, Alltoall, ARGS_ALLGATHER)                                              \
    ROW(ALLTOALLV, alltoallv, Alltoallv, ARGS_ALLTOALLV)                                           \
    ROW(ALLTOALLW, alltoallw, Alltoallw, ARGS_ALLTOALLW)

static void *persistent_function(const char *name)
{
    char other[64];
    void *found = dlsym(RTLD_DEFAULT, name);

    if (found && MPI_VERSION >= 4)
        return found;
    snprintf(other, sizeof other, "MPIX_%s", name + 4);
    void *extension = dlsym(RTLD_DEFAULT, other);
    return extension ? extension : found;
}

#define ROW(kind, name, Name, args)                                                                \
    static int call_##name(const struct arguments *a, enum form form, MPI_Request *request)        \
    {                                                                                              \
        if (form == BLOCKING)                                                                      \
            return MPI_##Name(a->args);                                                            \
        if (form == NONBLOCKING)                                                                   \
            return MPI_I##name(a->args, request);                                                  \
        int (*init)() = (int (*)())persistent_function("MPI_" #Name "_init");                      \
        return init ? init(a->args, MPI_INFO_NULL, request) : MPI_ERR_OTHER;                       \
    }
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wstrict-prototypes"
ROWS(ROW)
#pragma GCC diagnostic pop
#undef ROW

static const struct {
    const char *name;
    int (*call)(const struct arguments *a, enum form form, MPI_Request *request);
} collectives[CALLS] = {
#define ROW(kind, name, Name, args) [kind] = { #name, call_##name },
    ROWS(ROW)
#undef ROW
};

/* Reports whether persistent collectives are tested. MPICH's own, to which huddle falls back, fail
 * when they are started again. */
static UNUSED bool has_persistent(void)
{
#ifdef OPEN_MPI
    return persistent_function("MPI_Barrier_init") != NULL;
#else
    return false;
#endif
}

#endif
