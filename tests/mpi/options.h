/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * options.h - shared by the differential programs: their options, the communicators for random
 * calls, and the running time.
 *
 *   [--brief] [--beyond] [--fixed] [--seed N] [--seconds N] [--most BYTES]
 *
 * --brief: fewer roots, sizes and rounds. --most: maximum bytes of a message (for slow machines).
 * --fixed: HUDDLE_REDUCE_ORDER=fixed is set. --beyond: also calls that fail or crash in some MPIs
 * without huddle, for runs in which huddle handles every call; see `beyond` in each program.
 */
#ifndef HUD_TESTS_OPTIONS_H
#define HUD_TESTS_OPTIONS_H

#include "check.h"

static struct options {
    bool brief, beyond, fixed;
    uint64_t seed, seconds, max;
} options = { .seed = 1, .seconds = 0, .max = 4u << 20 };

/* Reads options of the form --NAME or --NAME VALUE. Prints the program's name and seed. */
static void read_options(int argc, char **argv, const char *program)
{
    static const struct {
        const char *name;
        uint64_t *value;
        bool *on;
    } table[] = { { "--seed", &options.seed, NULL },   { "--seconds", &options.seconds, NULL },
                  { "--most", &options.max, NULL },    { "--brief", NULL, &options.brief },
                  { "--fixed", NULL, &options.fixed }, { "--beyond", NULL, &options.beyond } };

    for (int i = 1; i < argc; i++) {
        size_t t = 0, rows = sizeof table / sizeof *table;
        while (t < rows && strcmp(argv[i], table[t].name) != 0)
            t++;
        if (!check(t < rows && (table[t].on || i + 1 < argc), "unknown option %s", argv[i]))
            return;
        if (table[t].on)
            *table[t].on = true;
        else
            *table[t].value = strtoull(argv[++i], NULL, 0);
    }
    if (world_rank == 0)
        printf("%s: %d ranks, seed %llu\n", program, world_size, (unsigned long long)options.seed);
}

/* Returns the root to test after `root`: all ranks in turn, or first, middle and last. */
static UNUSED int next_root(int root, int size)
{
    int step = options.brief || size > 16 ? (size + 1) / 2 : 1;

    return root == size - 1 ? size : root + step < size ? root + step : size - 1;
}

/* Makes a communicator for a slot: 0 world, 1 dup, 2 odd and even, 3 reversed, 4 dup of a split, 5
 * self. */
enum { COMMS = 6 };

static UNUSED MPI_Comm make_comm(int slot)
{
    MPI_Comm comm, split;

    if (slot == 5) {
        MPI_Comm_dup(MPI_COMM_SELF, &comm);
        return comm;
    }
    if (slot == 2 || slot == 4)
        MPI_Comm_split(MPI_COMM_WORLD, world_rank % 2, world_rank, &split);
    else
        MPI_Comm_split(MPI_COMM_WORLD, 0, slot == 3 ? -world_rank : world_rank, &split);
    if (slot != 4 && slot != 1)
        return split;
    MPI_Comm_dup(split, &comm);
    MPI_Comm_free(&split);
    return comm;
}

static UNUSED bool time_left(uint64_t start)
{
    int go = now_ns() - start < options.seconds * 1000000000u;

    for (int r = 1; r < world_size; r++) {
        if (world_rank == 0)
            MPI_Send(&go, 1, MPI_INT, r, 79, MPI_COMM_WORLD);
        else if (world_rank == r)
            MPI_Recv(&go, 1, MPI_INT, 0, 79, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    }
    return go;
}

/* Makes random calls on all communicators, in an order determined by the seed, while communicators
 * are created and freed. */
static UNUSED void random_sequence(void (*random_call)(MPI_Comm comm, uint64_t *state), int batch)
{
    MPI_Comm comm[COMMS];
    uint64_t state = options.seed, start = now_ns();

    for (int slot = 0; slot < COMMS; slot++)
        comm[slot] = make_comm(slot);
    do {
        for (int i = 0; i < batch; i++)
            random_call(comm[draw(&state, COMMS)], &state);
        int slot = (int)draw(&state, COMMS);
        MPI_Comm_free(&comm[slot]);
        comm[slot] = make_comm(slot);
    } while (time_left(start));
    for (int slot = 0; slot < COMMS; slot++)
        MPI_Comm_free(&comm[slot]);
    section("random");
}

#endif
