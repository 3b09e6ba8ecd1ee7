/* SPDX-License-Identifier: BSD-3-Clause */
/* blake2s.h - BLAKE2s with 256 bits (RFC 7693), a one-way hash: one hash of a secret reveals
 * nothing about another.  hash.h is not enough for that. */
#ifndef HUD_BLAKE2S_H
#define HUD_BLAKE2S_H

#include <stddef.h>
#include <stdint.h>

enum { BLAKE2S_BYTES = 32, BLAKE2S_BLOCK = 64 };

struct blake2s {
    uint32_t state[8];
    uint64_t bytes; /* bytes hashed so far, without those in `block` */
    unsigned char block[BLAKE2S_BLOCK];
    size_t filled;
};

void hud_blake2s_start(struct blake2s *hash);
void hud_blake2s_add(struct blake2s *hash, const void *data, size_t bytes);
void hud_blake2s_end(struct blake2s *hash, unsigned char sum[BLAKE2S_BYTES]);

#endif
