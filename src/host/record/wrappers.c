/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * wrappers.c - the functions that the recorder puts in front of MPI's.
 *
 * C programs and most Fortran bindings call MPI_<name>.  The Fortran bindings of Open MPI call
 * PMPI_<name>.  The wrappers of mpi_<name>_ and its variants only remember their caller; otherwise
 * the caller would be the binding.  All arguments are integers or pointers, and are passed on
 * unchanged.  The loader sets next_<name> before a function is called.
 */
#define _GNU_SOURCE
#include "host/kinds.h"
#include "host/record/quick.h"

#include <stdio.h>

/* SET(kind): the field of struct record_args, if it has one. */
#define SET(kind) KIND(SET_OF, kind)
#define SET_OF(name, type, side, copied, kept, passed, seen) SET_##seen(name)
#define SET_SEEN(name) .name = name,
#define SET_UNSEEN(name)

#define CALLER __builtin_return_address(0)

/* Counts the nesting of collectives in this thread (depth), because calls made by an MPI within a
 * collective are not the program's.  Remembers the caller of the binding (outer) that the program
 * called. */
static _Thread_local __attribute__((tls_model("initial-exec"))) int depth;
static _Thread_local __attribute__((tls_model("initial-exec"))) const void *outer;

enum {
#define NAMED(NAME, text) NAME_##NAME,
#include "host/loader/names.def"
    NAMES
};
_Static_assert((int)NAMES <= (int)RECORD_NAMES, "the names fit");

void hud_record_write_names(struct record *out)
{
    static const char *const texts[] = {
#define NAMED(NAME, text) text,
#include "host/loader/names.def"
    };
    for (int i = 0; i < NAMES; i++)
        snprintf(out->name[i], sizeof out->name[i], "%s", texts[i]);
    out->names = NAMES;
}

/* The blocks of a scatter are counted at the receivers. */
#define FROM_ROOT(name)                                                                            \
    (((int)(name) >= (int)NAME_Scatter && (int)(name) <= (int)NAME_Scatter_init) ||                \
     ((int)(name) >= (int)NAME_Scatterv && (int)(name) <= (int)NAME_Scatterv_init))

/* Calls the next library's function, and records the call if it is the program's own. */
#define BLOCKING true
#define STARTING false
#define INTS false
#define LARGE true
#define COLLECTIVE(symbol, NAME, is_blocking, is_large, ...)                                       \
    static void *next_##symbol;                                                                    \
    static uintptr_t record_##symbol(MAP(WORD, __VA_ARGS__))                                       \
    {                                                                                              \
        static const struct record_about about = { .name = NAME_##NAME,                            \
                                                   .blocking = (is_blocking),                      \
                                                   .large = (is_large),                            \
                                                   .from_root = FROM_ROOT(NAME_##NAME) };          \
        void *next = next_##symbol;                                                                \
        if (depth > 0)                                                                             \
            return PASS_ON(next, __VA_ARGS__);                                                     \
        const struct record_args peek = { JOIN(SET, __VA_ARGS__) };                                \
        const void *caller = outer ? outer : CALLER;                                               \
        const struct record_recent *recent = record_find(&about, &peek, caller);                   \
        struct record_visit visit;                                                                 \
        uintptr_t result;                                                                          \
        depth = 1;                                                                                 \
        if (recent && record_passes(&about, recent)) {                                             \
            struct record_cell *cell = recent->cell;                                               \
            uint64_t bytes = recent->bytes;                                                        \
            result = PASS_ON(next, __VA_ARGS__);                                                   \
            if (!record_passed(cell, bytes))                                                       \
                hud_record_exit_other(cell, bytes);                                                \
            depth = 0;                                                                             \
            return result;                                                                         \
        }                                                                                          \
        if (recent) {                                                                              \
            record_enter_again(&visit, &about, &peek, recent);                                     \
        } else {                                                                                   \
            const struct record_args args = peek;                                                  \
            hud_record_enter(&visit, &about, &args, caller);                                       \
        }                                                                                          \
        result = PASS_ON(next, __VA_ARGS__);                                                       \
        if (visit.cell)                                                                            \
            hud_record_exit(&visit);                                                               \
        depth = 0;                                                                                 \
        return result;                                                                             \
    }

/* A Fortran binding.  Its last argument is `error`. */
#define BINDING(symbol, ...)                                                                       \
    static void *next_##symbol;                                                                    \
    static uintptr_t record_##symbol(MAP(WORD, __VA_ARGS__))                                       \
    {                                                                                              \
        void *next = next_##symbol;                                                                \
        const void *before = outer;                                                                \
        outer = before ? before : CALLER;                                                          \
        uintptr_t result = PASS_ON(next, __VA_ARGS__);                                             \
        outer = before;                                                                            \
        return result;                                                                             \
    }
#include "host/loader/names.def"

/* Records the barrier of mpi_f08, which does not call the C function in MPICH.  Its communicator is
 * a structure of one Fortran handle, which is also MPICH's handle in C. */
static void *next_mpi_barrier_f08_;
static uintptr_t record_mpi_barrier_f08_(const uint32_t *comm, int *error)
{
    static const struct record_about about = { .name = NAME_Barrier, .blocking = true };
    uintptr_t (*next)(const uint32_t *, int *) =
        (uintptr_t(*)(const uint32_t *, int *))next_mpi_barrier_f08_;
    const void *before = outer;
    struct record_visit visit;
    bool here = depth == 0 && !hud_record_is_pointer_abi();

    outer = before ? before : CALLER;
    if (here) {
        const struct record_args args = { .comm = *comm };
        depth = 1;
        hud_record_enter(&visit, &about, &args, outer);
    }
    uintptr_t result = next(comm, error);
    if (here) {
        if (visit.cell)
            hud_record_exit(&visit);
        depth = 0;
    }
    outer = before;
    return result;
}

/* ---- finalization ---- */

#define AT_END(symbol, ...)                                                                        \
    static void *next_##symbol;                                                                    \
    static uintptr_t record_##symbol(MAP(WORD, __VA_ARGS__))                                       \
    {                                                                                              \
        hud_record_finish();                                                                       \
        return PASS_ON(next_##symbol, __VA_ARGS__);                                                \
    }
AT_END(mpi_finalize_, error)
AT_END(mpi_finalize_f08_, error)

/* A profiling tool calls PMPI_Finalize. */
#define AT_END_IN_C(symbol)                                                                        \
    static void *next_##symbol;                                                                    \
    static int record_##symbol(void)                                                               \
    {                                                                                              \
        hud_record_finish();                                                                       \
        return ((int (*)(void))next_##symbol)();                                                   \
    }
AT_END_IN_C(MPI_Finalize)
AT_END_IN_C(PMPI_Finalize)

/* ---- the table ---- */

#define WRAPPER(symbol, ...) HUD_WRAPPER(symbol, record_##symbol)
const struct hud_wrapper hud_record_wrappers[] = {
    WRAPPER(mpi_barrier_f08_) WRAPPER(mpi_finalize_) WRAPPER(mpi_finalize_f08_)
        WRAPPER(MPI_Finalize) WRAPPER(PMPI_Finalize)
#define COLLECTIVE WRAPPER
#define BINDING WRAPPER
#include "host/loader/names.def"
            { NULL, NULL, NULL },
};
