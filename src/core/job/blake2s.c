/* SPDX-License-Identifier: BSD-3-Clause */
/* blake2s.c - BLAKE2s, after RFC 7693: https://www.rfc-editor.org/rfc/rfc7693. */
#include "core/job/blake2s.h"

#include <string.h>

static const uint32_t start[8] = { 0x6a09e667, 0xbb67ae85, 0x3c6ef372, 0xa54ff53a,
                                   0x510e527f, 0x9b05688c, 0x1f83d9ab, 0x5be0cd19 };

static const unsigned char order[10][16] = {
    { 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15 },
    { 14, 10, 4, 8, 9, 15, 13, 6, 1, 12, 0, 2, 11, 7, 5, 3 },
    { 11, 8, 12, 0, 5, 2, 15, 13, 10, 14, 3, 6, 7, 1, 9, 4 },
    { 7, 9, 3, 1, 13, 12, 11, 14, 2, 6, 5, 10, 4, 0, 15, 8 },
    { 9, 0, 5, 7, 2, 4, 10, 15, 14, 1, 11, 12, 6, 8, 3, 13 },
    { 2, 12, 6, 10, 0, 11, 8, 3, 4, 13, 7, 5, 15, 14, 1, 9 },
    { 12, 5, 1, 15, 14, 13, 4, 10, 0, 7, 6, 3, 9, 2, 8, 11 },
    { 13, 11, 7, 14, 12, 1, 3, 9, 5, 0, 15, 4, 8, 6, 2, 10 },
    { 6, 15, 14, 9, 11, 3, 0, 8, 12, 2, 13, 7, 1, 4, 10, 5 },
    { 10, 2, 8, 4, 7, 6, 1, 5, 15, 11, 9, 14, 3, 12, 13, 0 },
};

static uint32_t turn(uint32_t x, int by)
{
    return x >> by | x << (32 - by);
}

static void mix(uint32_t v[16], int a, int b, int c, int d, uint32_t x, uint32_t y)
{
    v[a] += v[b] + x;
    v[d] = turn(v[d] ^ v[a], 16);
    v[c] += v[d];
    v[b] = turn(v[b] ^ v[c], 12);
    v[a] += v[b] + y;
    v[d] = turn(v[d] ^ v[a], 8);
    v[c] += v[d];
    v[b] = turn(v[b] ^ v[c], 7);
}

static void compress(struct blake2s *h, uint32_t last)
{
    uint32_t v[16], m[16];

    for (int i = 0; i < 16; i++) {
        const unsigned char *at = h->block + 4 * i;
        m[i] =
            (uint32_t)at[0] | (uint32_t)at[1] << 8 | (uint32_t)at[2] << 16 | (uint32_t)at[3] << 24;
    }
    memcpy(v, h->state, sizeof h->state);
    memcpy(v + 8, start, sizeof start);
    v[12] ^= (uint32_t)h->bytes;
    v[13] ^= (uint32_t)(h->bytes >> 32);
    v[14] ^= last;
    for (int i = 0; i < 10; i++) {
        const unsigned char *s = order[i];
        mix(v, 0, 4, 8, 12, m[s[0]], m[s[1]]);
        mix(v, 1, 5, 9, 13, m[s[2]], m[s[3]]);
        mix(v, 2, 6, 10, 14, m[s[4]], m[s[5]]);
        mix(v, 3, 7, 11, 15, m[s[6]], m[s[7]]);
        mix(v, 0, 5, 10, 15, m[s[8]], m[s[9]]);
        mix(v, 1, 6, 11, 12, m[s[10]], m[s[11]]);
        mix(v, 2, 7, 8, 13, m[s[12]], m[s[13]]);
        mix(v, 3, 4, 9, 14, m[s[14]], m[s[15]]);
    }
    for (int i = 0; i < 8; i++)
        h->state[i] ^= v[i] ^ v[i + 8];
}

void hud_blake2s_start(struct blake2s *h)
{
    memset(h, 0, sizeof *h);
    memcpy(h->state, start, sizeof start);
    h->state[0] ^= 0x01010000 ^ BLAKE2S_BYTES; /* no key */
}

void hud_blake2s_add(struct blake2s *h, const void *data, size_t bytes)
{
    const unsigned char *from = data;

    for (size_t i = 0; i < bytes; i++) {
        if (h->filled == BLAKE2S_BLOCK) {
            h->bytes += BLAKE2S_BLOCK;
            compress(h, 0);
            h->filled = 0;
        }
        h->block[h->filled++] = from[i];
    }
}

void hud_blake2s_end(struct blake2s *h, unsigned char sum[BLAKE2S_BYTES])
{
    memset(h->block + h->filled, 0, BLAKE2S_BLOCK - h->filled);
    h->bytes += h->filled;
    compress(h, UINT32_MAX);
    for (int i = 0; i < BLAKE2S_BYTES; i++)
        sum[i] = (unsigned char)(h->state[i / 4] >> 8 * (i % 4));
}
