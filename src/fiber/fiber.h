/* SPDX-License-Identifier: BSD-3-Clause */
/* fiber.h - runs a function on a separate stack so that it can be suspended and resumed, by
 * Boost.Context. */
#ifndef HUD_FIBER_H
#define HUD_FIBER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* A fiber.  The members are private to fiber.cpp. */
struct fiber {
    void *inside, *outside; /* contexts in which to continue */
    bool returned;
    bool watched; /* a sanitizer must be told of each jump */
    void (*main)(void *arg);
    void *arg;
    char *map; /* guard page, then the stack */
    size_t map_bytes, guard_bytes;
    uintptr_t valgrind;
    /* for AddressSanitizer: */
    const void *outside_stack;
    size_t outside_bytes;
    void *fake_inside, *fake_outside;
    /* for ThreadSanitizer: */
    void *tsan_inside, *tsan_outside;
};

/* Returns whether the process has a sanitizer, whose functions need larger stacks. */
bool hud_fiber_watched(void);

/* Gives a fiber a stack, with an inaccessible page below it.  main(arg) begins at the first resume.
 * Returns false if out of memory. */
bool hud_fiber_init(struct fiber *f, size_t stack_bytes, void (*main)(void *arg), void *arg);
/* Frees the stack.  An unfinished stack is dropped without unwinding. */
void hud_fiber_destroy(struct fiber *f);

/* Runs the fiber until it suspends itself or its main returns; called from outside.  Returns false
 * if main has returned. */
bool hud_fiber_resume(struct fiber *f);
/* Suspends the fiber and returns to its resumer; called from inside. */
void hud_fiber_suspend(struct fiber *f);

#ifdef __cplusplus
}
#endif
#endif
