/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * shape_checks.h - shared by the property tests of shapes: random placements, and a check of the
 * definition of groups, pair by pair.
 */
#ifndef SHAPE_CHECKS_H
#define SHAPE_CHECKS_H

#include "shape/shape.h"

#include <stdint.h>

/* Returns a random number in min..max. The seed is HUDDLE_TEST_SEED, or else the time, and is
 * printed once. */
int random_between(int min, int max);

/* Makes a nested machine of 0..max_levels levels with ranks at random places. About 1 in `loose`
 * ranks spans units; none does if `loose` is 0. */
void random_place(int ranks, int max_levels, int loose, struct shape_place *place);

/* Asserts that the groups match the paper's definition for the place. */
void check_groups(const struct shape_place *place, const struct shape_groups *g);

#endif
