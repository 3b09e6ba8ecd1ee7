/* SPDX-License-Identifier: BSD-3-Clause */
/* fiber.h - a function on a separate stack that can be suspended and resumed, by Boost.Context. */
#ifndef HUD_FIBER_H
#define HUD_FIBER_H

#include <stdbool.h>
#include <stddef.h>

#ifdef __cplusplus
extern "C" {
#endif

struct fiber;

/* Tells whether the process has a sanitizer, whose functions need larger stacks. */
bool hud_fiber_watched(void);

/* The stack has an inaccessible page below it.  main(arg) begins at the first resume.  NULL: out of
 * memory. */
struct fiber *hud_fiber_create(size_t stack_bytes, void (*main)(void *arg), void *arg);
/* Whatever the fiber still held is forgotten, not unwound.  NULL is allowed. */
void hud_fiber_free(struct fiber *f);

/* From outside: runs the fiber until it suspends itself or its main returns; false if it has
 * returned. */
bool hud_fiber_resume(struct fiber *f);
/* From inside: back to its resumer. */
void hud_fiber_suspend(struct fiber *f);

#ifdef __cplusplus
}
#endif
#endif
