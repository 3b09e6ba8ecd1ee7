/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * wrappers.c - the functions that the recorder puts in front of MPI's.
 *
 * MPI_<name> is what C programs and most Fortran bindings call.  PMPI_<name> is what the Fortran
 * bindings of Open MPI call.  mpi_<name>_ and its kin only remember their caller, which would
 * otherwise be the binding.  All arguments are integers or pointers, and are passed on unchanged.
 * The loader sets next_<name> before a function is called.
 */
#define _GNU_SOURCE
#include "host/map.h"
#include "host/record/quick.h"

#include <stdio.h>

#define PARAM_buffer uintptr_t buffer
#define PARAM_in uintptr_t in
#define PARAM_out uintptr_t out
#define PARAM_count uintptr_t count
#define PARAM_ins uintptr_t ins
#define PARAM_outs uintptr_t outs
#define PARAM_counts uintptr_t counts
#define PARAM_in_counts uintptr_t in_counts
#define PARAM_out_counts uintptr_t out_counts
#define PARAM_in_places uintptr_t in_places
#define PARAM_out_places uintptr_t out_places
#define PARAM_in_bytes uintptr_t in_bytes
#define PARAM_out_bytes uintptr_t out_bytes
#define PARAM_type uintptr_t type
#define PARAM_in_type uintptr_t in_type
#define PARAM_out_type uintptr_t out_type
#define PARAM_in_types uintptr_t in_types
#define PARAM_out_types uintptr_t out_types
#define PARAM_op uintptr_t op
#define PARAM_root uintptr_t root
#define PARAM_comm uintptr_t comm
#define PARAM_request uintptr_t request
#define PARAM_info uintptr_t info
#define PARAM_error uintptr_t error
#define PARAM_words uintptr_t words
/* What the recorder looks at. */
#define SET_buffer .buffer = buffer,
#define SET_in .in = in,
#define SET_out .out = out,
#define SET_count .count = count,
#define SET_ins .ins = ins,
#define SET_outs .outs = outs,
#define SET_counts .counts = counts,
#define SET_in_counts .in_counts = in_counts,
#define SET_out_counts .out_counts = out_counts,
#define SET_in_places
#define SET_out_places
#define SET_in_bytes
#define SET_out_bytes
#define SET_type .type = type,
#define SET_in_type .in_type = in_type,
#define SET_out_type .out_type = out_type,
#define SET_in_types .in_types = in_types,
#define SET_out_types .out_types = out_types,
#define SET_op
#define SET_root .root = root,
#define SET_comm .comm = comm,
#define SET_request
#define SET_info

#define CALLER __builtin_return_address(0)
#define JUMP(at, ...) ((uintptr_t(*)(MAP(PARAM_, __VA_ARGS__)))(at))(__VA_ARGS__)

/* Depth of collectives in this thread: those that an MPI makes within another are not the
 * program's.  Caller of the binding that the program called. */
static _Thread_local __attribute__((tls_model("initial-exec"))) int depth;
static _Thread_local __attribute__((tls_model("initial-exec"))) const void *outer;

enum {
#define FORM(function, ...) NAME_##function,
#define LARGE(...)
#include "host/record/names.def"
    NAMES
};
_Static_assert((int)NAMES <= (int)RECORD_NAMES, "the names fit");

void hud_record_write_names(struct record *out)
{
    static const char *const texts[] = {
#define FORM(function, text, ...) text,
#define LARGE(...)
#include "host/record/names.def"
    };
    for (int i = 0; i < NAMES; i++)
        snprintf(out->name[i], sizeof out->name[i], "%s", texts[i]);
    out->names = NAMES;
}

/* The blocks of a scatter are counted where they arrive. */
#define FROM_ROOT(name)                                                                            \
    (((int)(name) >= (int)NAME_Scatter && (int)(name) <= (int)NAME_Scatter_init) ||                \
     ((int)(name) >= (int)NAME_Scatterv && (int)(name) <= (int)NAME_Scatterv_init))

