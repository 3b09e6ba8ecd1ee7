/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * order.c - checks the bits of floating-point sums.
 *
 *   order OPTIONS    (options.h)
 *
 * The terms differ by many orders of magnitude, so another order of the ranks gives other bits. In
 * any order, an allreduce gives all ranks the same bits. --fixed (HUDDLE_REDUCE_ORDER=fixed is
 * set): every reduction gives the sum of the ranks' terms from rank 0 to the last, for any size,
 * root and alignment, in calls of all elements and of parts.
 */
#include "options.h"

enum { MAX_COUNT = 1 << 18 };
static double terms[MAX_COUNT], sums[MAX_COUNT], left_to_right[MAX_COUNT], parts[MAX_COUNT];
static float small_terms[MAX_COUNT], small_sums[MAX_COUNT], small_left_to_right[MAX_COUNT];

/* Returns element i of a rank: random digits times a power of two between -20 and 20. */
static double term(int rank, int i)
{
    uint64_t random = mix(mix(options.seed + (uint64_t)rank) + (uint64_t)i);
    double digits = (double)(random >> 11) / 9007199254740992.0 - 0.5;
    int power = (int)(random & 2047) % 41 - 20;

    return power < 0 ? digits / (double)(1 << -power) : digits * (double)(1 << power);
}

static void prepare(int size, int me, int count)
{
    for (int i = 0; i < count; i++) {
        terms[i] = term(me, i);
        small_terms[i] = (float)terms[i];
        left_to_right[i] = term(0, i);
        small_left_to_right[i] = (float)left_to_right[i];
        for (int r = 1; r < size; r++) {
            left_to_right[i] += term(r, i);
            small_left_to_right[i] += (float)term(r, i);
        }
    }
}

static void same_on_all(MPI_Comm comm, const double *mine, int count)
{
    int me, size;

    MPI_Comm_rank(comm, &me);
    MPI_Comm_size(comm, &size);
    for (int r = 1; r < size; r++) {
        if (me == 0)
            MPI_Send(mine, count, MPI_DOUBLE, r, 80, comm);
        if (me == r) {
            MPI_Recv(parts, count, MPI_DOUBLE, 0, 80, comm, MPI_STATUS_IGNORE);
            check(memcmp(parts, mine, (size_t)count * sizeof *mine) == 0,
                  "rank %d of %d has other bits than rank 0, %d elements", me, size, count);
        }
    }
}

static void in_order(const void *got, const void *want, int count, size_t bytes, const char *what)
{
    if (options.fixed)
        check(memcmp(got, want, (size_t)count * bytes) == 0,
              "%s, %d elements of %zu bytes: not the bits of the sum from left to right", what,
              count, bytes);
}

static void allreduces(MPI_Comm comm, int count)
{
    int part = count / 3 + 1;

    MPI_Allreduce(terms, sums, count, MPI_DOUBLE, MPI_SUM, comm);
    in_order(sums, left_to_right, count, sizeof *sums, "allreduce");
    same_on_all(comm, sums, count);
    MPI_Allreduce(small_terms, small_sums, count, MPI_FLOAT, MPI_SUM, comm);
    in_order(small_sums, small_left_to_right, count, sizeof *small_sums, "allreduce");
    memcpy(sums, terms, (size_t)count * sizeof *terms);
    MPI_Allreduce(MPI_IN_PLACE, sums, count, MPI_DOUBLE, MPI_SUM, comm);
    in_order(sums, left_to_right, count, sizeof *sums, "allreduce in place");
    for (int from = 0; from < count; from += part)
        MPI_Allreduce(terms + from, sums + from, part < count - from ? part : count - from,
                      MPI_DOUBLE, MPI_SUM, comm);
    in_order(sums, left_to_right, count, sizeof *sums, "allreduces of parts");
}

