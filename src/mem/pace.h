/* SPDX-License-Identifier: BSD-3-Clause */
/* pace.h - which stores long copies into shared memory use (pace.c). */
#ifndef HUD_PACE_H
#define HUD_PACE_H

#include <stddef.h>
#include <stdint.h>

enum { MEM_PACE_MIN = 4096 }; /* bytes of a long copy */

/* What a kilobyte takes, by their stores; 0: not known.  Such copies so far. */
struct mem_pace {
    uint64_t ticks[2], copies;
};

/* memcpy into shared memory; complete on return. */
void hud_mem_in_long(struct mem_pace *pace, void *dst, const void *src, size_t bytes);

#endif
