/* SPDX-License-Identifier: BSD-3-Clause */
/* test_blake2s.c - the hash is BLAKE2s. */
#include "core/job/blake2s.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

/* Compares with RFC 7693, appendix B, and with the reference implementation's hashes of an empty
 * text, of a block, and of bytes 0, 1, ..., 254, added in parts. */
static void hash_equals_known_blake2s_values(void **state)
{
    static const struct {
        size_t bytes;
        const char *text, *sum;
    } known[] = {
        { 3, "abc", "508c5e8c327c14e2e1a72ba34eeb452f37458b209ed63a294d999b4c86675982" },
        { 0, "", "69217a3079908094e11121d042354a7c1f55b6482ca1a51e1b250dfd1ed0eef9" },
        { 64, NULL, "56f34e8b96557e90c1f24b52d0c89d51086acf1b00f634cf1dde9233b8eaaa3e" },
        { 255, NULL, "f03f5789d3336b80d002d59fdf918bdb775b00956ed5528e86aa994acb38fe2d" },
    };

    (void)state;
    for (size_t i = 0; i < sizeof known / sizeof known[0]; i++) {
        unsigned char sum[BLAKE2S_BYTES], count[255];
        char text[2 * BLAKE2S_BYTES + 1];
        struct blake2s hash;
        for (int b = 0; b < 255; b++)
            count[b] = (unsigned char)b;
        const char *from = known[i].text ? known[i].text : (const char *)count;
        hud_blake2s_start(&hash);
        hud_blake2s_add(&hash, from, known[i].bytes / 3);
        hud_blake2s_add(&hash, from + known[i].bytes / 3, known[i].bytes - known[i].bytes / 3);
        hud_blake2s_end(&hash, sum);
        for (int b = 0; b < BLAKE2S_BYTES; b++)
            snprintf(text + (ptrdiff_t)2 * b, 3, "%02x", sum[b]);
        assert_string_equal(text, known[i].sum);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = { cmocka_unit_test(hash_equals_known_blake2s_values) };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
