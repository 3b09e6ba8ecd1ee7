/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * trampolines.c - the MPI_* names that the preloaded library exports: those that a front end wraps,
 * and those that initialise an MPI.
 *
 * Interposition works only for names of the preloaded library itself, and before any MPI is known.
 * So each name here jumps through a table: to the front end's wrapper, or else to the definition
 * the caller would have found without us (first call: looked up; later calls: a load and a jump).
 * All arguments are integers or pointers, and travel unchanged: handles are ints in MPICH and
 * pointers in Open MPI.  The Fortran names are those that do not pass through the C function in
 * some MPI.
 *
 * A profiling tool preloaded before us sees the calls first.  If it goes on to PMPI_*, huddle does
 * not; nothing breaks.
 */
#define _GNU_SOURCE
#include "core/local.h"
#include "host/loader/loader.h"

#include <limits.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define ONE (uintptr_t a)
#define TWO (uintptr_t a, uintptr_t b)
#define THREE (uintptr_t a, uintptr_t b, uintptr_t c)
#define FOUR (uintptr_t a, uintptr_t b, uintptr_t c, uintptr_t d)
#define FIVE (uintptr_t a, uintptr_t b, uintptr_t c, uintptr_t d, uintptr_t e)
#define SIX (uintptr_t a, uintptr_t b, uintptr_t c, uintptr_t d, uintptr_t e, uintptr_t f)
#define SEVEN                                                                                      \
    (uintptr_t a, uintptr_t b, uintptr_t c, uintptr_t d, uintptr_t e, uintptr_t f, uintptr_t g)
#define EIGHT                                                                                      \
    (uintptr_t a, uintptr_t b, uintptr_t c, uintptr_t d, uintptr_t e, uintptr_t f, uintptr_t g,    \
     uintptr_t h)
#define NINE                                                                                       \
    (uintptr_t a, uintptr_t b, uintptr_t c, uintptr_t d, uintptr_t e, uintptr_t f, uintptr_t g,    \
     uintptr_t h, uintptr_t i)

/* name, parameters, arguments */
#define INITIALISERS(ROW)                                                                          \
    ROW(MPI_Init, TWO, (a, b))                                                                     \
    ROW(MPI_Init_thread, FOUR, (a, b, c, d))                                                       \
    ROW(mpi_init_, ONE, (a))                                                                       \
    ROW(mpi_init_thread_, THREE, (a, b, c))                                                        \
    ROW(mpi_init_f08_, ONE, (a))                                                                   \
    ROW(mpi_init_thread_f08_, THREE, (a, b, c))
/* Those that also have a name in _c, for counts larger than an int: with the largest count of a
 * call. */
#define LARGE(EACH, ROW)                                                                           \
    EACH(ROW, MPI_Allgather, SEVEN, (a, b, c, d, e, f, g), larger(b, e))                           \
    EACH(ROW, MPI_Allreduce, SIX, (a, b, c, d, e, f), c)                                           \
    EACH(ROW, MPI_Alltoall, SEVEN, (a, b, c, d, e, f, g), larger(b, e))                            \
    EACH(ROW, MPI_Bcast, FIVE, (a, b, c, d, e), b)                                                 \
    EACH(ROW, MPI_Exscan, SIX, (a, b, c, d, e, f), c)                                              \
    EACH(ROW, MPI_Gather, EIGHT, (a, b, c, d, e, f, g, h), larger(b, e))                           \
    EACH(ROW, MPI_Reduce, SEVEN, (a, b, c, d, e, f, g), c)                                         \
    EACH(ROW, MPI_Reduce_scatter_block, SIX, (a, b, c, d, e, f), c)                                \
    EACH(ROW, MPI_Scan, SIX, (a, b, c, d, e, f), c)                                                \
    EACH(ROW, MPI_Scatter, EIGHT, (a, b, c, d, e, f, g, h), larger(b, e))
