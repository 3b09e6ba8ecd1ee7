/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * drawn.h - a sequence of calls as its seed has drawn it: groups, slots with their parameters, the
 * lease, and the steps.
 */
#ifndef HUDDLE_TESTS_DRAWN_H
#define HUDDLE_TESTS_DRAWN_H

#include "calls.h"
#include "sequence.h"

enum {
    SLOTS = 96,    /* most algorithms in alg.def, and one more slot */
    STRUCTURES = 3 /* of groups */
};

struct slot {
    const struct alg *alg;
    long param[ALG_PARAMS];
    struct alg_place place;
    uint64_t before; /* calls, before the sequence */
    uint64_t op;     /* of its latest call */
};

struct step {
    const struct slot *slot;
    long param[ALG_PARAMS];
    uint64_t op;
    struct call call;
};

struct sequence {
    const struct sequence_options *options;
    uint64_t random;
    uint64_t usual, constant; /* root; it is the root of so many eighths of the calls */
    size_t lease_offset, lease_bytes, cache_bytes, max_bytes, work_bytes;
    struct slot slot[SLOTS];
    int slots;
    struct shape_groups groups;
    struct step *steps;
    int count;
    struct call_user **user; /* [ranks] */
    struct sim_team *team;
};

/* Draws all that the seed decides for team `team` of a run, whose lease begins `lease_offset` bytes
 * into each arena.  user and team are left for who runs it. */
void sequence_draw(struct sequence *q, const struct sequence_options *options, int team,
                   size_t lease_offset);
void sequence_free(struct sequence *q);

#endif
