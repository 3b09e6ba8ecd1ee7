/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * fuzz.h - shared by the programs of this folder. Each program passes arbitrary bytes to the code
 * that reads such input, and checks properties that must hold for any input. libFuzzer generates
 * the bytes where it is available; replay.c reads them from files in every build.
 */
#ifndef HUD_TESTS_FUZZ_H
#define HUD_TESTS_FUZZ_H

#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

/* Runs one input. libFuzzer prescribes the name. */
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t bytes);

/* Aborts if a condition does not hold, in builds without assertions as well. */
#define MUST(condition)                                                                            \
    do {                                                                                           \
        if (!(condition)) {                                                                        \
            fprintf(stderr, "%s:%d: does not hold: %s\n", __FILE__, __LINE__, #condition);         \
            abort();                                                                               \
        }                                                                                          \
    } while (0)

#endif
