/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * denied.c - makes broadcasts, gathers and scatters while the kernel forbids some ranks to read or
 * write other processes' memory. All data must arrive nevertheless.
 *
 * Forbidden calls stay forbidden, so a team that was set up before gets errors in every
 * combination.
 */
#include "check.h"
#include "forbid.h"

enum { MAX_INTS = 3 << 20, GAP = 3 }; /* ints of a message; types with gaps send every GAP-th int */

static int *got, *want;

static bool spread_on(unsigned spread, int rank)
{
    return spread >> rank % 8 & 1;
}

/* Broadcasts contiguous data, or with gaps between the elements at every rank whose bit is set in
 * `spread`. */
static void one(int root, int count, unsigned spread, const char *when)
{
    bool gaps = spread_on(spread, world_rank);
    int step = gaps ? GAP : 1;
    MPI_Datatype type = MPI_INT;

    pattern((unsigned char *)want, (size_t)count * sizeof *want, (uint64_t)(root * 7 + count));
    memset(got, 0xA5, (size_t)count * (size_t)step * sizeof *got);
    for (int i = 0; world_rank == root && i < count; i++)
        got[i * step] = want[i];
    if (gaps) {
        MPI_Type_vector(count, 1, GAP, MPI_INT, &type);
        MPI_Type_commit(&type);
    }
    MPI_Bcast(got, gaps ? 1 : count, type, root, MPI_COMM_WORLD);
    int i = 0;
    while (i < count && got[i * step] == want[i] &&
           (!gaps || i == count - 1 || got[i * step + 1] == (int)0xA5A5A5A5))
        i++;
    check(i == count, "%s: int %d of %d from root %d is wrong", when, i, count, root);
    if (gaps)
        MPI_Type_free(&type);
}

/* ---- blocks of equal or of different sizes ---- */

enum { RANKS_MAX = 16 };

/* Returns a type of an int, followed by a gap if `gaps` is set. */
static MPI_Datatype type_of(bool gaps)
{
    MPI_Datatype element = MPI_INT, type;

    if (gaps)
        MPI_Type_create_resized(MPI_INT, 0, GAP * (MPI_Aint)sizeof(int), &element);
    MPI_Type_dup(element, &type);
    MPI_Type_commit(&type);
    if (gaps)
        MPI_Type_free(&element);
    return type;
}

static int value_of(int rank, int i, int root)
{
    return (int)mix((uint64_t)(rank * 31 + root) << 32 | (unsigned)i);
}

static void fill(int *at, int rank, int count, int step, int root)
{
    for (int i = 0; i < count; i++)
        at[i * step] = value_of(rank, i, root);
}

static void check_block(const int *at, int rank, int count, int step, int root, const char *when)
{
    int i = 0;

    while (i < count && at[i * step] == value_of(rank, i, root) &&
           (step == 1 || at[i * step + 1] == (int)0xA5A5A5A5))
        i++;
    check(i == count, "%s: int %d of %d of rank %d's block, root %d, is wrong", when, i, count,
          rank, root);
}

/* Gathers and scatters blocks. The root's blocks are in `got`, and each rank's own block is in
 * `want`. */
static void blocks(int root, int count, bool equal, unsigned spread, const char *when)
{
    int counts[RANKS_MAX], places[RANKS_MAX], total = 0;
    bool gaps = spread_on(spread, world_rank);
    int step = gaps ? GAP : 1;
    MPI_Datatype type = type_of(gaps);

    for (int r = 0; r < world_size; r++) {
        counts[r] = r % 3 == 2 && !equal ? count / 3 : count;
        places[r] = total;
        total += counts[r];
    }
    int own = counts[world_rank];
    memset(got, 0xA5, (size_t)total * (size_t)step * sizeof *got);
    memset(want, 0xA5, (size_t)own * (size_t)step * sizeof *want);
    fill(want, world_rank, own, step, root);
    if (equal)
        MPI_Gather(want, own, type, got, own, type, root, MPI_COMM_WORLD);
    else
        MPI_Gatherv(want, own, type, got, counts, places, type, root, MPI_COMM_WORLD);
    for (int r = 0; world_rank == root && r < world_size; r++)
        check_block(got + places[r] * step, r, counts[r], step, root, when);
    memset(want, 0xA5, (size_t)own * (size_t)step * sizeof *want);
    if (equal)
        MPI_Scatter(got, own, type, want, own, type, root, MPI_COMM_WORLD);
    else
        MPI_Scatterv(got, counts, places, type, want, own, type, root, MPI_COMM_WORLD);
    check_block(want, world_rank, own, step, root, when);
    MPI_Type_free(&type);
}

static void all(const char *when)
{
    static const int counts[] = { 1, 3, 1000, 70001, MAX_INTS / GAP };

    for (size_t i = 0; i < sizeof counts / sizeof *counts; i++)
        for (int root = 0; root < world_size; root++)
            for (unsigned spread = 0; spread < 4; spread++)
                one(root, counts[i], spread * 85, when); /* no rank, even ranks, odd ranks, all
                                                          * ranks */
    for (size_t i = 0; i < sizeof counts / sizeof *counts; i++)
        for (int root = 0; root < world_size; root++)
            for (unsigned spread = 0; spread < 8; spread++)
                blocks(root, counts[i] / world_size, spread < 4, spread % 4 * 85, when);
    MPI_Barrier(MPI_COMM_WORLD);
    section(when);
}

/* Forbids a system call at one rank. */
static void deny(int rank, const char *name)
{
    char names[32];

    snprintf(names, sizeof names, "%s", name);
    if (world_rank == rank && !check(forbid(names) == 0, "cannot forbid %s", name))
        MPI_Abort(MPI_COMM_WORLD, 3);
}

int main(int argc, char **argv)
{
    begin(&argc, &argv, MPI_THREAD_SINGLE);
    if (!check(world_size <= RANKS_MAX, "at most %d ranks", RANKS_MAX))
        MPI_Abort(MPI_COMM_WORLD, 3);
    got = allocate(MAX_INTS * sizeof *got);
    want = allocate(MAX_INTS * sizeof *want);
    all("allowed");
    deny(world_size - 1, "process_vm_readv");
    all("reading");
    deny(0, "process_vm_writev");
    all("writing");
    deny(0, "process_vm_readv");
    deny(world_size - 1, "process_vm_writev");
    all("both");
    free(got);
    free(want);
    return finish("denied");
}
