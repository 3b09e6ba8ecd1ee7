/* SPDX-License-Identifier: BSD-3-Clause */
/* lengths.h - calls of all lengths, and of all kinds of types, for programs that compare every byte
 * of an exchange. */
#ifndef HUD_TESTS_LENGTHS_H
#define HUD_TESTS_LENGTHS_H

#include "kinds.h"
#include "options.h"

static bool too_large(int units)
{
    return (uint64_t)units * UNIT * (uint64_t)world_size > options.max * 2;
}

/* Makes calls of `whats` kinds with contiguous messages of ints, of all lengths, with and without
 * MPI_IN_PLACE. */
static void all_lengths(int whats, void (*make)(int what, int units, bool in_place, bool large))
{
    static const int all[] = { 0,   1,   2,   3,    4,    21,   22,   85,    86,    170,  171,
                               341, 342, 683, 1365, 1366, 2731, 5461, 10923, 21846, 87382 };
    static const int few[] = { 0, 1, 2, 22, 86, 1366, 5461 };
    const int *units = options.brief ? few : all;
    size_t count = options.brief ? sizeof few / sizeof *few : sizeof all / sizeof *all;

    for (size_t i = 0; i < count; i++)
        for (int what = 0; what < whats; what++)
            for (int turn = 0; turn < 2 && !too_large(units[i]); turn++)
                make(what, units[i], turn, i % 2);
    section("sizes");
}

/* Makes calls of `whats` kinds with messages that are described by the kinds of a family in turn,
 * over ranks, senders and receivers. */
static void all_types(int whats, void (*make)(int what, const struct family *family, int kind,
                                              int units, int round, bool in_place))
{
    static const int units[] = { 3, 90, 1500 };

    for (int u = 0; u < 3; u++)
        for (size_t f = 0; f < sizeof families / sizeof *families; f++)
            for (int k = options.brief ? u % 2 : 0; k < families[f].count && !too_large(units[u]);
                 k += options.brief ? 2 : 1)
                for (int what = 0; what < whats; what++)
                    for (int turn = 0; turn < 2; turn++)
                        make(what, &families[f], k, units[u], u, turn);
    section("types");
}

#endif
