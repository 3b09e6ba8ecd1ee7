/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * kept_errno.h - leaves errno as the caller had it.
 *
 * A program may look at errno after a call of the MPI that succeeds.  What huddle tries in vain
 * must not change it: to open a file that is not there, to wait for what has come already.
 *
 * Code that a fiber suspends must not keep errno, as another call uses it meanwhile, perhaps that
 * of another thread.  The function that resumes the fiber keeps it.
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
