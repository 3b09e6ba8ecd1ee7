/* SPDX-License-Identifier: BSD-3-Clause */
/* machine_rules.h - the defaults of a machine's description, the ranges of its numbers, and the
 * relations between them. */
#ifndef HUD_SIM_MACHINE_RULES_H
#define HUD_SIM_MACHINE_RULES_H

#include "lab/sim/machine.h"

#include <stdbool.h>

/* The quantity of a number in a description, which determines the accepted range. */
enum machine_range {
    RANGE_LINE,
    RANGE_CACHE,
    RANGE_ENTRIES,
    RANGE_TIME,
    RANGE_DELAY,
    RANGE_SPEED,
    RANGE_FILL, /* words from here on */
    RANGE_SHARE,
    RANGE_NONE
};

bool hud_machine_fits(enum machine_range range, double number);
/* Returns the number of a word in the range, from 0 on, or -1 if the range does not have the
 * word. */
int hud_machine_word(enum machine_range range, const char *word);
/* Writes the accepted values of a range to `text`, and returns `text`. */
const char *hud_machine_accepted(enum machine_range range, char *text, size_t bytes);

/* Marks the optional numbers as unset, before a description is read. */
void hud_machine_blank(struct sim_machine *m);
/* Sets the numbers without a value in the description to defaults for any machine. */
void hud_machine_assume(struct sim_machine *m);
/* Checks relations between numbers.  Returns false, with a line in *error, if a relation is
 * violated. */
bool hud_machine_check(const struct sim_machine *m, char *error, size_t error_bytes);

#endif
