/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * record.h - the data that a rank records about its collectives, and the file with this data.
 *
 * Use        `huddle run --stats`, `huddle profile` and `huddle compare` name a folder in
 *            HUDDLE_RECORD.  The loader plugs this library into each process that initialises an
 *            MPI, in front of the front end, and the process maps a file in the folder.  The
 *            command reads the files after the job, so they are valid however the processes ended.
 * Knows      no MPI: handles are passed on unchanged.  abi.c knows the two sizes of handles.
 * Writes     counts, bytes and times per cell: (communicator, collective, size class, caller,
 *            reason why huddle did not handle it).  Stamps of single calls, from which the reader
 *            finds which rank waited for which.  The counters of huddle's core, at most 100 ms old.
 * Costs      Clocks are read in one of 2^level calls.  level grows if calls follow each other so
 *            quickly that reading clocks would take more than 1 % of the time.  The choice depends
 *            on the call's number on the communicator, so that all ranks choose the same calls.  A
 *            timed call counts 2^level times: otherwise slow calls, of which more are timed, would
 *            represent quick calls.
 */
#ifndef HUD_RECORD_H
#define HUD_RECORD_H

#include "host/loader/front.h"
#include "host/object.h"

#include <stdbool.h>
#include <stdint.h>

enum {
    RECORD_NAMES = 96,
    RECORD_COMMS = 256,
    RECORD_CALLERS = 512,
    RECORD_CELLS = 4096,
    RECORD_STAMPS = 16384,
    RECORD_CORE = 1024
};
enum record_state { RECORD_RUNNING = 1, RECORD_FINALIZED };

/* The layout of the file, which cli/common/records.py reads. */
struct record_comm {
    char name[64];
    uint64_t members;                   /* a hash of its ranks in the world, in order */
    int32_t rank, size, inter, ordinal; /* ordinal: among the communicators with the same members */
    uint32_t freed, calls;              /* calls: number of blocking calls, which number the
                                           stamps */
};

struct record_caller {
    uint64_t offset; /* offset of the return address in its file */
    char file[176], function[72];
};

struct record_cell {
    uint16_t comm, name, caller;
    uint8_t size_class, reason; /* size_class 0: no bytes; n: from 2^(n-1) bytes on */
    uint32_t used, pad;
    uint64_t calls, bytes, timed;
    uint64_t represents, ticks; /* sums over timed calls, each multiplied by the calls that it
                                   represents at its level */
    uint64_t max_ticks;
};

struct record_stamp {
    uint32_t number, cell; /* number: of the call on its communicator */
    int32_t root, pad;
    uint64_t enter, ticks;
};

struct record {
    char magic[8];
    uint32_t names_max, comms_max, callers_max, cells_max, stamps_max, core_max;
    int32_t pid, world_rank, world_size, state, threads, launched_size;
    uint64_t ticks_at_start, ns_at_start, ticks_at_end, ns_at_end;
    uint64_t lost; /* calls for which no cell was free */
    uint32_t names, comms, callers, cells, stamps, stamp_level, core, inside; /* inside: number of
                                                                                 the current cell,
                                                                                 from 1 */
    char host[128], mpi[256], program[128];
    char name[RECORD_NAMES][32];
    uint64_t core_value[RECORD_CORE];
    struct record_comm comm[RECORD_COMMS];
    struct record_caller caller[RECORD_CALLERS];
    struct record_cell cell[RECORD_CELLS];
    struct record_stamp stamp[RECORD_STAMPS];
};

/* The arguments of a collective, as passed by the caller. */
struct record_args {
    uintptr_t buffer, in, out, comm, type, in_type, out_type, in_types, out_types;
    uintptr_t counts, in_counts, out_counts, ins, outs, count, root;
};

/* A collective of MPI in one of its forms. */
struct record_about {
    uint16_t name;
    bool blocking, large, from_root; /* large: counts have 64 bits */
};

/* A call in flight. */
struct record_visit {
    struct record_cell *cell;
    struct record_comm *comm;
    uint64_t bytes, enter; /* enter 0: the clock is not read */
    uint32_t number;
    int32_t root;
    unsigned level; /* the call represents 2^level calls */
};

/* ---- record.c ---- */
extern struct record *hud_record; /* NULL: nothing is recorded */
void hud_record_finish(void);     /* called before MPI_Finalize */
void hud_record_enter(struct record_visit *visit, const struct record_about *about,
                      const struct record_args *args, const void *caller);
void hud_record_exit(struct record_visit *visit);
void hud_record_exit_other(struct record_cell *cell, uint64_t bytes);

/* ---- cells.c: under the lock of record.c ---- */
struct record_cell *hud_record_cell(const struct record_about *about,
                                    const struct record_args *args, const void *caller,
                                    struct record_comm **comm, uint64_t *bytes);
struct record_cell *hud_record_cell_because(struct record_cell *cell, uint8_t reason);

/* ---- abi.c ---- */
/* Finds the functions of an MPI.  Returns false if its handles are not known. */
bool hud_record_find_mpi(const struct object *library);
uintptr_t hud_record_world(void);
uintptr_t hud_record_handle(uintptr_t given); /* clears the bits that an int does not have */
uintptr_t hud_record_handle_at(uintptr_t array, int index);
bool hud_record_in_place(uintptr_t buffer);
bool hud_record_named(uintptr_t type); /* a predefined type, which is never freed */
uint64_t hud_record_type_bytes(uintptr_t type);
/* Fills in the record of a communicator.  Returns false if the handle is not a communicator. */
bool hud_record_describe(uintptr_t comm, struct record_comm *out, int *members);
/* Returns the number attached to a communicator, or -1; attaches a number. */
int hud_record_attached(uintptr_t comm);
void hud_record_attach(uintptr_t comm, int index);
/* Marks the communicator with this number as freed (cells.c). */
void hud_record_freed(int index);
void hud_record_about_process(struct record *out);
bool hud_record_is_pointer_abi(void);

/* ---- wrappers.c ---- */
extern const struct hud_wrapper hud_record_wrappers[];
void hud_record_write_names(struct record *out);

#endif
