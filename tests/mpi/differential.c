/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * differential.c - compares barrier and broadcast of any MPI with the standard, byte by byte.
 *
 *   differential OPTIONS    (options.h)
 *
 * Every receive buffer lies between guard bytes. Gaps of a type, guards, and the root's buffer must
 * not change. Prints a line per section and one summary. Exits nonzero on any failure.
 */
#include "kinds.h"
#include "options.h"

static uint64_t message; /* number of the latest message, equal on all ranks */

/* Broadcasts `count` elements and checks them. */
static void broadcast(MPI_Comm comm, int root, const struct layout *l, int count, const char *what)
{
    int me;
    size_t bytes = laid_bytes(l) * (size_t)count;
    unsigned char *packed = allocate(bytes);
    struct area got = area_of(l, count), want = area_of(l, count);

    MPI_Comm_rank(comm, &me);
    pattern(packed, bytes, ++message ^ options.seed << 32);
    area_fill(&want, l, count, packed);
    if (me == root)
        memcpy(got.memory, want.memory, want.bytes);
    int error = MPI_Bcast(got.base, count, l->type, root, comm);
    check(error == MPI_SUCCESS && memcmp(got.memory, want.memory, want.bytes) == 0,
          "%s: %zu bytes from root %d: error %d or wrong bytes", what, bytes, root, error);
    free(packed);
    free(got.memory);
    free(want.memory);
}

static void broadcast_bytes(MPI_Comm comm, int root, int bytes, const char *what)
{
    struct layout l = laid_basic(MPI_BYTE, 1);

    broadcast(comm, root, &l, bytes, what);
    laid_free(&l);
}

/* Broadcasts a message of the given kind at this rank. Other ranks use other kinds of one family in
 * turn. */
static void broadcast_kind(MPI_Comm comm, int root, const struct kind *kind, int units)
{
    int count;
    struct layout l = kind->make(units, &count);

    MPI_Type_commit(&l.type);
    broadcast(comm, root, &l, count, kind->name);
    laid_free(&l);
}

static void sizes(void)
{
    static const int all[] = { 0,
                               1,
                               2,
                               3,
                               7,
                               8,
                               9,
                               64,
                               104,
                               111,
                               112,
                               113,
                               120,
                               128,
                               1000,
                               4095,
                               4096,
                               4097,
                               8191,
                               8192,
                               16385,
                               32767,
                               32768,
                               32769,
                               65535,
                               65536,
                               65537,
                               98304,
                               131072,
                               196607,
                               196608,
                               196609,
                               262144,
                               524289,
                               1 << 20,
                               (1 << 20) + 1,
                               (4 << 20) - 1,
                               4 << 20 };
    static const int few[] = { 0,    1,    8,     111,   112,    113,
                               4096, 4097, 32769, 65536, 196609, (1 << 20) + 1 };
    const int *size = options.brief ? few : all;
    size_t count = options.brief ? sizeof few / sizeof *few : sizeof all / sizeof *all;

    for (size_t i = 0; i < count; i++) {
        if ((uint64_t)size[i] > options.max)
            continue;
        for (int root = 0; root < world_size; root = next_root(root, world_size))
            broadcast_bytes(MPI_COMM_WORLD, root, size[i], "sizes");
    }
    section("sizes");
}

/* Broadcasts each kind on all ranks, then all kinds at once. */
static void types(void)
{
    static const int units[] = { 1, 2, 3, 85, 86, 700, 1365, 4097, 21846 }; /* 48 B ... 1 MB */

    for (size_t u = 0; u < sizeof units / sizeof *units; u++) {
        if ((uint64_t)units[u] * UNIT > options.max || (options.brief && u % 2 == 0 && u != 4))
            continue;
        for (size_t f = 0; f < sizeof families / sizeof *families; f++) {
            for (int k = 0; k < families[f].count; k++)
                broadcast_kind(MPI_COMM_WORLD, (k + (int)u) % world_size, &families[f].kinds[k],
                               units[u]);
            for (int turn = 0; turn < families[f].count; turn++)
                broadcast_kind(MPI_COMM_WORLD, turn % world_size,
                               &families[f].kinds[(world_rank * 5 + turn) % families[f].count],
                               units[u]);
        }
    }
    section("types");
}

/* Broadcasts no bytes: elements of several empty types, or count 0 on all ranks or (unless limited
 * to Open MPI's own behavior) on some. */
static void empty(void)
{
    for (int root = 0; root < world_size; root = next_root(root, world_size)) {
        for (int turn = 0; turn < 4; turn++) {
            int way = options.beyond ? (world_rank + turn) % 4
                      : turn == 3    ? 3
                                     : (world_rank + turn) % 3;
            struct layout l = way == 3 ? integer() : empties[way]();
            MPI_Type_commit(&l.type);
            broadcast(MPI_COMM_WORLD, root, &l, way == 3 ? 0 : 5, "empty");
            laid_free(&l);
            broadcast_bytes(MPI_COMM_WORLD, root, turn + 1, "after empty");
        }
        MPI_Barrier(MPI_COMM_WORLD);
    }
    section("empty");
}

