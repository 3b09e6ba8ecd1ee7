/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * check.h - shared by all MPI test programs: counted checks, sections that all ranks end together,
 * a seeded generator, byte patterns. Include it in one file of a program. Programs are plain MPI-3
 * and pass under any MPI, with huddle and without.
 */
#ifndef HUD_TESTS_CHECK_H
#define HUD_TESTS_CHECK_H

#include <mpi.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define UNUSED __attribute__((unused))

static int world_rank, world_size;
static int failures; /* failures of this rank */
static int
    calls_left; /* calls of this rank that fall back to the MPI, as far as the program can tell */

__attribute__((format(printf, 2, 3))) static UNUSED bool check(bool good, const char *format, ...)
{
    va_list args;

    if (good)
        return true;
    if (++failures <= 8) {
        char text[256];
        va_start(args, format);
        vsnprintf(text, sizeof text, format, args);
        va_end(args);
        printf("FAIL rank %d: %s\n", world_rank, text);
        fflush(stdout);
    }
    return false;
}

/* Returns the sum over all ranks. Uses point-to-point messages only, to be independent of the
 * collectives under test. */
static UNUSED int sum_of_all(int mine)
{
    int sum = mine, other;

    if (world_rank != 0) {
        MPI_Send(&mine, 1, MPI_INT, 0, 77, MPI_COMM_WORLD);
        MPI_Recv(&sum, 1, MPI_INT, 0, 78, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        return sum;
    }
    for (int r = 1; r < world_size; r++) {
        MPI_Recv(&other, 1, MPI_INT, r, 77, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        sum += other;
    }
    for (int r = 1; r < world_size; r++)
        MPI_Send(&sum, 1, MPI_INT, r, 78, MPI_COMM_WORLD);
    return sum;
}

/* Sends messages between all pairs, so that the MPI has allocated its own resources. */
static UNUSED void send_between_all(int bytes)
{
    char *out = calloc(2, (size_t)bytes), *in = out + bytes;

    for (int step = 1; step < world_size; step++)
        for (int i = 0; i < 20; i++)
            MPI_Sendrecv(out, bytes, MPI_BYTE, (world_rank + step) % world_size, 1, in, bytes,
                         MPI_BYTE, (world_rank + world_size - step) % world_size, 1, MPI_COMM_WORLD,
                         MPI_STATUS_IGNORE);
    free(out);
}

static UNUSED void section(const char *name)
{
    static int before;
    int now = sum_of_all(failures);

    if (world_rank == 0) {
        printf("%-10s %s\n", name, now == before ? "ok" : "FAILED");
        fflush(stdout);
    }
    before = now;
}

static UNUSED void begin(int *argc, char ***argv, int threads)
{
    int provided;

    MPI_Init_thread(argc, argv, threads, &provided);
    MPI_Comm_rank(MPI_COMM_WORLD, &world_rank);
    MPI_Comm_size(MPI_COMM_WORLD, &world_size);
    if (provided < threads) {
        if (world_rank == 0)
            printf("SKIP this MPI provides no such thread level\n");
        MPI_Finalize();
        exit(77);
    }
}

/* Prints the summary, finalizes MPI and returns the exit status. Must be the last statement of
 * main. */
static UNUSED int finish(const char *program)
{
    int sum = sum_of_all(failures), all_left = sum_of_all(calls_left);

    if (world_rank == 0 && all_left)
        printf("%d calls fall back to the MPI\n", all_left);
    if (world_rank == 0)
        printf("%s: %s, %d failures on %d ranks\n", program, sum ? "FAILED" : "passed", sum,
               world_size);
    fflush(stdout);
    MPI_Finalize();
    return sum ? 1 : 0;
}

/* ---- pseudo-random numbers and patterns (splitmix64) ---- */

static inline uint64_t mix(uint64_t z)
{
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
    return z ^ (z >> 31);
}

/* Returns a random number below `below`. Ranks that start from the same state draw the same
 * sequence. */
static UNUSED uint64_t draw(uint64_t *state, uint64_t below)
{
    *state += 0x9e3779b97f4a7c15u;
    return mix(*state) % below;
}

/* Fills in the bytes of message `id`. */
static UNUSED void pattern(unsigned char *to, size_t bytes, uint64_t id)
{
    for (size_t at = 0; at < bytes; at += 8) {
        uint64_t word = mix(id * 0x9e3779b97f4a7c15u + at);
        memcpy(to + at, &word, bytes - at < 8 ? bytes - at : 8);
    }
}

static UNUSED uint64_t now_ns(void)
{
    struct timespec t;

    clock_gettime(CLOCK_MONOTONIC, &t);
    return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

static UNUSED void pause_us(uint64_t us)
{
    struct timespec t = { .tv_sec = (time_t)(us / 1000000u),
                          .tv_nsec = (long)(us % 1000000u) * 1000 };

    nanosleep(&t, NULL);
}

static UNUSED void *allocate(size_t bytes)
{
    void *p = malloc(bytes ? bytes : 1);

    if (!p) {
        printf("FAIL rank %d: out of memory\n", world_rank);
        MPI_Abort(MPI_COMM_WORLD, 3);
    }
    return p;
}

#endif
