/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * ring.h - positions in a queue of buffers (paper 01, "Segment"): pure arithmetic.
 *
 * A ring is q sets of equal length.  Positions count units since the ring began and only grow.
 * Position k is in unit k % units.  A fragment is one or more units.  No fragment crosses from one
 * set into the next, so a set is acknowledged, and refilled, as a whole.  If each fragment is one
 * buffer, that buffer is the unit, of any size.
 */
#ifndef HUD_RING_H
#define HUD_RING_H

#include <stdbool.h>
#include <stdint.h>

enum { RING_UNIT = 4096, RING_UNITS_MAX = 4096 }; /* bytes of a unit; maximum number of units */

struct shape_ring {
    uint64_t set_units, units; /* units is 0 if there is no room */
};

static inline uint64_t ring_units_of(uint64_t bytes)
{
    return (bytes + RING_UNIT - 1) / RING_UNIT;
}

/* Cuts a ring into equal sets, out of the units that fit.  Uses `wanted` units, or all if `wanted`
 * is 0, but no fewer than `sets`. */
static inline struct shape_ring ring_cut(uint64_t units, uint64_t wanted, uint64_t sets)
{
    struct shape_ring ring;

    units = units < RING_UNITS_MAX ? units : RING_UNITS_MAX;
    wanted = wanted != 0 && wanted < sets ? sets : wanted;
    ring.set_units = (wanted != 0 && wanted < units ? wanted : units) / sets;
    ring.units = ring.set_units * sets;
    return ring;
}

/* Returns the position that all ranks must have acknowledged before the set beginning at `at` is
 * free, and 0 if the set was never used. */
static inline uint64_t ring_must_be_acknowledged(const struct shape_ring *ring, uint64_t at)
{
    return at >= ring->units ? at - ring->units + ring->set_units : 0;
}

/* Returns the first position of a set at or after this position. */
static inline uint64_t ring_round_up(const struct shape_ring *ring, uint64_t at)
{
    return (at + ring->set_units - 1) / ring->set_units * ring->set_units;
}

/* Returns the number of units of a fragment when `needed` units are to be sent and set_left units
 * are left of the set.  The fragment has all units if they are at most f, and else an equal part,
 * of at most f units, of the rest of the set. */
static inline uint64_t ring_part(uint64_t set_left, uint64_t f, uint64_t needed)
{
    uint64_t max = set_left < f ? set_left : f;

    if (needed <= max)
        return needed;
    if (max == set_left)
        return max;
    uint64_t parts = (set_left + f - 1) / f;
    return (set_left + parts - 1) / parts;
}

/* A position, split once into its parts, so that later steps do not divide. */
struct ring_place {
    uint64_t at, unit, set_left; /* the position, its unit, and the number of units left of its
                                    set */
};

static inline struct ring_place ring_place_of(const struct shape_ring *ring, uint64_t at)
{
    uint64_t unit = at % ring->units, in_set = unit;

    while (in_set >= ring->set_units)
        in_set -= ring->set_units;
    return (struct ring_place){ at, unit, ring->set_units - in_set };
}

static inline bool ring_begins_set(const struct shape_ring *ring, const struct ring_place *place)
{
    return place->set_left == ring->set_units;
}

/* Moves a place by the units of a fragment, which does not cross the end of the set. */
static inline void ring_move(const struct shape_ring *ring, struct ring_place *place,
                             uint64_t units)
{
    place->at += units;
    place->unit = place->unit + units == ring->units ? 0 : place->unit + units;
    place->set_left = place->set_left == units ? ring->set_units : place->set_left - units;
}

/* Returns the number of units of the best fragment of an n-byte message: f = sqrt(n t_w / t), paper
 * 01, "Choosing", rule 1.  ratio: t_w / t in bytes. */
static inline uint64_t ring_fragment(uint64_t n, uint64_t ratio)
{
    uint64_t f = 1;

    while (f * RING_UNIT * f * RING_UNIT < n * ratio)
        f *= 2;
    return f;
}

/* What a user specifies of a queue: bytes of a fragment (f), number of buffers of f bytes (s),
 * bytes of all buffers (b), bytes of the longest message (m).  A value of 0 follows from the
 * others. */
struct ring_wish {
    uint64_t fragment, buffers, budget, message;
};

/* Returns the number of units of a queue, and 0 for all that fit.  The first known of these
 * applies: b; s f; or s = m / f buffers, so the message fits.  If f is not given, f is m / s, or
 * the best fragment for m. */
static inline uint64_t ring_wanted(const struct ring_wish *w, uint64_t sets, uint64_t ratio)
{
    uint64_t f = ring_units_of(w->fragment), m = ring_units_of(w->message), units = 0;

    if (w->budget != 0)
        return w->budget < sets * RING_UNIT ? sets : w->budget / RING_UNIT;
    if (f == 0 && m != 0)
        f = w->buffers != 0 ? (m + w->buffers - 1) / w->buffers : ring_fragment(w->message, ratio);
    if (w->buffers != 0)
        units = w->buffers * f;
    else if (m != 0)
        units = (m + f - 1) / f * f;
    return (units + sets - 1) / sets * sets;
}

/* Returns the number of units of a fragment of an n-byte message.  The first known of these
 * applies: the given fragment; b / s; or the best fragment for the message, or for the whole queue
 * if the message is longer than the queue. */
static inline uint64_t ring_fragment_of(const struct ring_wish *w, const struct shape_ring *ring,
                                        uint64_t n, uint64_t ratio)
{
    uint64_t b = ring->units * RING_UNIT;

    if (w->fragment != 0)
        return ring_units_of(w->fragment);
    if (w->buffers != 0)
        return ring->units > w->buffers ? ring->units / w->buffers : 1;
    return ring_fragment(n < b ? n : b, ratio);
}

#endif
