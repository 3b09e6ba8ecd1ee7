/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * kept_errno.h - leaves errno as the caller had it.
 *
 * A program may look at errno after a call of the MPI that succeeds.  What huddle tries in vain, and
 * does without, must not change it: a file that is not there, a wait that is over before it begins.
 *
 * Not around code that a fiber suspends: another call, in another thread perhaps, has an errno of its
 * own meanwhile.  What runs on a fiber is kept where the fiber is resumed.
 */
#ifndef HUD_KEPT_ERRNO_H
#define HUD_KEPT_ERRNO_H

#include <errno.h>

static inline void kept_errno_restore(const int *kept)
{
    errno = *kept;
}

/* Keeps errno until the end of the block. */
#define KEEP_ERRNO()                                                                               \
    const int kept_errno __attribute__((cleanup(kept_errno_restore), unused)) = errno

#endif
