/* SPDX-License-Identifier: BSD-3-Clause */
/* no_cache.c - part of every unit test: contexts find no cache folder, so the user's wisdom is
 * neither used nor changed.  Tests of the file of wisdom set a folder of their own. */
#include <stdlib.h>

static void __attribute__((constructor)) forget_cache(void)
{
    setenv("XDG_CACHE_HOME", "/dev/null", 1);
}
