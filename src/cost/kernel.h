/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * kernel.h - decides whether single copy pays: for COST_KERNEL_BYTES the kernel takes at most
 * COST_KERNEL_QUICK times as long as a process itself, both in the L1 and L2 caches.
 *
 * Single copy moves each byte once, but the kernel looks up each page, which costs little if a core
 * copies slowly, and much if it copies fast.  Single copy is faster from some size on if the kernel
 * takes 4 times as long (E5, E18, E19, E25), and never at 10 times (E24).
 */
#ifndef HUD_COST_KERNEL_H
#define HUD_COST_KERNEL_H

#include <stdbool.h>

enum { COST_KERNEL_BYTES = 64 << 10, COST_KERNEL_QUICK = 6 };

static inline bool cost_kernel_is_quick(double kernel_ns, double own_ns)
{
    return kernel_ns <= COST_KERNEL_QUICK * own_ns;
}

#endif
