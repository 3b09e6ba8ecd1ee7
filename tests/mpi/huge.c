/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * huge.c - gathers, scatters and prefix sums with more than 2^31 bytes per block, blocking and
 * nonblocking.
 *
 *   huge
 *
 * A block consists of 2^31 bytes that are not checked, and a tail that is checked. The unchecked
 * bytes are one piece of memory that is mapped repeatedly, so a block takes 2 MB of memory, and the
 * time of 2 GB. The count is in elements of 1 MB, and in MPIs with functions for large counts also
 * in bytes.
 */
#include "forms.h"

#include <sys/mman.h>
#include <unistd.h>

enum { PIECE = 1 << 20, PIECES = 2048, UNITS = PIECES + 1 }; /* the last unit is the tail */
static const size_t block_bytes = (size_t)UNITS * PIECE;

/* Maps memory for `blocks` blocks. Aborts the job if this fails. */
static unsigned char *room_for(int blocks)
{
    size_t bytes = block_bytes * (size_t)blocks;
    unsigned char *room = mmap(NULL, bytes, PROT_READ | PROT_WRITE,
                               MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    int file = memfd_create("blocks", 0);
    bool good = room != MAP_FAILED && file >= 0 && ftruncate(file, PIECE) == 0;

    for (int b = 0; good && b < blocks; b++)
        for (int i = 0; good && i < PIECES; i++)
            good = mmap(room + (size_t)b * block_bytes + (size_t)i * PIECE, PIECE,
                        PROT_READ | PROT_WRITE, MAP_SHARED | MAP_FIXED, file, 0) != MAP_FAILED;
    close(file);
    if (!good)
        MPI_Abort(MPI_COMM_WORLD, 3);
    return room;
}

static unsigned char *tail_of(unsigned char *room, int block)
{
    return room + (size_t)block * block_bytes + (size_t)PIECES * PIECE;
}

static void judge(const char *name, unsigned char *room, int block, uint64_t id)
{
    static unsigned char want[PIECE];

    pattern(want, PIECE, id);
    check(memcmp(tail_of(room, block), want, PIECE) == 0, "%s: block %d is wrong beyond 2^31 bytes",
          name, block);
    memset(tail_of(room, block), 0, PIECE);
}

/* Makes a gather or scatter. The tail of each rank's block has the rank as its id. */
static void gather(enum kind_of_call what, enum form form, unsigned char *one, unsigned char *all,
                   MPI_Datatype unit)
{
    bool scatters = what == SCATTER || what == SCATTERV, to_one = what == GATHER || what == GATHERV;
    struct arguments a = { .in = scatters ? all : one,
                           .out = scatters ? one : all,
                           .in_count = UNITS,
                           .out_count = UNITS,
                           .in_type = unit,
                           .out_type = unit,
                           .comm = MPI_COMM_WORLD };
    MPI_Request request = MPI_REQUEST_NULL;

    for (int r = 0; r < world_size; r++) {
        a.in_counts[r] = a.out_counts[r] = UNITS;
        a.in_places[r] = a.out_places[r] = r * UNITS;
        if (scatters && world_rank == 0)
            pattern(tail_of(all, r), PIECE, (uint64_t)r);
    }
    if (!scatters)
        pattern(tail_of(one, 0), PIECE, (uint64_t)world_rank);
    int error = collectives[what].call(&a, form, &request);
    if (form == NONBLOCKING && error == MPI_SUCCESS)
        error = MPI_Wait(&request, MPI_STATUS_IGNORE);
    check(error == MPI_SUCCESS, "%s: error %d", collectives[what].name, error);
    if (scatters)
        judge(collectives[what].name, one, 0, (uint64_t)world_rank);
    for (int r = 0; !scatters && (!to_one || world_rank == 0) && r < world_size; r++)
        judge(collectives[what].name, all, r, (uint64_t)r);
}

#if MPI_VERSION >= 4
/* Makes prefix sums. The tail of rank r has the value 1 + r. */
static void prefixes(unsigned char *in, unsigned char *out)
{
    MPI_Request request[2];
    MPI_Count count = (MPI_Count)block_bytes;
    int before = world_rank * (world_rank + 1) / 2;

    memset(tail_of(in, 0), 1 + world_rank, PIECE);
    for (int turn = 0; turn < 4; turn++) {
        bool own = turn % 2 == 0;
        int want = own ? before + world_rank + 1 : before;
        if (turn < 2)
            (own ? MPI_Scan_c : MPI_Exscan_c)(in, out, count, MPI_UINT8_T, MPI_SUM, MPI_COMM_WORLD);
        else
            (own ? MPI_Iscan_c : MPI_Iexscan_c)(in, out, count, MPI_UINT8_T, MPI_SUM,
                                                MPI_COMM_WORLD, &request[0]);
        if (turn >= 2)
            MPI_Wait(&request[0], MPI_STATUS_IGNORE);
        for (int i = 0; i < PIECE && (own || world_rank > 0); i++)
            if (!check(tail_of(out, 0)[i] == want, "%s: element %d beyond 2^31 is %d, expected %d",
                       own ? "scan" : "exscan", i, tail_of(out, 0)[i], want))
                break;
    }
    section("prefixes");
}

static void large_counts(unsigned char *one, unsigned char *all)
{
    MPI_Count count = (MPI_Count)block_bytes, counts[RANKS_MAX];
    MPI_Aint places[RANKS_MAX];
    MPI_Request request;

    for (int r = 0; r < world_size; r++) {
        counts[r] = count;
        places[r] = (MPI_Aint)(block_bytes * (size_t)r);
    }
    pattern(tail_of(one, 0), PIECE, (uint64_t)world_rank);
    MPI_Allgatherv_c(one, count, MPI_BYTE, all, counts, places, MPI_BYTE, MPI_COMM_WORLD);
    for (int r = 0; r < world_size; r++)
        judge("MPI_Allgatherv_c", all, r, (uint64_t)r);
    MPI_Igatherv_c(one, count, MPI_BYTE, all, counts, places, MPI_BYTE, 0, MPI_COMM_WORLD,
                   &request);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    for (int r = 0; world_rank == 0 && r < world_size; r++)
        judge("MPI_Igatherv_c", all, r, (uint64_t)r);
    section("counts");
}
#else
static void prefixes(unsigned char *in, unsigned char *out)
{
    (void)in, (void)out;
}

static void large_counts(unsigned char *one, unsigned char *all)
{
    (void)one, (void)all;
}
#endif

int main(int argc, char **argv)
{
    MPI_Datatype unit;

    begin(&argc, &argv, MPI_THREAD_SINGLE);
    unsigned char *one = room_for(1), *all = room_for(world_size);
    MPI_Type_contiguous(PIECE, MPI_BYTE, &unit);
    MPI_Type_commit(&unit);
    for (int form = 0; form < PERSISTENT; form++)
        for (int what = GATHER; what <= ALLGATHERV; what++)
            gather((enum kind_of_call)what, (enum form)form, one, all, unit);
    section("types");
    large_counts(one, all);
    prefixes(one, all);
    MPI_Type_free(&unit);
    return finish("huge");
}
