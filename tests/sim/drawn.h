/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * drawn.h - a sequence of calls as drawn from its seed: groups, slots with their parameters, the
 * lease, and the steps.
 */
#ifndef HUDDLE_TESTS_DRAWN_H
#define HUDDLE_TESTS_DRAWN_H

#include "calls.h"
#include "sequence.h"

enum {
    SLOTS = 96,    /* at least the algorithms of alg.def, and one more slot */
    STRUCTURES = 3 /* kinds of groups */
};

struct slot {
    const struct alg *alg;
    long param[ALG_PARAMS];
    struct alg_place place;
    uint64_t before; /* calls that the slot pretends to have had before the sequence */
    uint64_t op;     /* number of the latest call */
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
    uint64_t usual, constant; /* the usual root, and the eighths of the calls in which it is the
                               * root */
    size_t lease_offset, lease_bytes, cache_bytes, max_bytes, work_bytes;
    struct slot slot[SLOTS];
    int slots;
    struct shape_groups groups;
    struct step *steps;
    int count;
    struct call_user **user; /* [ranks] */
    struct sim_team *team;
};

/* Draws everything that depends on the seed for team `team` of a run. The team's lease begins at
 * offset `lease_offset` of each arena. The caller sets user and team. */
void sequence_draw(struct sequence *q, const struct sequence_options *options, int team,
                   size_t lease_offset);
void sequence_free(struct sequence *q);

#endif
