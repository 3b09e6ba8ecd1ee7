/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * record.h - what a rank records about its collectives, and where.
 *
 * Use        `huddle run --stats`, `huddle profile` and `huddle compare` name a folder in
 *            HUDDLE_RECORD.  The loader plugs this library into each process that initialises an
 *            MPI, in front of the front end, and the process maps one file there.  The command
 *            reads the files after the job, so they hold however its processes have ended.
 * Knows      no MPI: handles are passed on as they come.  abi.c knows the two sizes of handles.
 * Writes     counts, bytes and times per cell: (communicator, collective, size class, caller,
 *            reason why huddle did not handle it).  Stamps of single calls, by which the reader
 *            finds who waited for whom.  The counters of huddle's core, at most 100 ms old.
 * Costs      Clocks are read in one call of 2^level.  level grows where calls follow each other
 *            so quickly that clocks would take more than 1 % of the time.  Which calls these are
 *            depends on their number on the communicator, so that ranks choose the same ones.  A
 *            timed call counts 2^level times: else slow calls, of which more are timed, would
 *            count for quick ones.
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
    int32_t rank, size, inter, ordinal; /* of those alive with the same members */
    uint32_t freed, calls;              /* calls: blocking ones, which number the stamps */
};

struct record_caller {
    uint64_t offset; /* of the return address in its file */
    char file[176], function[72];
};

struct record_cell {
    uint16_t comm, name, caller;
    uint8_t size_class, reason; /* 0: no bytes; n: 2^(n-1) bytes and more */
    uint32_t used, pad;
    uint64_t calls, bytes, timed;
    uint64_t represents, ticks; /* sums over timed calls, each as often as calls that it represents
                                   at its level */
    uint64_t max_ticks;
};

struct record_stamp {
    uint32_t number, cell; /* of the call on its communicator */
    int32_t root, pad;
    uint64_t enter, ticks;
};

struct record {
    char magic[8];
    uint32_t names_max, comms_max, callers_max, cells_max, stamps_max, core_max;
    int32_t pid, world_rank, world_size, state, threads, launched_size;
    uint64_t ticks_at_start, ns_at_start, ticks_at_end, ns_at_end;
    uint64_t lost; /* calls for which no cell was free */
    uint32_t names, comms, callers, cells, stamps, stamp_level, core, inside; /* a cell, from 1 */
    uint32_t tuned, pad; /* as hud_tuning_here (core/team/stats.h) returns it */
    char host[128], mpi[256], program[128], tuning[1024];
    char name[RECORD_NAMES][32];
    uint64_t core_value[RECORD_CORE];
    struct record_comm comm[RECORD_COMMS];
    struct record_caller caller[RECORD_CALLERS];
    struct record_cell cell[RECORD_CELLS];
    struct record_stamp stamp[RECORD_STAMPS];
};

/* The arguments of a collective, as it was called. */
struct record_args {
    uintptr_t buffer, in, out, comm, type, in_type, out_type, in_types, out_types;
    uintptr_t counts, in_counts, out_counts, ins, outs, count, root;
};

/* A collective of MPI in one of its forms. */
struct record_about {
    uint16_t name;
    bool blocking, large, from_root; /* large: counts are of 64 bits */
};

/* A call in flight. */
struct record_visit {
    struct record_cell *cell;
    struct record_comm *comm;
    uint64_t bytes, enter; /* enter 0: its clock is not read */
    uint32_t number;
    int32_t root;
    unsigned level; /* it stands for 2^level calls */
};

/* ---- record.c ---- */
extern struct record *hud_record; /* NULL: nothing is recorded */
void hud_record_finish(void);     /* MPI_Finalize comes */
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
uintptr_t hud_record_handle(uintptr_t given); /* without the bits that no int has */
uintptr_t hud_record_handle_at(uintptr_t array, int index);
bool hud_record_in_place(uintptr_t buffer);
bool hud_record_named(uintptr_t type); /* a predefined type, that is never freed */
uint64_t hud_record_type_bytes(uintptr_t type);
/* Fills the record of a communicator; false: it is not one. */
bool hud_record_describe(uintptr_t comm, struct record_comm *out, int *members);
/* The number that was attached to a communicator, or -1; and attaches one. */
int hud_record_attached(uintptr_t comm);
void hud_record_attach(uintptr_t comm, int index);
/* A communicator with that number is freed; cells.c. */
void hud_record_freed(int index);
void hud_record_about_process(struct record *out);
bool hud_record_is_pointer_abi(void);

/* ---- wrappers.c ---- */
extern const struct hud_wrapper hud_record_wrappers[];
void hud_record_write_names(struct record *out);

#endif
