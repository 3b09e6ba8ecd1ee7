/* SPDX-License-Identifier: BSD-3-Clause */
/* topo_machines.h - a machine description, and sets of processors. */
#ifndef HUD_TEST_TOPO_MACHINES_H
#define HUD_TEST_TOPO_MACHINES_H

#include "topo/topo.h"

#define KUNPENG "pack:2 l3:2 [numa(memory=126000000000)] group:8 l2:4(size=512KB) core:1 pu:1"

static inline struct topo_cpus cpus_of(int first, int last)
{
    struct topo_cpus cpus = { { 0 } };

    for (int c = first; c <= last; c++)
        cpus.word[c / 64] |= (uint64_t)1 << (c % 64);
    return cpus;
}

#endif
