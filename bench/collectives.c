/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * collectives.c - measures how long the collectives of an MPI take; built once for every MPI's ABI.
 * shots.h has the method, session.h the options.
 *
 * Exit status: 0, 1 wrong bytes, 2 bad arguments, or the ranks are not on one node.  Between the
 * measured calls only MPI_Iprobe is called, from time to time in a long wait.
 */
#include "data.h"
#include "host/map.h"
#include "session.h"

#include <mpi.h>
#include <stdio.h>
#include <string.h>

enum { ALIGN = 128, MAX_RANKS = 1024 };

#define UNUSED __attribute__((unused)) /* a collective that huddle handles by others */

/* Counts and places of a rank's blocks, in elements: sent blocks or blocks of a result; received
 * blocks; and the count of a single block. */
static int counts[MAX_RANKS], places[MAX_RANKS], out_counts[MAX_RANKS], out_places[MAX_RANKS], one;
static MPI_Datatype types[MAX_RANKS];

/* Prepares a shot: data, and the counts of blocks, as for this rank as root.  Other ranks have the
 * same counts, or do not need them, and the next call of a loop may have another root. */
static void prepare(const struct shots_call *c)
{
    size_t element = coll_has(c->kind, COLL_REDUCES) ? sizeof(double) : 1;
    struct shots_call own = *c;

    data_fill(c);
    own.root = c->rank;
    for (int r = 0; r < c->ranks && r < MAX_RANKS; r++) {
        struct coll_piece to = data_piece(&own, c->rank, r), from = data_piece(&own, r, c->rank);
        counts[r] = (int)(to.bytes / element);
        places[r] = (int)(to.in_at / element);
        out_counts[r] = (int)from.bytes;
        out_places[r] = (int)from.out_at;
        types[r] = MPI_BYTE;
    }
    one = (int)data_piece(&own, c->rank, c->rank).bytes;
}

/* GIVE(kind): the argument of a call, for a kind of host/signatures.def. */
#define GIVE(kind) GIVE_##kind
#define GIVE_buffer c->out
#define GIVE_in c->in
#define GIVE_out c->out
#define GIVE_count                                                                                 \
    (int)(c->kind == COLL_REDUCE_SCATTER    ? (size_t)counts[0]                                    \
          : coll_has(c->kind, COLL_REDUCES) ? data_elements(c)                                     \
                                            : c->bytes)
#define GIVE_ins one
#define GIVE_outs one
#define GIVE_counts counts
#define GIVE_in_counts counts
#define GIVE_out_counts out_counts
#define GIVE_in_places places
#define GIVE_out_places out_places
#define GIVE_type                                                                                  \
    !coll_has(c->kind, COLL_REDUCES) ? MPI_BYTE : c->integers ? MPI_INT64_T : MPI_DOUBLE
#define GIVE_in_type MPI_BYTE
#define GIVE_out_type MPI_BYTE
#define GIVE_in_types types
#define GIVE_out_types types
#define GIVE_op MPI_SUM
#define GIVE_root c->root
#define GIVE_comm MPI_COMM_WORLD

static bool nonblocking; /* a call is started, and completed at once */

static int complete(int status, MPI_Request *request)
{
    return status == MPI_SUCCESS ? MPI_Wait(request, MPI_STATUS_IGNORE) : status;
}

#define HANDLED(Name, name, ...)                                                                   \
    static UNUSED int call_##name(const struct shots_call *c)                                      \
    {                                                                                              \
        MPI_Request request;                                                                       \
        (void)c;                                                                                   \
        if (nonblocking)                                                                           \
            return complete(MPI_I##name(MAP(GIVE, __VA_ARGS__), &request), &request);              \
        return MPI_##Name(MAP(GIVE, __VA_ARGS__));                                                 \
    }
#define PLAIN HANDLED
#define HANDLED_ARRAYS HANDLED
#include "host/signatures.def"

/* Calls MPI_(I)reduce_scatter_block if the blocks are equal, otherwise MPI_(I)reduce_scatter. */
static int call_reduce_blocks(const struct shots_call *c)
{
    if (data_elements(c) % (size_t)c->ranks != 0)
        return call_reduce_scatter(c);
    return call_reduce_scatter_block(c);
}

/* The calls of huddle's collectives. */
#define COLL(ID, name, ...) [COLL_##ID] = call_##name,
static int (*const calls[COLL_KINDS])(const struct shots_call *c) = {
#include "coll/coll.def"
};
#undef COLL

static struct shots_coll rows[COLL_KINDS + 1];

static const struct shots_coll *make_rows(int ranks)
{
    data_colls(NULL, prepare, rows);
    for (int kind = 0; kind < COLL_KINDS; kind++)
        rows[kind].call = kind == COLL_REDUCE_SCATTER ? call_reduce_blocks : calls[kind];
    return ranks <= MAX_RANKS ? rows : &rows[COLL_KINDS];
}

static void progress(void)
{
    int flag;

    MPI_Iprobe(MPI_ANY_SOURCE, 0, MPI_COMM_SELF, &flag, MPI_STATUS_IGNORE);
}

/* Allocates the ranks' page in a window of shared memory.  Returns NULL if the ranks are not all on
 * one node. */
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

/* Stores the MPI's name and version on a single line, without characters invalid in JSON.  Returns
 * `version`. */
static const char *version_of(char *version)
{
    int length;

    MPI_Get_library_version(version, &length);
    version[strcspn(version, "\n,")] = '\0';
    for (char *c = version; *c; c++)
        *c = *c < ' ' || *c == '"' || *c == '\\' ? ' ' : *c;
    return version;
}

/* Reports an error on rank 0.  Returns the exit status. */
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
    const char *unknown = session_parse(&session, make_rows(ranks), argc, argv);
    if (unknown)
        return refuse(rank, "huddle: bench: %s: not an option, or not a valid value\n", unknown);
    if (session.way == SHOTS_PERSISTENT) /* Open MPI 4 and MPICH 4 have no persistent collectives */
        return refuse(rank, "huddle: bench: --way %s: not possible with an MPI\n", "persistent");
    nonblocking = session.way == SHOTS_NONBLOCKING;
    struct shots_page *page = ranks < 2 ? NULL : shared_page(rank, ranks, &window);
    if (!page)
        return refuse(rank, "huddle: bench: needs two ranks at least, all on one %s\n", "node");
    shots_join(&shots, page, rank, ranks, progress);
    int status = session_run(&session, &shots, version_of(version), NULL);
    MPI_Win_free(&window);
    MPI_Finalize();
    return status;
}
