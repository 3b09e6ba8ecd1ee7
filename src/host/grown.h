/* SPDX-License-Identifier: BSD-3-Clause */
/* grown.h - memory that is used again and again, and only grows: so calls allocate none in the long
 * run.  All zero is empty. */
#ifndef HUD_HOST_GROWN_H
#define HUD_HOST_GROWN_H

#include <stddef.h>
#include <stdlib.h>

struct grown {
    void *memory;
    size_t bytes;
};

/* At least so many bytes; what was there before is lost where it grows.  NULL: there is none. */
static inline void *grown_to(struct grown *g, size_t bytes)
{
    if (bytes > g->bytes || !g->memory) {
        free(g->memory);
        g->memory = malloc(bytes);
        g->bytes = g->memory ? bytes : 0;
    }
    return g->memory;
}

static inline void grown_free(struct grown *g)
{
    free(g->memory);
    *g = (struct grown){ NULL, 0 };
}

#endif
