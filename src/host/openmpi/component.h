/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * component.h - what the files of the Open MPI component share.
 *
 *   component.c   the component: opened once per process, asked once per communicator, closed in MPI_Finalize
 *   module.c      one communicator: the team, the collectives, and whose they were before
 *   checked.c     with HUDDLE_CHECK, the other collectives
 *   view.c        a user's buffer of any datatype as a hud_view
 *   settings.c    the settings as MCA parameters coll_huddle_*
 *   living.c      whether this Open MPI's objects are laid out as its headers said
 *   inject.c      how the component enters an Open MPI that loads none from files
 */
#ifndef HUD_OPENMPI_COMPONENT_H
#define HUD_OPENMPI_COMPONENT_H

#include "huddle/huddle.h"

#include "compat.h"

extern HUD_API mca_coll_base_component_t mca_coll_huddle_component;

/* module.c: a module for this communicator that is not yet enabled; NULL: out of memory. */
mca_coll_base_module_t *hud_module_create(hud_context *context);
/* Bytes that the base class may have in a module of ours. */
size_t hud_module_room(void);

/* view.c */
enum { VIEW_CONVERTOR_ROOM = 1024, VIEW_SPILL = 64 };
enum view_use { VIEW_IDLE, VIEW_PACKS, VIEW_UNPACKS };

/* The state behind a view that is not contiguous.  Lives on the stack of its collective. */
struct view_state {
    const void *buffer;
    int count;
    const opal_datatype_t *type;
    enum view_use use;
    union {
        opal_convertor_t convertor;
        char room[VIEW_CONVERTOR_ROOM]; /* a build of Open MPI for CUDA has a longer one */
    };
    unsigned char spill[VIEW_SPILL]; /* packed bytes [spill_from, spill_from + spill_bytes): an element that did not fit */
    size_t spill_from, spill_bytes;
    char *stage; /* packed bytes [0, staged_bytes) that wait to be unpacked; NULL: they do not wait */
    size_t staged_bytes;
    bool failed; /* no memory for a stage: what arrived was dropped */
};

/* The view of a buffer; state must outlive it.  hud_view_close afterwards. */
void hud_view_open(void *buffer, int count, const ompi_datatype_t *type, struct view_state *state, struct hud_view *view);
void hud_view_close(struct view_state *state);

/* settings.c: registers coll_huddle_*; those given explicitly as "NAME=VALUE", NULL-terminated, valid until hud_openmpi_settings_drop. */
int hud_openmpi_settings_register(const mca_base_component_t *component);
const char *const *hud_openmpi_settings_given(void);
void hud_openmpi_settings_drop(void);

/* living.c: NULL if the process's Open MPI has the layout of the headers, else what differs. */
const char *hud_openmpi_misfit(void);                               /* before any communicator exists */
const char *hud_openmpi_misfit_of(const ompi_communicator_t *comm); /* of an intra-communicator */

/* "huddle: ..." on rank 0's standard error, unless HUDDLE_LOG says quiet or error. */
void hud_openmpi_warn(const char *format, ...) __attribute__((format(printf, 1, 2)));

#endif
