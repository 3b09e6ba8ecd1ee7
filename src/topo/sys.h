/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * sys.h - the kernel's information about this process, read below a root folder: "" is the system
 * itself, and tests pass their own folder.  Missing files are not an error, because containers show
 * only a part of /sys: the result is then one NUMA node and no quota.  Private to src/topo.
 */
#ifndef HUD_TOPO_SYS_H
#define HUD_TOPO_SYS_H

#include "topo/topo.h"

int hud_sys_numa_nodes(const char *root);
int hud_sys_home_node(const char *root, const struct topo_cpus *cpus);
int hud_sys_cpu_quota(const char *root);
void hud_sys_cpu_name(const char *root, char *name, size_t bytes);

#endif