#define BOTH(ROW, name, parameters, arguments, max)                                                \
    ROW(name, parameters, arguments) ROW(name##_c, parameters, arguments)
/* Those with arrays of counts, that a front end wraps in _c too: with the function that converts
 * the arrays. */
#define ARRAYS(EACH, ROW)                                                                          \
    EACH(ROW, MPI_Alltoallv, NINE, (a, b, c, d, e, f, g, h, i),                                    \
         hud_narrow_exchange(MPI_Alltoallv, a, b, c, d, e, f, g, h, i))                            \
    EACH(ROW, MPI_Alltoallw, NINE, (a, b, c, d, e, f, g, h, i),                                    \
         hud_narrow_exchange(MPI_Alltoallw, a, b, c, d, e, f, g, h, i))                            \
    EACH(ROW, MPI_Reduce_scatter, SIX, (a, b, c, d, e, f),                                         \
         hud_narrow_reduction(MPI_Reduce_scatter, a, b, c, d, e, f))
#define WRAPPED(ROW)                                                                               \
    ROW(MPI_Barrier, ONE, (a))                                                                     \
    ROW(mpi_barrier_f08_, TWO, (a, b))                                                             \
    ROW(MPI_Allgatherv, EIGHT, (a, b, c, d, e, f, g, h))                                           \
    ROW(MPI_Gatherv, NINE, (a, b, c, d, e, f, g, h, i))                                            \
    ROW(MPI_Scatterv, NINE, (a, b, c, d, e, f, g, h, i))                                           \
    ROW(MPI_Win_test, TWO, (a, b))                                                                 \
    LARGE(BOTH, ROW)                                                                               \
    ARRAYS(BOTH, ROW)
enum {
#define INDEX(name, parameters, arguments) AT_##name,
    INITIALISERS(INDEX) WRAPPED(INDEX)
#undef INDEX
        NAMES
};

static const char *const names[NAMES] = {
#define NAME(name, parameters, arguments) #name,
    INITIALISERS(NAME) WRAPPED(NAME)
#undef NAME
};

/* Each begins as the function that looks the next definition up. */
#define FIRST(name, parameters, arguments) static uintptr_t first_##name parameters;
INITIALISERS(FIRST)
WRAPPED(FIRST)
static _Atomic(void *) targets[NAMES] = {
#define TARGET(name, parameters, arguments) (void *)first_##name,
    INITIALISERS(TARGET) WRAPPED(TARGET)
#undef TARGET
};

#define EXPORT __attribute__((visibility("default")))
#define DECLARE(name, parameters, arguments) EXPORT uintptr_t name parameters;
INITIALISERS(DECLARE)
WRAPPED(DECLARE)

/*
 * MPI_Bcast_c and its kin, of an MPI that has none (Open MPI 4 and 5).  A program that uses a name
 * only where it is defined (mpi4py: a weak symbol) finds ours, so it must work.  More than an int
 * counts is an error, as it would have been without the name.
 */
static uintptr_t larger(uintptr_t a, uintptr_t b)
{
    return a > b ? a : b;
}

#define BY_INT(ROW, name, parameters, arguments, max)                                              \
    static uintptr_t by_int_##name parameters                                                      \
    {                                                                                              \
        return (max) <= INT_MAX ? name arguments : HUD_ERR_COUNT_OF_ALL;                           \
    }
LARGE(BY_INT, )

#define NARROWED(ROW, name, parameters, arguments, call)                                           \
    static uintptr_t by_int_##name parameters                                                      \
    {                                                                                              \
        return call;                                                                               \
    }
ARRAYS(NARROWED, )

static void *const fallbacks[NAMES] = {
#define FALLBACK(ROW, name, parameters, arguments, max) [AT_##name##_c] = (void *)by_int_##name,
    LARGE(FALLBACK, ) ARRAYS(FALLBACK, )
#undef FALLBACK
};

static void *look_up(int at, void *caller)
{
    void *next = hud_loader_next(names[at], caller);

    if (!next)
        next = fallbacks[at];
    if (!next) {
        fprintf(stderr, "huddle: %s is called, and no MPI in this process defines it\n", names[at]);
        abort(); /* without us the dynamic linker would have ended it */
    }
    local_set(&targets[at], next);
    return next;
}

void hud_trampolines_divert(const struct hud_wrapper *wrappers)
{
    for (; wrappers->name; wrappers++)
        for (int at = 0; at < NAMES; at++)
            if (strcmp(wrappers->name, names[at]) == 0)
                local_set(&targets[at], (void *)wrappers->function);
}

#define JUMP(function, parameters, arguments) ((uintptr_t(*) parameters)(function)) arguments

#define LOOK_UP(name, parameters, arguments)                                                       \
    static uintptr_t first_##name parameters                                                       \
    {                                                                                              \
        return JUMP(look_up(AT_##name, __builtin_return_address(0)), parameters, arguments);       \
    }
INITIALISERS(LOOK_UP)
WRAPPED(LOOK_UP)

#define INITIALISER(name, parameters, arguments)                                                   \
    uintptr_t name parameters                                                                      \
    {                                                                                              \
        hud_loader_attach();                                                                       \
        uintptr_t result = JUMP(local_get(&targets[AT_##name]), parameters, arguments);            \
        hud_loader_initialised();                                                                  \
        return result;                                                                             \
    }
INITIALISERS(INITIALISER)

#define FORWARD(name, parameters, arguments)                                                       \
    uintptr_t name parameters                                                                      \
    {                                                                                              \
        return JUMP(local_get(&targets[AT_##name]), parameters, arguments);                        \
    }
WRAPPED(FORWARD)
