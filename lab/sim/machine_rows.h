/* SPDX-License-Identifier: BSD-3-Clause */
/* machine_rows.h - the keys of a machine's description, each with its form and range. */
#ifndef HUD_SIM_MACHINE_ROWS_H
#define HUD_SIM_MACHINE_ROWS_H

#include "lab/sim/machine_rules.h"

enum machine_form {
    FORM_NUMBER,   /* a number */
    FORM_OPTION,   /* a number, optional */
    FORM_CLASSES,  /* a table with a number for each class but the core itself */
    FORM_ADDED,    /* the table of FORM_CLASSES, optional */
    FORM_CACHES,   /* the table of FORM_CLASSES with "own" */
    FORM_NEAREST,  /* the table of FORM_CACHES, optional */
    FORM_MEMORIES, /* a table: "local" and a number for each class above a NUMA node */
    FORM_DELAYS,   /* the table of FORM_MEMORIES, optional */
    FORM_HOMES,    /* the table of FORM_MEMORIES without "local" */
    FORM_MESHES,   /* an optional table with a number for some classes but the core itself */
    FORM_STREAMS,  /* an optional table with a number for some numbers of cores */
    FORM_SOCKETS,  /* a number if there are several sockets, else nothing */
    FORM_LEVEL,    /* a level's name, or "machine" */
    FORM_SHARE,    /* FORM_LEVEL or "none", optional */
    FORM_WORD      /* a word of the range, optional */
};

struct machine_row {
    const char *table, *key;
    enum machine_form form;
    enum machine_range range;
    size_t offset; /* offset in struct sim_machine */
};

/* The rows of a table are consecutive. */
extern const struct machine_row machine_rows[];
extern const int machine_rows_count;

#endif
