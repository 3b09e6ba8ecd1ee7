/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * sys.h - what the kernel says of this process, read below a root folder: "" is the system itself,
 * tests bring a folder of their own.  Files that are missing (containers show part of /sys) are no
 * error: one NUMA node, no quota.  Private to src/topo.
 */
#ifndef HUD_TOPO_SYS_H
#define HUD_TOPO_SYS_H

#include "topo/topo.h"

int hud_sys_numa_nodes(const char *root);
int hud_sys_home_node(const char *root, const struct topo_cpus *cpus);
int hud_sys_cpu_quota(const char *root);
void hud_sys_cpu_name(const char *root, char *name, size_t bytes);

#endif
