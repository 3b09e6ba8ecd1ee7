/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * kept_errno.h - restores errno to the value that the caller had.
 *
 * A program may look at errno after a successful MPI call.  Attempts of huddle that fail must not
 * change it, such as opening a file that does not exist, or waiting for a value that has already
 * arrived.
 *
 * Code that a fiber suspends must not use KEEP_ERRNO, because another call, perhaps of another
 * thread, uses errno meanwhile.  The function that resumes the fiber keeps errno instead.
 */
#ifndef HUD_KEPT_ERRNO_H
#define HUD_KEPT_ERRNO_H

#include <errno.h>

static inline void kept_errno_restore(const int *kept)
{
    errno = *kept;
}

/* Restores errno at the end of the block. */
#define KEEP_ERRNO()                                                                               \
    const int kept_errno __attribute__((cleanup(kept_errno_restore), unused)) = errno

#endif
