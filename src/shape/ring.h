/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * ring.h - positions in a queue of buffers (paper 01, "Segment"): pure arithmetic.
 *
 * A ring is q sets of equal length.  Positions count units since the ring began and only grow;
 * position k is in unit k % units.  A fragment is some units.  No fragment crosses from one set
 * into the next, so that a set is acknowledged, and refilled, as a whole.  Where a fragment is one
 * buffer, that is the unit, of any size.
 */
#ifndef HUD_RING_H
#define HUD_RING_H

#include <stdbool.h>
#include <stdint.h>

enum { RING_UNIT = 4096, RING_UNITS_MAX = 4096 }; /* bytes of a unit; most units */

struct shape_ring {
    uint64_t set_units, units; /* units 0: there is no room */
};

static inline uint64_t ring_units_of(uint64_t bytes)
{
    return (bytes + RING_UNIT - 1) / RING_UNIT;
}

/* Of the units that fit, those wanted (0: all; at least one a set), in equal sets. */
static inline struct shape_ring ring_cut(uint64_t units, uint64_t wanted, uint64_t sets)
{
    struct shape_ring ring;

    units = units < RING_UNITS_MAX ? units : RING_UNITS_MAX;
    wanted = wanted != 0 && wanted < sets ? sets : wanted;
    ring.set_units = (wanted != 0 && wanted < units ? wanted : units) / sets;
    ring.units = ring.set_units * sets;
    return ring;
}

/* The ring that fits into room_bytes with a line for each unit. */
static inline struct shape_ring ring_make(uint64_t room_bytes, uint64_t line_bytes, uint64_t wanted,
                                          uint64_t sets)
{
    return ring_cut(room_bytes / (RING_UNIT + line_bytes), wanted, sets);
}

static inline bool ring_at_set(const struct shape_ring *ring, uint64_t at)
{
    return at % ring->set_units == 0;
}

/* The set that begins at `at` is free when all ranks have acknowledged the position returned; 0: it
 * was never used. */
static inline uint64_t ring_must_be_acknowledged(const struct shape_ring *ring, uint64_t at)
{
    return at >= ring->units ? at - ring->units + ring->set_units : 0;
}

/* The first position of a set at or after this one. */
static inline uint64_t ring_round_up(const struct shape_ring *ring, uint64_t at)
{
    return (at + ring->set_units - 1) / ring->set_units * ring->set_units;
}

/* Units of a fragment of those needed, where set_left are left of the set: all if they are at most
 * f, else the set in equal parts of at most f. */
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

/* Units of the next fragment of a message without end. */
static inline uint64_t ring_next(const struct shape_ring *ring, uint64_t at, uint64_t f)
{
    return ring_part(ring->set_units - at % ring->set_units, f, UINT64_MAX);
}

/* A position, taken apart once: from there on no step divides. */
struct ring_place {
    uint64_t at, unit, set_left; /* the position, its unit, and the units left of its set */
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

/* Units of one fragment, so that at most the set's end is reached. */
static inline void ring_move(const struct shape_ring *ring, struct ring_place *place,
                             uint64_t units)
{
    place->at += units;
    place->unit = place->unit + units == ring->units ? 0 : place->unit + units;
    place->set_left = place->set_left == units ? ring->set_units : place->set_left - units;
}

/* Units of the best fragment of an n-byte message: f = sqrt(n t_w / t), paper 01, "Choosing", rule
 * 1.  ratio: t_w / t in bytes. */
static inline uint64_t ring_fragment(uint64_t n, uint64_t ratio)
{
    uint64_t f = 1;

    while (f * RING_UNIT * f * RING_UNIT < n * ratio)
        f *= 2;
    return f;
}

/* What a user knows or wants of a queue: bytes of a fragment (f), buffers of f bytes (s), bytes of
 * all (b), bytes of the longest message (m); 0: follows. */
struct ring_wish {
    uint64_t fragment, buffers, budget, message;
};

/* Units of a queue: b; s f; or s = m / f buffers, so that the message fits, f being given, or m /
 * s, or the best for m; 0: all there is room for. */
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

/* Units of a fragment of an n-byte message: as given; or b / s; or the best for the message, and
 * beyond b bytes the best for the queue. */
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
