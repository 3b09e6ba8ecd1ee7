/* SPDX-License-Identifier: BSD-3-Clause */
/* hash.h - FNV-1a, 64 bits: to compare texts, not to keep secrets. */
#ifndef HUD_HASH_H
#define HUD_HASH_H

#include <stdint.h>

#define HASH_START 14695981039346656037ULL
#define HASH_FACTOR 1099511628211ULL

static inline uint64_t hash_text(uint64_t h, const char *text)
{
    for (; *text; text++)
        h = (h ^ (unsigned char)*text) * HASH_FACTOR;
    return h * HASH_FACTOR; /* an end, so that "a" "bc" is not "ab" "c" */
}

static inline uint64_t hash_number(uint64_t h, uint64_t n)
{
    for (int i = 0; i < 8; i++, n >>= 8)
        h = (h ^ (n & 255)) * HASH_FACTOR;
    return h;
}

#endif
