/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * collectives.c - how long the collectives of an MPI take (shots.h says how it is measured,
 * session.h the options), built once for every MPI's ABI.
 *
 * Exit status: 0, 1 wrong bytes, 2 not understood, or the ranks are not on one node.  Between the
 * measured calls no function of the MPI is used but MPI_Iprobe, now and then in a long wait.
 */
#include "data.h"
#include "session.h"

#include <mpi.h>
#include <stdio.h>
#include <string.h>

enum { ALIGN = 128, MAX_RANKS = 1024 };

static int call_barrier(const struct shots_call *c)
{
    (void)c;
    return MPI_Barrier(MPI_COMM_WORLD);
}

static int call_bcast(const struct shots_call *c)
{
    return MPI_Bcast(c->out, (int)c->bytes, MPI_BYTE, c->root, MPI_COMM_WORLD);
}

static int call_reduce(const struct shots_call *c)
{
    return MPI_Reduce(c->in, c->out, (int)data_elements(c), MPI_DOUBLE, MPI_SUM, c->root,
                      MPI_COMM_WORLD);
}

static int call_allreduce(const struct shots_call *c)
{
    return MPI_Allreduce(c->in, c->out, (int)data_elements(c), MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
}

static int call_reduce_scatter(const struct shots_call *c)
{
    static int counts[MAX_RANKS];

    if (data_elements(c) % (size_t)c->ranks == 0)
        return MPI_Reduce_scatter_block(c->in, c->out, (int)data_block(c, c->rank), MPI_DOUBLE,
                                        MPI_SUM, MPI_COMM_WORLD);
    if (c->ranks > MAX_RANKS)
        return 1;
    for (int r = 0; r < c->ranks; r++)
        counts[r] = (int)data_block(c, r);
    return MPI_Reduce_scatter(c->in, c->out, counts, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
}

static int call_alltoall(const struct shots_call *c)
{
    return MPI_Alltoall(c->in, (int)c->bytes, MPI_BYTE, c->out, (int)c->bytes, MPI_BYTE,
                        MPI_COMM_WORLD);
}

/* The blocks of an alltoall, one by one. */
static int call_alltoallv(const struct shots_call *c)
{
    static int counts[MAX_RANKS], places[MAX_RANKS];

    if (c->ranks > MAX_RANKS)
        return 1;
    for (int r = 0; r < c->ranks; r++) {
        counts[r] = (int)c->bytes;
        places[r] = r * (int)c->bytes;
    }
    return MPI_Alltoallv(c->in, counts, places, MPI_BYTE, c->out, counts, places, MPI_BYTE,
                         MPI_COMM_WORLD);
}

static const struct shots_coll colls[] = {
#define DATA(name, moves, fill, wrong) { #name, moves, call_##name, fill, wrong },
#include "data.def"
#undef DATA
    { .name = NULL },
};

static void progress(void)
{
    int flag;

    MPI_Iprobe(MPI_ANY_SOURCE, 0, MPI_COMM_SELF, &flag, MPI_STATUS_IGNORE);
}

/* The ranks' page, in a window of shared memory; NULL: they are not all on one node. */
static struct shots_page *shared_page(int rank, int ranks, MPI_Win *window)
{
    MPI_Aint bytes = (MPI_Aint)shots_page_bytes(ranks) + ALIGN;
    MPI_Comm node;
    void *base;
    int here, unit;

    MPI_Comm_split_type(MPI_COMM_WORLD, MPI_COMM_TYPE_SHARED, rank, MPI_INFO_NULL, &node);
    MPI_Comm_size(node, &here);
    if (here != ranks)
        return NULL;
    MPI_Win_allocate_shared(rank == 0 ? bytes : 0, 1, MPI_INFO_NULL, node, &base, window);
    MPI_Win_shared_query(*window, 0, &bytes, &unit, &base);
    if (rank == 0)
        memset(base, 0, (size_t)bytes);
    MPI_Barrier(node);
    MPI_Comm_free(&node);
    return (struct shots_page *)(((uintptr_t)base + ALIGN - 1) & ~(uintptr_t)(ALIGN - 1));
}

/* The MPI's name and version, on one line, as JSON takes it. */
static const char *version_of(char *version)
{
    int length;

    MPI_Get_library_version(version, &length);
    version[strcspn(version, "\n,")] = '\0';
    for (char *c = version; *c; c++)
        *c = *c < ' ' || *c == '"' || *c == '\\' ? ' ' : *c;
    return version;
}

/* Rank 0 says what is wrong. */
static int refuse(int rank, const char *format, const char *word)
{
    if (rank == 0)
        fprintf(stderr, format, word);
    MPI_Finalize();
    return 2;
}

int main(int argc, char **argv)
{
    char version[MPI_MAX_LIBRARY_VERSION_STRING];
    struct session session;
    struct shots shots;
    MPI_Win window;
    int rank, ranks;

    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    const char *unknown = session_parse(&session, colls, argc, argv);
    if (unknown)
        return refuse(rank, "huddle: bench: %s: not an option, or not a value of it\n", unknown);
    struct shots_page *page = ranks < 2 ? NULL : shared_page(rank, ranks, &window);
    if (!page)
        return refuse(rank, "huddle: bench: needs two ranks at least, all on one %s\n", "node");
    shots_join(&shots, page, rank, ranks, progress);
    int status = session_run(&session, &shots, version_of(version), NULL);
    MPI_Win_free(&window);
    MPI_Finalize();
    return status;
}
