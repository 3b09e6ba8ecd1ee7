/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * spans.c - makes barriers, broadcasts, sums, gathers, scatters and exchanges on communicators
 * whose ranks are placed on the nodes in different ways: in order, round-robin, backwards, with
 * nodes of unequal size, without the first rank, in halves. Meanwhile a receive from any source
 * with any tag is pending on each communicator, which must not get a message of a collective.
 * Nonblocking collectives are in flight among the others.
 *
 *   spans [MAX_BYTES]     bytes of the largest broadcast
 */
#include "check.h"

enum { SUM_MOST = 60000 };

static size_t most = 200000;
static uint64_t id;
static bool counted; /* whether this rank is on the node of rank 0, whose ranks the statistics
                      * count */

static void broadcasts(MPI_Comm comm, int rank, int size, const char *what)
{
    const size_t bytes[] = { 1, 100, 8191, 8192, 8193, 65536, most };

    for (size_t i = 0; i < sizeof bytes / sizeof *bytes; i++)
        for (int root = 0; root < size; root++) {
            unsigned char *want = allocate(bytes[i]), *got = allocate(bytes[i]);
            pattern(want, bytes[i], ++id);
            if (rank == root)
                memcpy(got, want, bytes[i]);
            MPI_Bcast(got, (int)bytes[i], MPI_BYTE, root, comm);
            check(memcmp(got, want, bytes[i]) == 0, "%s: wrong broadcast of %zu bytes from root %d",
                  what, bytes[i], root);
            free(want);
            free(got);
        }
}

/* Broadcasts every second element of an array, which is not contiguous. */
static void strided(MPI_Comm comm, int rank, int size, const char *what)
{
    enum { ELEMENTS = 3000 };
    static int64_t numbers[2 * ELEMENTS];
    MPI_Datatype type;
    bool good = true;

    MPI_Type_vector(ELEMENTS, 1, 2, MPI_INT64_T, &type);
    MPI_Type_commit(&type);
    for (int i = 0; i < 2 * ELEMENTS; i++)
        numbers[i] = rank == size - 1 ? i : -1;
    MPI_Bcast(numbers, 1, type, size - 1, comm);
    for (int i = 0; i < 2 * ELEMENTS; i++)
        good = good && numbers[i] == (rank == size - 1 || i % 2 == 0 ? i : -1);
    check(good, "%s: wrong broadcast of every second number", what);
    MPI_Type_free(&type);
}

static void sums(MPI_Comm comm, int rank, int size, const char *what)
{
    static double mine[SUM_MOST], all[SUM_MOST];
    const int counts[] = { 1, 13, 1024, 1025, 8191, SUM_MOST };

    for (size_t k = 0; k < sizeof counts / sizeof *counts; k++) {
        bool good = true;
        for (int i = 0; i < counts[k]; i++)
            mine[i] = rank * 1000 + i;
        MPI_Allreduce(mine, all, counts[k], MPI_DOUBLE, MPI_SUM, comm);
        for (int i = 0; i < counts[k]; i++)
            good = good && all[i] == 500.0 * size * (size - 1) + (double)i * size;
        MPI_Allreduce(MPI_IN_PLACE, mine, counts[k], MPI_DOUBLE, MPI_MAX, comm);
        for (int i = 0; i < counts[k]; i++)
            good = good && mine[i] == (size - 1) * 1000 + i;
        check(good, "%s: wrong sums of %d numbers", what, counts[k]);
    }
}

/* Gathers and reduces blocks of equal sizes, and of sizes that grow with the rank. */
static void blocks(MPI_Comm comm, int rank, int size, const char *what)
{
    const int lengths[] = { 1, 700, 30000 };

    for (size_t k = 0; k < sizeof lengths / sizeof *lengths; k++) {
        int n = lengths[k], all = n * size, *counts = allocate(2 * (size_t)size * sizeof(int)),
            *begins = counts + size, end = 0;
        int64_t *in = allocate((size_t)all * sizeof *in),
                *out = allocate((size_t)all * sizeof *out);
        bool good = true;
        for (int r = 0; r < size; r++) {
            counts[r] = n * (r + 1) / size;
            begins[r] = end;
            end += counts[r];
        }
        for (int i = 0; i < all; i++)
            in[i] = rank * 1000 + i;
        MPI_Allgather(in, n, MPI_INT64_T, out, n, MPI_INT64_T, comm);
        for (int i = 0; i < all; i++)
            good = good && out[i] == i / n * 1000 + i % n;
        memset(out, 0, (size_t)all * sizeof *out);
        MPI_Allgatherv(in, counts[rank], MPI_INT64_T, out, counts, begins, MPI_INT64_T, comm);
        for (int r = 0; r < size; r++)
            for (int i = 0; i < counts[r]; i++)
                good = good && out[begins[r] + i] == r * 1000 + i;
        check(good, "%s: wrong blocks of %d numbers", what, n);
        MPI_Reduce_scatter(in, out, counts, MPI_INT64_T, MPI_SUM, comm);
        for (int i = 0; i < counts[rank]; i++)
            good = good && out[i] == 500 * size * (size - 1) + (int64_t)(begins[rank] + i) * size;
        MPI_Reduce_scatter_block(MPI_IN_PLACE, in, n, MPI_INT64_T, MPI_SUM, comm);
        for (int i = 0; i < n; i++)
            good = good && in[i] == 500 * size * (size - 1) + (int64_t)(rank * n + i) * size;
        check(good, "%s: wrong blocks of sums of %d numbers", what, n);
        free(counts);
        free(in);
        free(out);
    }
}

