/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * no_plugins.h - keeps hwloc from loading its plugins.  Private to src/topo.
 *
 * For the first topology of a process, hwloc loads all its plugins: OpenGL, OpenCL, PCI, libxml.
 * They add nothing about processors and memory, and take several times as long as the rest.  hwloc
 * has no call that skips them, but looks for them in HWLOC_PLUGINS_PATH.
 *
 * Guarantee  Between begin and end the process has its environment, preceded by that variable.
 *            Threads that read the environment at any time find the values that they would have
 *            found.  Changes by threads between begin and end persist.
 * Limits     A thread that changes the environment at the moment of begin or end is in a race, as
 *            with any getenv() of MPI_Init.  A process that another thread starts meanwhile, and a
 *            topology that another thread requests of hwloc, have no plugins.
 */
#ifndef HUD_TOPO_NO_PLUGINS_H
#define HUD_TOPO_NO_PLUGINS_H

#include <stdbool.h>

/* Hides the plugins.  At most one thread may be between begin and end.  Returns false if there are
 * too many variables; then the environment is unchanged, and hud_no_plugins_end must not be
 * called. */
bool hud_no_plugins_begin(void);
void hud_no_plugins_end(void);

#endif
