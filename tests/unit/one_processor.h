/* SPDX-License-Identifier: BSD-3-Clause */
/* one_processor.h - threads that share a processor.  Include it after defining _GNU_SOURCE. */
#ifndef HUD_TESTS_ONE_PROCESSOR_H
#define HUD_TESTS_ONE_PROCESSOR_H

#include <sched.h>
#include <stddef.h>

/* Binds the calling thread to its first allowed processor. */
static inline void use_first_processor(void)
{
    cpu_set_t may, one;
    size_t cpu = 0;

    sched_getaffinity(0, sizeof may, &may);
    while (!CPU_ISSET(cpu, &may))
        cpu++;
    CPU_ZERO(&one);
    CPU_SET(cpu, &one);
    sched_setaffinity(0, sizeof one, &one);
}

#endif
