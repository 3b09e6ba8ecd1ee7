/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * settings.h - the table of settings: a row of config.def each, then a row per parameter of each
 * algorithm.
 */
#ifndef HUD_SETTINGS_H
#define HUD_SETTINGS_H

#include "core/config/config.h"

#include <stdbool.h>

enum setting_kind { WORD, WORD_OR_FILE, BYTES, TEXT, NUMBER };

struct setting_row {
    struct setting shown;
    enum setting_kind kind;
    bool agree;
    const char *const *words;
    bool is_switch;                          /* 0 and 1 are accepted for off and on */
    const char *(*check)(const char *value); /* TEXT: NULL if fine, else what is accepted */
    long min, max;
    int alg, param; /* -1: not an algorithm's */
};

/* Returns the rows, which never change, and sets *count (count may be NULL). */
const struct setting_row *hud_settings_rows(int *count);
/* Returns the row of an algorithm's parameter. */
const struct setting_row *hud_settings_param(int alg, int param);

#endif
