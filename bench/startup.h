/* SPDX-License-Identifier: BSD-3-Clause */
/* startup.h - clocks and memory of this process, for the programs of startup.py. */
#ifndef BENCH_STARTUP_H
#define BENCH_STARTUP_H

#include <stdio.h>
#include <string.h>
#include <time.h>

static inline double ms(clockid_t clock)
{
    struct timespec t;

    clock_gettime(clock, &t);
    return (double)t.tv_sec * 1e3 + (double)t.tv_nsec * 1e-6;
}

/* Returns the memory that only this process has mapped, in KB, over all its mappings, or 0 if
 * unknown. */
static inline long private_kb(void)
{
    FILE *f = fopen("/proc/self/smaps_rollup", "r");
    char line[256];
    long kb, sum = 0;

    while (f && fgets(line, sizeof line, f))
        if (sscanf(line, "Private_Dirty: %ld", &kb) == 1 ||
            sscanf(line, "Private_Clean: %ld", &kb) == 1)
            sum += kb;
    if (f)
        fclose(f);
    return sum;
}

#endif