/* The call goes to the next library, and is recorded if it is the program's own. */
#define BLOCKING true
#define STARTING false
#define RECORD(symbol, NAME, is_blocking, is_large, ...)                                           \
    static void *next_##symbol;                                                                    \
    static uintptr_t record_##symbol(MAP(PARAM_, __VA_ARGS__))                                     \
    {                                                                                              \
        static const struct record_about about = { .name = NAME,                                   \
                                                   .blocking = (is_blocking),                      \
                                                   .large = (is_large),                            \
                                                   .from_root = FROM_ROOT(NAME) };                 \
        void *next = next_##symbol;                                                                \
        if (depth > 0)                                                                             \
            return JUMP(next, __VA_ARGS__);                                                        \
        const struct record_args peek = { JOIN(SET_, __VA_ARGS__) };                               \
        const void *caller = outer ? outer : CALLER;                                               \
        const struct record_recent *recent = record_find(&about, &peek, caller);                   \
        struct record_visit visit;                                                                 \
        uintptr_t result;                                                                          \
        depth = 1;                                                                                 \
        if (recent && record_passes(&about, recent)) {                                             \
            struct record_cell *cell = recent->cell;                                               \
            uint64_t bytes = recent->bytes;                                                        \
            result = JUMP(next, __VA_ARGS__);                                                      \
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
        result = JUMP(next, __VA_ARGS__);                                                          \
        if (visit.cell)                                                                            \
            hud_record_exit(&visit);                                                               \
        depth = 0;                                                                                 \
        return result;                                                                             \
    }
#define FORM(function, text, blocking, ...)                                                        \
    RECORD(MPI_##function, NAME_##function, blocking, false, __VA_ARGS__)                          \
    RECORD(PMPI_##function, NAME_##function, blocking, false, __VA_ARGS__)
#define PERSISTENT(function, text, blocking, ...)                                                  \
    FORM(function, text, blocking, __VA_ARGS__)                                                    \
    RECORD(MPIX_##function, NAME_##function, blocking, false, __VA_ARGS__)                         \
    RECORD(PMPIX_##function, NAME_##function, blocking, false, __VA_ARGS__)
#define LARGE(function, narrow, blocking, ...)                                                     \
    RECORD(MPI_##function, NAME_##narrow, blocking, true, __VA_ARGS__)                             \
    RECORD(PMPI_##function, NAME_##narrow, blocking, true, __VA_ARGS__)
#include "host/record/names.def"

/* A Fortran binding.  `error` is its last argument. */
#define BINDING(symbol, ...)                                                                       \
    static void *next_##symbol;                                                                    \
    static uintptr_t record_##symbol(MAP(PARAM_, __VA_ARGS__))                                     \
    {                                                                                              \
        void *next = next_##symbol;                                                                \
        const void *before = outer;                                                                \
        outer = before ? before : CALLER;                                                          \
        uintptr_t result = JUMP(next, __VA_ARGS__);                                                \
        outer = before;                                                                            \
        return result;                                                                             \
    }
#define BINDINGS(name, ...)                                                                        \
    BINDING(mpi_##name##_, __VA_ARGS__, error)                                                     \
    BINDING(mpi_##name##_f08_, __VA_ARGS__, error)                                                 \
    BINDING(mpi_##name##_f08ts_, __VA_ARGS__, error)                                               \
    BINDING(mpi_i##name##_, __VA_ARGS__, request, error)                                           \
    BINDING(mpi_i##name##_f08_, __VA_ARGS__, request, error)                                       \
    BINDING(mpi_i##name##_f08ts_, __VA_ARGS__, request, error)
#define PLAIN(Name, name, ...)                                                                     \
    BINDING(mpi_##name##_, __VA_ARGS__, error)                                                     \
    BINDING(mpi_i##name##_, __VA_ARGS__, request, error)                                           \
    BINDING(mpi_i##name##_f08_, __VA_ARGS__, request, error)
#define HANDLED(Name, name, ...) BINDINGS(name, __VA_ARGS__)
#define HANDLED_ARRAYS HANDLED
#define NEIGHBORS(Name, name, ...) BINDINGS(neighbor_##name, __VA_ARGS__)
#include "host/signatures.def"

/* The barrier of mpi_f08 does not pass through C in MPICH.  Its communicator is a structure of one
 * handle of Fortran, which is MPICH's handle in C, too. */
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

/* ---- the end ---- */

#define AT_END(symbol, ...)                                                                        \
    static void *next_##symbol;                                                                    \
    static uintptr_t record_##symbol(MAP(PARAM_, __VA_ARGS__))                                     \
    {                                                                                              \
        hud_record_finish();                                                                       \
        return JUMP(next_##symbol, __VA_ARGS__);                                                   \
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

#define WRAPPER(symbol) { #symbol, (void (*)(void))record_##symbol, &next_##symbol },
#undef BINDING
#define BINDING(symbol, ...) WRAPPER(symbol)
const struct hud_wrapper hud_record_wrappers[] = {
    WRAPPER(mpi_barrier_f08_) WRAPPER(mpi_finalize_) WRAPPER(mpi_finalize_f08_)
        WRAPPER(MPI_Finalize) WRAPPER(PMPI_Finalize)
#define FORM(function, ...) WRAPPER(MPI_##function) WRAPPER(PMPI_##function)
#define PERSISTENT(function, ...) FORM(function) WRAPPER(MPIX_##function) WRAPPER(PMPIX_##function)
#define LARGE FORM
#include "host/record/names.def"
#define PLAIN(Name, name, ...)                                                                     \
    BINDING(mpi_##name##_) BINDING(mpi_i##name##_) BINDING(mpi_i##name##_f08_)
#define HANDLED(Name, name, ...) BINDINGS(name, 0)
#define HANDLED_ARRAYS HANDLED
#define NEIGHBORS(Name, name, ...) BINDINGS(neighbor_##name, 0)
#include "host/signatures.def"
            { NULL, NULL, NULL },
};
