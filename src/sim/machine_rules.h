/* SPDX-License-Identifier: BSD-3-Clause */
/* machine_rules.h - the optional keys of a machine's description, the ranges of its numbers, and
 * the relations between them. */
#ifndef HUD_SIM_MACHINE_RULES_H
#define HUD_SIM_MACHINE_RULES_H

#include "sim/machine.h"

#include <stdbool.h>

/* What a number of a description counts, and so what it can be. */
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
/* The number of a word that the range has, from 0 on; -1: it has no such. */
int hud_machine_word(enum machine_range range, const char *word);
/* In words; returns text. */
const char *hud_machine_accepted(enum machine_range range, char *text, size_t bytes);

/* Before a description is read: what it will not have said is known afterwards. */
void hud_machine_blank(struct sim_machine *m);
/* Afterwards: what nobody has measured of this machine is what is assumed of every one. */
void hud_machine_assume(struct sim_machine *m);
/* Whether the kernel would copy quickly there, by the rule of cost/kernel.h. */
bool hud_machine_is_quick(const struct sim_machine *m);
/* False: *error is one line. */
bool hud_machine_check(const struct sim_machine *m, char *error, size_t error_bytes);

#endif