static void others(MPI_Comm comm, int size, int me, int count)
{
    int counts[1024], root = count % size, each = count / size;

    MPI_Reduce(terms, sums, count, MPI_DOUBLE, MPI_SUM, root, comm);
    if (me == root)
        in_order(sums, left_to_right, count, sizeof *sums, "reduce");
    for (int r = 0; r < size; r++)
        counts[r] = each;
    counts[size - 1] += count - each * size;
    MPI_Reduce_scatter(terms, sums, counts, MPI_DOUBLE, MPI_SUM, comm);
    in_order(sums, left_to_right + me * each, counts[me], sizeof *sums, "reduce_scatter");
    MPI_Reduce_scatter_block(terms, sums, each, MPI_DOUBLE, MPI_SUM, comm);
    in_order(sums, left_to_right + me * each, each, sizeof *sums, "reduce_scatter_block");
}

/* Makes reductions that are in flight together. */
static void requests(MPI_Comm comm, int size, int me, int count)
{
    enum { EACH = 3 };
    static double out[EACH][MAX_COUNT];
    int root = count % size, each = count / size;
    MPI_Request request[EACH];
    MPI_Status statuses[EACH];

    MPI_Iallreduce(terms, out[0], count, MPI_DOUBLE, MPI_SUM, comm, &request[0]);
    MPI_Ireduce(terms, out[1], count, MPI_DOUBLE, MPI_SUM, root, comm, &request[1]);
    MPI_Ireduce_scatter_block(terms, out[2], each, MPI_DOUBLE, MPI_SUM, comm, &request[2]);
    MPI_Waitall(EACH, request, statuses);
    in_order(out[0], left_to_right, count, sizeof **out, "iallreduce");
    same_on_all(comm, out[0], count);
    if (me == root)
        in_order(out[1], left_to_right, count, sizeof **out, "ireduce");
    in_order(out[2], left_to_right + me * each, each, sizeof **out, "ireduce_scatter_block");
}

/* Makes inclusive and exclusive prefix sums. */
static void prefixes(MPI_Comm comm, int size, int me, int count)
{
    MPI_Request request;

    for (int own = 1; own >= 0; own--) {
        int ranks = me + own;
        for (int i = 0; i < count; i++) {
            left_to_right[i] = term(0, i);
            for (int r = 1; r < ranks; r++)
                left_to_right[i] += term(r, i);
        }
        if (own)
            MPI_Scan(terms, sums, count, MPI_DOUBLE, MPI_SUM, comm);
        else
            MPI_Exscan(terms, sums, count, MPI_DOUBLE, MPI_SUM, comm);
        if (ranks > 0)
            in_order(sums, left_to_right, count, sizeof *sums, own ? "scan" : "exscan");
        if (own)
            MPI_Iscan(terms, parts, count, MPI_DOUBLE, MPI_SUM, comm, &request);
        else
            MPI_Iexscan(terms, parts, count, MPI_DOUBLE, MPI_SUM, comm, &request);
        MPI_Wait(&request, MPI_STATUS_IGNORE);
        if (ranks > 0)
            in_order(parts, left_to_right, count, sizeof *parts, own ? "iscan" : "iexscan");
    }
    prepare(size, me, count);
}

static void sums_on(MPI_Comm comm)
{
    static const int counts[] = { 1, 2, 14, 15, 130, 1025, 8191, 40000, MAX_COUNT };
    int me, size;

    MPI_Comm_rank(comm, &me);
    MPI_Comm_size(comm, &size);
    prepare(size, me, MAX_COUNT);
    for (size_t i = 0; i < sizeof counts / sizeof *counts - options.brief; i++) {
        allreduces(comm, counts[i]);
        others(comm, size, me, counts[i]);
        requests(comm, size, me, counts[i]);
        prefixes(comm, size, me, counts[i]);
    }
}

int main(int argc, char **argv)
{
    begin(&argc, &argv, MPI_THREAD_SINGLE);
    read_options(argc, argv, "order");
    if (world_size > 1024)
        MPI_Abort(MPI_COMM_WORLD, 2);
    for (int slot = 0; slot < COMMS; slot += 3) { /* world, reversed */
        MPI_Comm comm = make_comm(slot);
        sums_on(comm);
        MPI_Comm_free(&comm);
    }
    section("order");
    return finish("order");
}
