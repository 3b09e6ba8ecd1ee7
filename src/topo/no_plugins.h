/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * no_plugins.h - keeps hwloc from its plugins.  Private to src/topo.
 *
 * The first topology of a process has hwloc load all its plugins: OpenGL, OpenCL, PCI, libxml.
 * They know nothing of processors and memory, and take ten times as long as the rest
 * (bench/startup.py).  hwloc has no call that leaves them out, but looks for them where
 * HWLOC_PLUGINS_PATH says.
 *
 * Guarantee  Between begin and end this process has its environment, and that variable in front.
 *            Threads that read the environment meanwhile find what they would have found.  What
 *            one changes stays changed.
 */
#ifndef HUD_TOPO_NO_PLUGINS_H
#define HUD_TOPO_NO_PLUGINS_H

#include <stdbool.h>

/* False: there are too many variables; the environment is as it was, and `end` is not called. */
bool hud_no_plugins_begin(void);
void hud_no_plugins_end(void);

#endif
