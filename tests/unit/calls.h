/* SPDX-License-Identifier: BSD-3-Clause */
/* calls.h - a call of each collective with contents that tell whose they are; its result and what
 * lies behind the buffers are looked at. */
#ifndef HUD_TESTS_CREW_CALLS_H
#define HUD_TESTS_CREW_CALLS_H

#include "coll/coll.h"
#include "crew.h"

#include <stdint.h>

enum { GUARD = 64 }; /* bytes behind each buffer */

/* A buffer, all of it and its guard of one value; and its release: false, where the guard was
 * written. */
unsigned char *crew_buffer(size_t bytes);
int crew_release(unsigned char *at, size_t bytes);

/* Byte i of what a rank sends to another in its call of this number. */
unsigned char crew_byte(int from, int to, int call, size_t i);

static inline struct hud_view crew_view(void *base, size_t bytes)
{
    return (struct hud_view){ .base = base, .bytes = bytes };
}

/* Sums of words, elements of any number of them. */
void crew_add(const struct hud_op *op, void *dst, const void *const *src, int sources,
              size_t elements);
/* Three words: x -> x w0 + w1, one after the other, from left to right, which does not commute; and
 * a sum. */
void crew_compose(const struct hud_op *op, void *dst, const void *const *src, int sources,
                  size_t elements);

/* bytes: of the message, whole elements of op; exchanges take some more or less. */
void crew_make(struct rank *r, int kind, const struct hud_op *op, size_t bytes, bool in_place);

/* The same in parts: a call as all ranks know it; what this rank gives to huddle, with views that
 * are packed in that way; whether the result is there (it is then erased, if it has a buffer of its
 * own); the end, false where a guard was written. */
struct crew_what {
    int kind, number, ranks;
    const struct hud_op *op;
    size_t bytes;
    bool in_place;
};
struct crew_call *crew_begin(const struct crew_what *what, int me);
struct hud_args *crew_args(struct crew_call *call);
void crew_pack(struct crew_call *call, const struct hud_view *how);
bool crew_check(struct crew_call *call);
bool crew_end(struct crew_call *call);

#endif
