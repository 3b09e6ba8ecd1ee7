/* SPDX-License-Identifier: BSD-3-Clause */
/* cgroup.h - the control groups that limit this process: its own group and the group's ancestors,
 * in version 1, version 2, and systems with both. */
#ifndef HUD_CGROUP_H
#define HUD_CGROUP_H

#include <stdbool.h>

/*
 * Calls visit for the folder of each group that limits this process by a controller ("cpu",
 * "memory"), from the process's own group up to the mount point.  Paths are read below root.  "" is
 * the system itself, whose groups are found once per process.  Invisible groups (another namespace,
 * nothing mounted) are not visited.
 */
void hud_cgroup_visit(const char *root, const char *controller,
                      void (*visit)(const char *folder, bool version_2, void *arg), void *arg);

#endif
