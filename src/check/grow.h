/* SPDX-License-Identifier: BSD-3-Clause */
/* grow.h - growing memory of the simulator.  The simulator is a test tool, so running out of memory
 * ends the program with a line. */
#ifndef HUD_GROW_H
#define HUD_GROW_H

#include <stdio.h>
#include <stdlib.h>

static inline void *hud_must(void *p)
{
    if (!p) {
        fputs("huddle: the simulator is out of memory\n", stderr);
        exit(2);
    }
    return p;
}

/* Grows an array to at least `count` elements, at least doubling its size.  *room is its size in
 * elements. */
static inline void *hud_grow(void *array, int count, int *room, size_t element_bytes)
{
    if (count <= *room)
        return array;
    *room = count > 2 * *room ? count : 2 * *room;
    return hud_must(realloc(array, (size_t)*room * element_bytes));
}

#endif
