/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * settings.h - the table of settings: a row of config.def each, then a row per parameter of each
 * algorithm.
 */
#ifndef HUD_SETTINGS_H
#define HUD_SETTINGS_H

#include "core/config/config.h"

#include <stdbool.h>

enum setting_kind { WORD, BYTES, TEXT, NUMBER };

struct setting_row {
    struct setting shown;
    enum setting_kind kind;
    bool agree;
    const char *const *words;
    bool is_switch;                          /* WORD: 0 and 1 are words too */
    const char *(*check)(const char *value); /* TEXT: NULL if fine, else what is accepted */
    long min, max;
    int alg, param; /* -1: not an algorithm's */
};

/* The rows; *count of them (count may be NULL).  Fixed for the life of the process. */
const struct setting_row *hud_settings_rows(int *count);
/* That of an algorithm's parameter. */
const struct setting_row *hud_settings_param(int alg, int param);

#endif
