/* SPDX-License-Identifier: BSD-3-Clause */
/* symbols.h - finds functions of a runtime's library by name. */
#ifndef HUD_DEVICE_SYMBOLS_H
#define HUD_DEVICE_SYMBOLS_H

#include <dlfcn.h>
#include <stdbool.h>
#include <stddef.h>
#include <string.h>

struct hud_symbol {
    const char *name; /* NULL ends a table */
    void **function;
    bool needed;
};

/* Sets the functions.  Returns false if a required function is missing. */
static inline bool hud_symbols_find(void *library, const struct hud_symbol *symbols)
{
    bool all = true;

    for (; symbols->name; symbols++) {
        void *found = dlsym(library, symbols->name);
        memcpy(symbols->function, &found, sizeof found); /* converts a pointer to a function
                                                            pointer */
        all = all && (found || !symbols->needed);
    }
    return all;
}

#endif