/* Returns the step between tested roots, which are the first and the last rank. */
static int next_root(int size)
{
    return size > 1 ? size - 1 : 1;
}

/* Reduces to each tested root, also in place. */
static void reduces(MPI_Comm comm, int rank, int size, const char *what)
{
    static double mine[SUM_MOST], all[SUM_MOST];
    const int counts[] = { 1, 1024, 1025, SUM_MOST };

    for (size_t k = 0; k < sizeof counts / sizeof *counts; k++)
        for (int root = 0; root < size; root += next_root(size)) {
            bool good = true, in_place = root % 2 == 1 && rank == root;
            double *out = in_place ? mine : all;
            for (int i = 0; i < counts[k]; i++)
                mine[i] = rank * 1000 + i;
            MPI_Reduce(in_place ? MPI_IN_PLACE : mine, out, counts[k], MPI_DOUBLE, MPI_SUM, root,
                       comm);
            for (int i = 0; i < counts[k] && rank == root; i++)
                good = good && out[i] == 500.0 * size * (size - 1) + (double)i * size;
            check(good, "%s: wrong sums of %d numbers to root %d", what, counts[k], root);
        }
}

/* Maps x -> a x + b under composition, which is associative but not commutative. */
struct map {
    uint32_t a, b;
};

static void compose(void *in, void *inout, int *count, MPI_Datatype *type)
{
    const struct map *first = in;
    struct map *then = inout;

    (void)type;
    for (int i = 0; i < *count; i++)
        then[i] = (struct map){ first[i].a * then[i].a, first[i].a * then[i].b + first[i].b };
}

static struct map map_of(int rank, int i)
{
    return (struct map){ (uint32_t)(2 * rank + 3), (uint32_t)(rank * 77 + i) };
}

static bool composed(const struct map *got, int count, int size)
{
    bool good = true;

    for (int i = 0; i < count; i++) {
        struct map all = map_of(0, i);
        for (int r = 1; r < size; r++) {
            struct map one = map_of(r, i);
            all = (struct map){ all.a * one.a, all.a * one.b + all.b };
        }
        good = good && got[i].a == all.a && got[i].b == all.b;
    }
    return good;
}

/* Reports whether the ranks of each node are consecutive. */
static bool in_ranges(MPI_Comm comm, int size)
{
    char own[MPI_MAX_PROCESSOR_NAME] = "", *all = allocate((size_t)size * sizeof own);
    int length;
    bool ranges = true;

    MPI_Get_processor_name(own, &length);
    MPI_Allgather(own, sizeof own, MPI_CHAR, all, sizeof own, MPI_CHAR, comm);
    for (int r = 0; r < size; r++)
        for (int later = r + 2; later < size; later++)
            ranges =
                ranges &&
                (strcmp(all + (size_t)r * sizeof own, all + (size_t)later * sizeof own) != 0 ||
                 strcmp(all + (size_t)r * sizeof own, all + (size_t)(later - 1) * sizeof own) == 0);
    free(all);
    return ranges;
}

/* Reduces with a non-commutative operation. If a node is not a range of ranks, such calls fall back
 * to the MPI. */
