/* SPDX-License-Identifier: BSD-3-Clause */
/* clock.h - the clock that all processes of a machine share. */
#ifndef HUD_CLOCK_H
#define HUD_CLOCK_H

#include <stdint.h>
#include <time.h>

static inline uint64_t clock_ns(void)
{
    struct timespec t;

    clock_gettime(CLOCK_MONOTONIC, &t);
    return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

#endif
