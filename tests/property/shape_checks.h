/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * shape_checks.h - what the property tests of shapes share: random placements, and the definition
 * of groups, checked pair by pair.
 */
#ifndef SHAPE_CHECKS_H
#define SHAPE_CHECKS_H

#include "shape/shape.h"

#include <stdint.h>

/* A random number in least..most.  The seed is HUDDLE_TEST_SEED, else the time; it is printed
 * once. */
int random_between(int min, int max);

/* A nested machine with 0..max_levels levels and ranks at random places in it; about one rank in
 * `loose` spans units (0: none does). */
void random_place(int ranks, int max_levels, int loose, struct shape_place *place);

/* Asserts that groups are those that the paper defines for place. */
void check_groups(const struct shape_place *place, const struct shape_groups *g);

#endif
