/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * quick.h - fast path for repeated calls with the same caller, communicator, count and type.
 *
 * Programs make the same calls again and again.  So a small table remembers, by the caller's
 * address, the arguments that led to a cell.  The table holds only calls with a single count and a
 * predefined type, because the handle of another type may be reused for a different type.  The
 * table is emptied when a communicator is freed, and stays empty with several threads.
 *
 * Most of these calls are only counted: their clock is not read, and huddle has handled them.
 * Their data stays in registers around the call, so none of it is passed to a function that is not
 * inlined.
 */
#ifndef HUD_RECORD_QUICK_H
#define HUD_RECORD_QUICK_H

#include "host/record/record.h"
#include "host/record/ticks.h"

enum { RECORD_RECENTS = 64 };

/* Without inlining, the compiler may keep all arguments in memory for a function that reads one. */
#define INLINE static inline __attribute__((always_inline))

struct record_recent {
    const void *caller;
    uintptr_t comm, type, count;
    uint16_t name;
    uint32_t inside; /* number of the cell, from 1 */
    struct record_cell *cell;
    struct record_comm *at;
    uint64_t bytes;
};

extern struct record_recent hud_record_recents[RECORD_RECENTS];
extern bool hud_record_threads, hud_record_steady;
extern unsigned hud_record_level; /* the clock is read in one of 2^level calls */
extern uint64_t hud_record_mask;  /* 2^level - 1 */
extern unsigned hud_record_calls; /* calls since the last adjustment of the level */
/* Where the core stores why this thread's last call was not handled, or NULL if not found yet. */
extern _Thread_local __attribute__((tls_model("initial-exec"))) int *hud_record_reason;

INLINE struct record_recent *record_recent(const struct record_about *about, const void *caller)
{
    return &hud_record_recents[((uintptr_t)caller >> 1 ^ about->name) % RECORD_RECENTS];
}

INLINE uintptr_t record_type(const struct record_args *a)
{
    return a->type ? a->type : a->in_type;
}

INLINE uintptr_t record_count(const struct record_args *a)
{
    return a->type ? a->count : a->ins;
}

/* Returns whether the bytes follow from a single count and type.  A buffer at -1, 0 or 1 may mean
 * "in place". */
INLINE bool record_is_simple(const struct record_about *about, const struct record_args *a)
{
    return a->type ? !a->counts
                   : !about->from_root && !a->in_counts && !a->in_types && !a->out_types &&
                         (!a->in_type || a->in + 1 > 2);
}

/* Returns whether a call is chosen for timing.  Of the calls that a level chooses, the next level
 * chooses half.  mask: 2^level - 1. */
INLINE bool record_chosen(uint32_t number, uint64_t mask)
{
    return (number * 0x9E3779B97F4A7C15u >> 20 & mask) == 0;
}

/* Returns the number of a cell, from 1. */
static inline uint32_t record_number(const struct record_cell *cell)
{
    return (uint32_t)(cell - hud_record->cell) + 1;
}

/* Begins a call of a cell.  v->enter: nonzero if the clock must be read. */
INLINE void record_begin(struct record_visit *v, const struct record_about *about,
                         const struct record_args *args)
{
    v->root = (int32_t)args->root;
    v->number = about->blocking ? ++v->comm->calls : 0;
    v->level = about->blocking ? hud_record_level : 0; /* all other calls are timed */
    v->enter = record_chosen(v->number, about->blocking ? hud_record_mask : 0);
    hud_record->inside = record_number(v->cell);
    hud_record_calls++;
}

/* Returns the entry of a repeated call, or NULL if the call must be looked up. */
INLINE const struct record_recent *record_find(const struct record_about *about,
                                               const struct record_args *args, const void *caller)
{
    const struct record_recent *recent = record_recent(about, caller);
    bool same = record_is_simple(about, args) && recent->caller == caller &&
                recent->comm == args->comm && recent->count == record_count(args) &&
                recent->type == record_type(args) && recent->name == about->name;

    return same ? recent : NULL;
}

/* Returns whether the call is only counted; if so, begins the call. */
INLINE bool record_passes(const struct record_about *about, const struct record_recent *recent)
{
    if (!about->blocking || !hud_record_reason ||
        record_chosen(recent->at->calls + 1, hud_record_mask))
        return false;
    recent->at->calls++;
    hud_record->inside = recent->inside;
    hud_record_calls++;
    return true;
}

/* Ends a call that is only counted.  Returns false if the call must be counted in another cell. */
INLINE bool record_passed(struct record_cell *cell, uint64_t bytes)
{
    if (__builtin_expect(*hud_record_reason != 0, 0))
        return false;
    cell->calls++;
    cell->bytes += bytes;
    hud_record->inside = 0;
    return true;
}

/* Begins a repeated call that is not only counted. */
INLINE void record_enter_again(struct record_visit *v, const struct record_about *about,
                               const struct record_args *args, const struct record_recent *recent)
{
    v->cell = recent->cell;
    v->comm = recent->at;
    v->bytes = recent->bytes;
    record_begin(v, about, args);
    if (v->enter)
        v->enter = ticks_now(hud_record_steady);
}

#endif
