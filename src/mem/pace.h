/* SPDX-License-Identifier: BSD-3-Clause */
/* pace.h - which stores long copies into shared memory use (pace.c). */
#ifndef HUD_PACE_H
#define HUD_PACE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { MEM_PACE_MIN = 4096 }; /* bytes of a long copy */

/* Ticks per KB of ordinary and of non-temporal stores, in 1/16 (0: unknown); long copies so far;
 * whether non-temporal stores are used. */
struct mem_pace {
    uint64_t ticks[2], copies;
    bool far;
};

/* A copy with these stores took so long. */
void hud_pace_learn(struct mem_pace *pace, bool far, uint64_t ticks, size_t bytes);

/* memcpy into shared memory; complete on return. */
void hud_mem_in_long(struct mem_pace *pace, void *dst, const void *src, size_t bytes);

#endif