static void in_order(MPI_Comm comm, int rank, int size, const char *what)
{
    enum { MAX_COUNT = 20000 };
    static struct map mine[MAX_COUNT], all[MAX_COUNT];
    const int counts[] = { 1, MAX_COUNT };
    bool falls_back = !in_ranges(comm, size) && counted;
    MPI_Datatype type;
    MPI_Op op;

    MPI_Type_contiguous(2, MPI_UINT32_T, &type);
    MPI_Type_commit(&type);
    MPI_Op_create(compose, 0, &op);
    for (size_t k = 0; k < sizeof counts / sizeof *counts; k++) {
        for (int i = 0; i < counts[k]; i++)
            mine[i] = map_of(rank, i);
        for (int root = 0; root < size; root += next_root(size)) {
            memset(all, 0, sizeof all);
            calls_left += falls_back;
            MPI_Reduce(mine, all, counts[k], type, op, root, comm);
            check(rank != root || composed(all, counts[k], size),
                  "%s: wrong composition of %d maps to root %d", what, counts[k], root);
        }
        calls_left += falls_back;
        MPI_Allreduce(MPI_IN_PLACE, mine, counts[k], type, op, comm);
        check(composed(mine, counts[k], size), "%s: wrong composition of %d maps", what, counts[k]);
    }
    MPI_Op_free(&op);
    MPI_Type_free(&type);
}

/* Returns element i of the block from rank `from` to rank `to`. */
static int64_t number(int from, int to, int i)
{
    return from * 1000000 + to * 1000 + i % 997;
}

/* Returns the length of a block: n numbers, or with `parts` (from + 2 to) n / 4. */
static int length_of(bool parts, int n, int from, int to)
{
    return parts ? (from + 2 * to) * n / 4 : n;
}

struct parts {
    int *count, *begin, end;
};

static struct parts cut(bool parts, int n, int size, int rank, bool sends)
{
    struct parts p = { .count = allocate(2 * (size_t)size * sizeof(int)) };

    p.begin = p.count + size;
    for (int r = 0; r < size; r++) {
        p.count[r] = sends ? length_of(parts, n, rank, r) : length_of(parts, n, r, rank);
        p.begin[r] = p.end;
        p.end += p.count[r];
    }
    return p;
}

static void exchange(MPI_Comm comm, int rank, int size, int n, bool parts, const char *what)
{
    struct parts out = cut(parts, n, size, rank, true), in = cut(parts, n, size, rank, false);
    int64_t *from = allocate(((size_t)out.end + 1) * sizeof *from),
            *to = allocate(((size_t)in.end + 1) * sizeof *to);
    bool good = true;

    for (int r = 0; r < size; r++)
        for (int i = 0; i < out.count[r]; i++)
            from[out.begin[r] + i] = number(rank, r, i);
    if (parts)
        MPI_Alltoallv(from, out.count, out.begin, MPI_INT64_T, to, in.count, in.begin, MPI_INT64_T,
                      comm);
    else
        MPI_Alltoall(from, n, MPI_INT64_T, to, n, MPI_INT64_T, comm);
    for (int r = 0; r < size; r++)
        for (int i = 0; i < in.count[r]; i++)
            good = good && to[in.begin[r] + i] == number(r, rank, i);
    check(good, "%s: wrong exchange of %d numbers%s", what, n, parts ? ", unequal" : "");
    if (!parts)
        MPI_Alltoall(MPI_IN_PLACE, 0, MPI_DATATYPE_NULL, from, n, MPI_INT64_T, comm);
    for (int i = 0; i < n * size && !parts; i++)
        good = good && from[i] == number(i / n, rank, i % n);
    check(good, "%s: wrong exchange of %d numbers in place", what, n);
    free(out.count);
    free(in.count);
    free(from);
    free(to);
}

/* Gathers at the root, and scatters the same blocks again. */
static void rooted(MPI_Comm comm, int rank, int root, int n, bool parts, const char *what)
{
    int size, own;

    MPI_Comm_size(comm, &size);
    struct parts all = cut(parts, n, size, root, false);
    own = all.count[rank];
    int64_t *mine = allocate(((size_t)own + 1) * sizeof *mine),
            *whole = allocate(((size_t)all.end + 1) * sizeof *whole);
    bool good = true, in_place = rank == root && root % 2 == 1;

    for (int i = 0; i < own; i++)
        mine[i] = whole[all.begin[rank] + i] = number(rank, root, i);
    const void *in = in_place ? MPI_IN_PLACE : mine;
    if (parts)
        MPI_Gatherv(in, own, MPI_INT64_T, whole, all.count, all.begin, MPI_INT64_T, root, comm);
    else
        MPI_Gather(in, n, MPI_INT64_T, whole, n, MPI_INT64_T, root, comm);
    for (int r = 0; r < size && rank == root; r++)
        for (int i = 0; i < all.count[r]; i++)
            good = good && whole[all.begin[r] + i] == number(r, root, i);
    check(good, "%s: wrong blocks of %d numbers%s to root %d", what, n, parts ? ", unequal" : "",
          root);
    memset(mine, 0, (size_t)own * sizeof *mine);
    void *out = in_place ? MPI_IN_PLACE : mine;
    if (parts)
        MPI_Scatterv(whole, all.count, all.begin, MPI_INT64_T, out, own, MPI_INT64_T, root, comm);
    else
        MPI_Scatter(whole, n, MPI_INT64_T, out, n, MPI_INT64_T, root, comm);
    for (int i = 0; i < own && !in_place; i++)
        good = good && mine[i] == number(rank, root, i);
    check(good, "%s: wrong blocks of %d numbers%s from root %d", what, n, parts ? ", unequal" : "",
          root);
    free(all.count);
    free(mine);
    free(whole);
}

