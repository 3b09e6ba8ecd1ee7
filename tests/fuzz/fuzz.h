/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * fuzz.h - what the programs of this folder have in common.  Each takes bytes of any kind, gives
 * them to the code that reads such input, and checks what must hold whatever they are.  libFuzzer
 * makes the bytes where it is there; replay.c reads them from files in every build.
 */
#ifndef HUD_TESTS_FUZZ_H
#define HUD_TESTS_FUZZ_H

#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

/* libFuzzer's name for it. */
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t bytes);

/* What must hold, in builds without assertions as well. */
#define MUST(condition)                                                                            \
    do {                                                                                           \
        if (!(condition)) {                                                                        \
            fprintf(stderr, "%s:%d: does not hold: %s\n", __FILE__, __LINE__, #condition);         \
            abort();                                                                               \
        }                                                                                          \
    } while (0)

#endif