/* Makes enough calls to use each algorithm. Afterwards advances the message number by a fixed
 * amount, because communicators of several sizes run at once and later messages must have the same
 * numbers on all ranks. */
static void exercise(MPI_Comm comm, const char *what)
{
    uint64_t next = message + 1000;
    int size;

    MPI_Comm_size(comm, &size);
    for (int root = 0; root < size; root = next_root(root, size)) {
        broadcast_bytes(comm, root, 40, what);
        MPI_Barrier(comm);
        broadcast_bytes(comm, root, 5000, what);
        broadcast_bytes(comm, root, options.max < 70000 ? (int)options.max : 70000, what);
    }
    MPI_Barrier(comm);
    message = next;
}

static void communicators(void)
{
    MPI_Comm comm[COMMS], before;

    exercise(MPI_COMM_SELF, "self");
    exercise(MPI_COMM_WORLD, "world");
    for (int slot = 0; slot < COMMS; slot++) {
        comm[slot] = make_comm(slot);
        exercise(comm[slot], "new communicator");
    }
    for (int slot = 0; slot < COMMS;
         slot += 2) { /* freed while others are in use, and their slots reused */
        MPI_Comm_free(&comm[slot]);
        exercise(comm[slot + 1], "others freed");
    }
    for (int slot = 0; slot < COMMS; slot += 2)
        comm[slot] = make_comm(slot);
    for (int slot = 0; slot < COMMS; slot++)
        exercise(comm[slot], "all live");
    for (int slot = 0; slot < COMMS; slot++)
        MPI_Comm_free(&comm[slot]);
    for (int i = 0; i < 5; i++) { /* the original is freed at once and never used */
        MPI_Comm_dup(MPI_COMM_WORLD, &before);
        MPI_Comm_dup(before, &comm[0]);
        MPI_Comm_free(&before);
        broadcast_bytes(comm[0], i % world_size, 100, "dup of a freed one");
        MPI_Comm_free(&comm[0]);
    }
    section("comms");
}

/* Checks that no rank leaves a barrier before the last rank has entered. Time stamps of a common
 * clock are compared at the end, so nothing else synchronizes the ranks. */
static void barriers(void)
{
    enum { ROUNDS = 60 };
    uint64_t entered[ROUNDS], left[ROUNDS], last[ROUNDS], first[ROUNDS], state = options.seed;

    for (int i = 0; i < ROUNDS; i++) {
        int late = (int)draw(&state, (uint64_t)world_size);
        if (late == world_rank && i % 2 == 0)
            pause_us(300);
        entered[i] = now_ns();
        MPI_Barrier(MPI_COMM_WORLD);
        left[i] = now_ns();
    }
    MPI_Allreduce(entered, last, ROUNDS, MPI_UINT64_T, MPI_MAX, MPI_COMM_WORLD);
    MPI_Allreduce(left, first, ROUNDS, MPI_UINT64_T, MPI_MIN, MPI_COMM_WORLD);
    for (int i = 0; i < ROUNDS; i++)
        check(last[i] <= first[i], "barrier %d: a rank left %lld ns before the last entered", i,
              (long long)(last[i] - first[i]));
    section("barrier");
}

/* Makes a barrier or a broadcast of random root, size and type. */
static void random_call(MPI_Comm comm, uint64_t *state)
{
    int what = (int)draw(state, 8), size;
    uint64_t bits = draw(state, 23), bytes = draw(state, ((uint64_t)1 << bits) + 1),
             root = draw(state, 1u << 20);
    uint64_t family = draw(state, 2), kind = draw(state, 100);

    bytes = bytes < options.max ? bytes : options.max;
    MPI_Comm_size(comm, &size);
    root %= (uint64_t)size;
    if (what < 3)
        MPI_Barrier(comm);
    else if (what < 6)
        broadcast_bytes(comm, (int)root, (int)bytes, "random");
    else
        broadcast_kind(comm, (int)root,
                       &families[family].kinds[(kind + (uint64_t)world_rank) %
                                               (uint64_t)families[family].count],
                       (int)(bytes / 4 / UNIT) + 1);
}

int main(int argc, char **argv)
{
    begin(&argc, &argv, MPI_THREAD_SINGLE);
    read_options(argc, argv, "differential");
    barriers();
    sizes();
    empty();
    types();
    communicators();
    random_sequence(random_call, options.brief ? 150 : 1000);
    return finish("differential");
}
