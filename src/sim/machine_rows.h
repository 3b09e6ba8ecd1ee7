/* SPDX-License-Identifier: BSD-3-Clause */
/* machine_rows.h - the keys of a machine's description: a row for each, with its form and range. */
#ifndef HUD_SIM_MACHINE_ROWS_H
#define HUD_SIM_MACHINE_ROWS_H

#include "sim/machine_rules.h"

enum machine_form {
    FORM_NUMBER,   /* one number */
    FORM_OPTION,   /* the same, or nothing */
    FORM_CLASSES,  /* a table: a number for each class but the core itself */
    FORM_ADDED,    /* the same, or nothing */
    FORM_CACHES,   /* as FORM_CLASSES, and "own" */
    FORM_NEAREST,  /* the same, or nothing */
    FORM_MEMORIES, /* a table: "local" and a number for each class above a NUMA node */
    FORM_DELAYS,   /* the same, or nothing */
    FORM_HOMES,    /* as FORM_MEMORIES without "local" */
    FORM_MESHES,   /* a table, or nothing: a number for any class but the core itself */
    FORM_STREAMS,  /* the same: a number for any number of cores */
    FORM_SOCKETS,  /* a number where there are several sockets, else nothing */
    FORM_LEVEL,    /* a level's name, or "machine" */
    FORM_SHARE,    /* the same, or "none", or nothing */
    FORM_WORD      /* a word of the range, or nothing */
};

struct machine_row {
    const char *table, *key;
    enum machine_form form;
    enum machine_range range;
    size_t offset; /* in struct sim_machine */
};

/* Rows of one table follow each other. */
extern const struct machine_row machine_rows[];
extern const int machine_rows_count;

#endif
