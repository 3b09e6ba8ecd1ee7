/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * quick.h - a call that is as one before it: of one caller, communicator, count and type.
 *
 * Programs make the same calls again and again.  So a small table remembers, by the caller's
 * address, the arguments that led to a cell.  It holds calls of one count and a predefined type
 * only: another type's handle may come to mean another type.  All entries end when a communicator
 * does.  With several threads the table is not used.
 */
#ifndef HUD_RECORD_QUICK_H
#define HUD_RECORD_QUICK_H

#include "host/record/record.h"
#include "host/record/ticks.h"

enum { RECORD_RECENTS = 64 };

struct record_recent {
    const void *caller;
    uintptr_t comm, type, count;
    uint16_t name;
    unsigned generation;
    struct record_cell *cell;
    struct record_comm *at;
    uint64_t bytes;
};

extern struct record_recent hud_record_recents[RECORD_RECENTS];
extern unsigned hud_record_generation;
extern bool hud_record_threads, hud_record_steady;
extern unsigned hud_record_level; /* the clock is read in one call of 2^level */
extern unsigned hud_record_calls; /* since the level was looked at */

static inline struct record_recent *record_recent(const struct record_about *about,
                                                  const void *caller)
{
    return &hud_record_recents[((uintptr_t)caller >> 1 ^ about->name) % RECORD_RECENTS];
}

static inline uintptr_t record_type(const struct record_args *a)
{
    return a->type ? a->type : a->in_type;
}

static inline uintptr_t record_count(const struct record_args *a)
{
    return a->type ? a->count : a->ins;
}

/* Its bytes follow from one count of one type.  A buffer at -1, 0 or 1 may say "in place". */
static inline bool record_is_simple(const struct record_about *about, const struct record_args *a)
{
    return a->type ? !a->counts
                   : !about->from_root && !a->in_counts && !a->in_types && !a->out_types &&
                         (!a->in_type || a->in + 1 > 2);
}

/* Of the calls that a level chooses, the next one chooses half. */
static inline bool record_chosen(uint32_t number, unsigned by)
{
    return (number * 0x9E3779B97F4A7C15u >> 20 & (((uint64_t)1 << by) - 1)) == 0;
}

/* The call of a cell begins.  v->enter: nonzero if its clock is to be read. */
static inline void record_begin(struct record_visit *v, const struct record_about *about,
                                const struct record_args *args)
{
    v->root = (int32_t)args->root;
    v->number = about->blocking ? ++v->comm->calls : 0;
    v->level = about->blocking ? hud_record_level : 0; /* all others are timed */
    v->enter = record_chosen(v->number, v->level);
    hud_record->inside = (uint32_t)(v->cell - hud_record->cell) + 1;
    hud_record_calls++;
}

/* False: the call must be looked up. */
static inline bool record_enter_quickly(struct record_visit *v, const struct record_about *about,
                                        const struct record_args *args, const void *caller)
{
    const struct record_recent *recent = record_recent(about, caller);

    if (!record_is_simple(about, args) || recent->caller != caller || recent->comm != args->comm ||
        recent->count != record_count(args) || recent->type != record_type(args) ||
        recent->name != about->name || recent->generation != hud_record_generation ||
        hud_record_threads)
        return false;
    v->cell = recent->cell;
    v->comm = recent->at;
    v->bytes = recent->bytes;
    record_begin(v, about, args);
    if (v->enter)
        v->enter = ticks_now(hud_record_steady);
    return true;
}

#endif
