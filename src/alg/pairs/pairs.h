/* SPDX-License-Identifier: BSD-3-Clause */
/* pairs.h - the memory of the family `pairs` (pairs.c). */
#ifndef HUD_ALG_PAIRS_H
#define HUD_ALG_PAIRS_H

#include "alg/alg.h"

/* Buffers of a rank; bytes of one. */
enum { PAIRS_COMING = 4, PAIRS_GOING = 8, PAIRS_FRAGMENT_BYTES = 16 << 10 };

/* Parameters: bytes of a fragment, and of a buffer, whole lines; the same in all calls. */
enum pairs_param { PAIRS_FRAGMENT, PAIRS_PARAMS };

struct pairs_lines {
    mem_flag sent, got;
    uint64_t calls; /* of the family: the owner's own word */
    _Alignas(HUD_LINE) char end[];
};

static inline size_t pairs_window_bytes(size_t fragment_bytes)
{
    return (PAIRS_COMING + PAIRS_GOING) * fragment_bytes;
}

extern const struct alg_family HUD_BACKEND(pairs_family);

#endif
