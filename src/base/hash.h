/* SPDX-License-Identifier: BSD-3-Clause */
/* hash.h - FNV-1a, 64 bits, and the mixer of splitmix64: to compare, not to keep secrets. */
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

/* The step of splitmix64 between two numbers. */
#define HASH_STEP 0x9e3779b97f4a7c15ULL

/* Mixes all bits of a number.  FNV-1a of small numbers is nearly linear. */
static inline uint64_t hash_mix(uint64_t n)
{
    n = (n ^ (n >> 30)) * 0xbf58476d1ce4e5b9ULL;
    n = (n ^ (n >> 27)) * 0x94d049bb133111ebULL;
    return n ^ (n >> 31);
}

#endif
