/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * fuzz_hello.c - fuzzes the hellos of a team's set-up. The input is a list of changes to hellos
 * that agree: rank, offset and new bytes. All ranks must get one verdict, which names a rank of the
 * team, and the settings printed from a hello must end within the hello.
 */
#include "core/team/hello.h"
#include "fuzz.h"

#include <string.h>

enum { MAX_RANKS = 5 };

static void fill(union hello *hello, int rank)
{
    memset(hello, 0, sizeof *hello);
    hello->fields.version = 7;
    hello->fields.host_id = 5;
    hello->fields.boot_id = 9;
    hello->fields.offer_bytes = 4096;
    hello->fields.world_rank = rank;
    snprintf(hello->fields.values, sizeof hello->fields.values,
             "HUDDLE_LEASE=64K\nHUDDLE_TUNING=a (12345678)\n");
}

/* Applies the changes. Each is a rank, an offset of 2 bytes, a length, and the new bytes. */
static void change(union hello *hello, int ranks, const uint8_t *at, const uint8_t *end)
{
    while (end - at > 4) {
        unsigned char *bytes = hello[at[0] % ranks].bytes;
        size_t from = (at[1] | (size_t)at[2] << 8) % HELLO_BYTES, count = at[3];

        at += 4;
        count = count < (size_t)(end - at) ? count : (size_t)(end - at);
        count = count < HELLO_BYTES - from ? count : HELLO_BYTES - from;
        memcpy(bytes + from, at, count);
        at += count;
    }
}

static void check(const union hello *hello, int ranks)
{
    int who = -1, count;
    const struct setting *settings = hud_settings(&count);
    size_t bytes;
    char text[SET_TEXT];
    enum reason reason = hud_hello_verdict(hello, ranks, &bytes, &who);

    MUST((int)reason >= 0 && reason < REASON_COUNT && hud_reason_text[reason]);
    MUST(who >= 0 && who < ranks);
    for (int r = 0; reason == REASON_NONE && r < ranks; r++)
        MUST(bytes != 0 && bytes <= hello[r].fields.offer_bytes);
    for (int r = 0; r < ranks; r++)
        for (int i = 0; i < count; i++) {
            hud_hello_value(&hello[r], &settings[i], text);
            MUST(strlen(text) < sizeof text &&
                 strncmp(text, settings[i].name, strlen(settings[i].name)) == 0);
        }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t bytes)
{
    int ranks = bytes != 0 ? data[0] % MAX_RANKS + 1 : 1;
    union hello *hello =
        malloc((size_t)ranks *
               sizeof *hello); /* the exact size, so that a sanitizer detects reads past the end */

    MUST(hello);
    for (int r = 0; r < ranks; r++)
        fill(&hello[r], r);
    change(hello, ranks, data + (bytes != 0), data + bytes);
    check(hello, ranks);
    free(hello);
    return 0;
}
