/* SPDX-License-Identifier: BSD-3-Clause */
/* scratch_array.h - memory that is reused and only grows, so that in the long run calls allocate
 * nothing.  All zero is valid and empty. */
#ifndef HUD_HOST_SCRATCH_ARRAY_H
#define HUD_HOST_SCRATCH_ARRAY_H

#include <stddef.h>
#include <stdlib.h>

struct scratch_array {
    void *memory;
    size_t bytes;
};

/* Returns memory of at least `bytes` bytes, or NULL if out of memory.  The previous content is lost
 * when the memory grows. */
static inline void *scratch_array_reserve(struct scratch_array *g, size_t bytes)
{
    if (bytes > g->bytes || !g->memory) {
        free(g->memory);
        g->memory = malloc(bytes);
        g->bytes = g->memory ? bytes : 0;
    }
    return g->memory;
}

static inline void scratch_array_free(struct scratch_array *g)
{
    free(g->memory);
    *g = (struct scratch_array){ NULL, 0 };
}

#endif