static void exchanges(MPI_Comm comm, int rank, int size, const char *what)
{
    const int lengths[] = { 1, 700, 9000 };

    for (size_t k = 0; k < sizeof lengths / sizeof *lengths; k++)
        for (int parts = 0; parts < 2; parts++) {
            exchange(comm, rank, size, lengths[k], parts != 0, what);
            for (int root = 0; root < size; root += next_root(size))
                rooted(comm, rank, root, lengths[k], parts != 0, what);
        }
}

/* Checks that no rank leaves before the last has entered. All nodes have the same clock here. */
static void barriers(MPI_Comm comm, int rank, int size, const char *what)
{
    for (int late = 0; late < size; late++) {
        int64_t times[2];
        MPI_Barrier(comm);
        if (rank == late)
            pause_us(3000);
        times[0] = (int64_t)now_ns();
        MPI_Barrier(comm);
        times[1] = -(int64_t)now_ns();
        MPI_Allreduce(MPI_IN_PLACE, times, 2, MPI_INT64_T, MPI_MAX, comm);
        check(times[0] <= -times[1], "%s: a rank left a barrier before rank %d entered", what,
              late);
    }
}

static void all_of(MPI_Comm comm, const char *what)
{
    int rank, size, taken, one = 1, caught = 0;
    MPI_Request any, barrier;

    MPI_Comm_rank(comm, &rank);
    MPI_Comm_size(comm, &size);
    id = 0; /* not all ranks are in all communicators */
    MPI_Irecv(&caught, 1, MPI_INT, MPI_ANY_SOURCE, MPI_ANY_TAG, comm, &any);
    barriers(comm, rank, size, what);
    MPI_Ibarrier(comm, &barrier);
    broadcasts(comm, rank, size, what);
    strided(comm, rank, size, what);
    sums(comm, rank, size, what);
    blocks(comm, rank, size, what);
    reduces(comm, rank, size, what);
    in_order(comm, rank, size, what);
    exchanges(comm, rank, size, what);
    MPI_Wait(&barrier, MPI_STATUS_IGNORE);
    MPI_Test(&any, &taken, MPI_STATUS_IGNORE);
    check(!taken && caught == 0, "%s: a receive took a message of a collective", what);
    MPI_Barrier(comm); /* all ranks have checked */
    MPI_Send(&one, 1, MPI_INT, (rank + 1) % size, 5, comm);
    MPI_Wait(&any, MPI_STATUS_IGNORE);
    check(caught == 1, "%s: a receive did not get its message", what);
    MPI_Barrier(comm);
}

static void split(int color, int key, const char *what)
{
    MPI_Comm comm;

    MPI_Comm_split(MPI_COMM_WORLD, color, key, &comm);
    if (comm != MPI_COMM_NULL) {
        all_of(comm, what);
        MPI_Comm_free(&comm);
    }
    section(what);
}

int main(int argc, char **argv)
{
    begin(&argc, &argv, MPI_THREAD_SINGLE);
    if (argc > 1)
        most = strtoul(argv[1], NULL, 10);
    char first[MPI_MAX_PROCESSOR_NAME] = "", own[MPI_MAX_PROCESSOR_NAME] = "";
    int half = (world_size + 1) / 2, length;
    MPI_Get_processor_name(own, &length);
    memcpy(first, own, sizeof first);
    MPI_Bcast(first, sizeof first, MPI_CHAR, 0, MPI_COMM_WORLD);
    counted = strcmp(first, own) == 0;
    all_of(MPI_COMM_WORLD, "world");
    section("world");
    split(0, -world_rank, "backwards");
    split(0, world_rank % half, "in turn");
    split(world_rank == 0 ? MPI_UNDEFINED : 0, 0, "ragged");
    split(world_rank % 2, 0, "halves");
    return finish("spans");
}
