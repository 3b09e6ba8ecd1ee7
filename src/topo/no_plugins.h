/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * no_plugins.h - keeps hwloc from its plugins.  Private to src/topo.
 *
 * The first topology of a process has hwloc load all its plugins: OpenGL, OpenCL, PCI, libxml.
 * They know nothing of processors and memory, and take several times as long as the rest.  hwloc
 * has no call that leaves them out, but looks for them where HWLOC_PLUGINS_PATH says.
 *
 * Guarantee  Between begin and end the process has its environment, and that variable in front.
 *            Threads that read the environment at any time find what they would have found.  What
 *            a thread changes between begin and end stays changed.
 * Limits     A thread that changes the environment at the moment of begin or end is in a race, as
 *            with any getenv() of MPI_Init.  A process that another thread starts meanwhile, and a
 *            topology that it asks hwloc for, have no plugins.
 */
#ifndef HUD_TOPO_NO_PLUGINS_H
#define HUD_TOPO_NO_PLUGINS_H

#include <stdbool.h>

/* One thread at a time.  False: there are too many variables; the environment is as it was, and
 * `end` is not called. */
bool hud_no_plugins_begin(void);
void hud_no_plugins_end(void);

#endif
