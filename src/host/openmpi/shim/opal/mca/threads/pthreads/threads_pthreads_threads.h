/* SPDX-License-Identifier: BSD-3-Clause */
/* Replaces a header that distributions omit from their packages of Open MPI 5: how its threads
 * yield. */
#ifndef HUD_SHIM_THREADS_PTHREADS_THREADS_H
#define HUD_SHIM_THREADS_PTHREADS_THREADS_H

#include "opal/mca/threads/threads.h"

#include <sched.h>

#define OPAL_THREAD_YIELD_WHEN_IDLE_DEFAULT false

static inline void opal_thread_yield(void)
{
    sched_yield();
}

#endif
