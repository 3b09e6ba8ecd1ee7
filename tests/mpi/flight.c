/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * flight.c - many nonblocking collectives in flight on many communicators, and the memory that they
 * use.
 *
 *   flight [--requests N] [--comms N] [--bounded]     defaults: 1000 on 20
 *
 * Sections: sums, which complete together by MPI_Waitall; all collectives, with types that are
 * freed early, which complete in a different order on each rank; the same twice more. Rank 0 prints
 * the memory used. --bounded: private memory must be within the bounds in docs/running.md, and
 * later requests must reuse the memory of the first.
 */
#include "pieces.h"

enum {
    REQUEST_MAX = 2048,  /* bytes per request, with the MPI's own */
    MEMBER_MAX = 512,    /* additional bytes per rank, for a collective with blocks */
    COMM_MAX = 64 << 10, /* bytes for a communicator with requests in flight */
    ANYWAY = 4 << 20     /* bytes for any number of requests; pools of the MPI */
};

static MPI_Op composition;
static int requests = 1000, comms = 20;
static bool bounded;
static MPI_Comm *comm;

/* ---- memory ---------------------------------------------------------------------------------- */

struct memory {
    long private_bytes, shared_bytes;
};

static struct memory in_use(void)
{
    struct memory found = { 0, 0 };
    FILE *file = fopen("/proc/self/status", "r");
    char line[128];
    long kb;

    while (file && fgets(line, sizeof line, file)) {
        if (sscanf(line, "RssAnon: %ld", &kb) == 1)
            found.private_bytes = kb << 10;
        if (sscanf(line, "RssShmem: %ld", &kb) == 1)
            found.shared_bytes = kb << 10;
    }
    if (file)
        fclose(file);
    check(found.private_bytes > 0, "no memory in /proc/self/status");
    return found;
}

/* Checks the memory used by the started requests since `before`. The first requests may use
 * each_max bytes each. Later requests have an each_max of 0. */
static void judge(const char *name, const struct memory *before, long each_max)
{
    struct memory now = in_use();
    long more = now.private_bytes - before->private_bytes,
         max = requests * each_max + (each_max ? comms * (long)COMM_MAX : 0) + ANYWAY;

    if (world_rank == 0)
        printf("%s: %ld KB private for %d requests on %d communicators, %ld KB shared\n", name,
               more >> 10, requests, comms, (now.shared_bytes - before->shared_bytes) >> 10);
    if (bounded)
        check(more <= max, "%s: %ld bytes of private memory for %d requests, more than %ld", name,
              more, requests, max);
}

/* ---- sums ------------------------------------------------------------------------------------ */

static void sums(void)
{
    size_t count = (size_t)requests;
    MPI_Request *request = allocate(count * sizeof *request);
    MPI_Status *statuses = allocate(count * sizeof *statuses);
    int *in = allocate(count * sizeof *in), *out = allocate(count * sizeof *out);

    memset(request, 0, count * sizeof *request);
    memset(statuses, 0, count * sizeof *statuses);
    for (int i = 0; i < requests; i++) {
        in[i] = world_rank + i;
        out[i] = 0;
    }
    struct memory before = in_use();
    for (int i = 0; i < requests; i++)
        MPI_Iallreduce(&in[i], &out[i], 1, MPI_INT, MPI_SUM, comm[i % comms], &request[i]);
    judge("sums", &before, REQUEST_MAX);
    MPI_Waitall(requests, request, statuses);
    for (int i = 0; i < requests; i++)
        if (!check(out[i] == world_size * i + world_size * (world_size - 1) / 2,
                   "sum %d of %d is wrong", i, requests))
            break;
    free(request);
    free(statuses);
    free(in);
    free(out);
    section("sums");
}

/* ---- all collectives ------------------------------------------------------------------------- */

static void shuffle(int *order)
{
    static uint64_t own;

    own += (uint64_t)world_rank + 1;
    for (int i = 0; i < requests; i++) {
        int at = (int)draw(&own, (uint64_t)i + 1);
        order[i] = order[at];
        order[at] = i;
    }
}

static void all(const char *name, long each_max, uint64_t id)
{
    struct piece **pieces = allocate((size_t)requests * sizeof(struct piece *));
    int *order = allocate((size_t)requests * sizeof *order);

    for (int i = 0; i < requests; i++)
        pieces[i] = piece_make((enum kind_of_call)(i % CALLS), comm[i / CALLS % comms], i, i % 7,
                               i % 3 == 0, i, composition, id + (uint64_t)i);
    shuffle(order);
    struct memory before = in_use();
    for (int i = 0; i < requests; i++) {
        struct piece *p = pieces[i];
        int error = collectives[p->what].call(&p->a, NONBLOCKING, &p->request);
        check(error == MPI_SUCCESS, "the start of %s: error %d", collectives[p->what].name, error);
        piece_free_types(p);
    }
    judge(name, &before, each_max);
    for (int i = 0; i < requests; i++) {
        struct piece *p = pieces[order[i]];
        int error = MPI_Wait(&p->request, MPI_STATUS_IGNORE);
        piece_check(p, NONBLOCKING, error);
    }
    for (int i = 0; i < requests; i++)
        piece_free(pieces[i]);
    free(pieces);
    free(order);
    section(name);
}

static void read_words(int argc, char **argv)
{
    for (int i = 1; i < argc; i++)
        if (strcmp(argv[i], "--bounded") == 0)
            bounded = true;
        else if (strcmp(argv[i], "--requests") == 0 && i + 1 < argc)
            requests = atoi(argv[++i]);
        else if (strcmp(argv[i], "--comms") == 0 && i + 1 < argc)
            comms = atoi(argv[++i]);
        else
            check(false, "unknown option %s", argv[i]);
}

int main(int argc, char **argv)
{
    begin(&argc, &argv, MPI_THREAD_SINGLE);
    read_words(argc, argv);
    MPI_Op_create(compose, 0, &composition);
    comm = allocate((size_t)comms * sizeof *comm);
    for (int i = 0; i < comms; i++)
        MPI_Comm_dup(MPI_COMM_WORLD, &comm[i]);
    sums();
    all("all", REQUEST_MAX + world_size * (long)MEMBER_MAX, 1);
    all("again", 0, 1 << 20);
    all("once more", 0, 2 << 20);
    for (int i = 0; i < comms; i++)
        MPI_Comm_free(&comm[i]);
    free(comm);
    MPI_Op_free(&composition);
    return finish("flight");
}
