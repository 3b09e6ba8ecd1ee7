/* SPDX-License-Identifier: BSD-3-Clause */
/* calls.h - makes calls of each collective with data that identify their sender, and verifies the
 * result and the bytes after the buffers. */
#ifndef HUD_TESTS_CALLS_H
#define HUD_TESTS_CALLS_H

#include "coll/coll.h"
#include "ranks.h"

#include <stdint.h>

enum { GUARD = 64 }; /* bytes after each buffer */

/* Allocates a buffer filled with a single value, guard included. guarded_free() frees the buffer
 * and returns false if the guard was written. */
unsigned char *guarded_buffer(size_t bytes);
int guarded_free(unsigned char *at, size_t bytes);

/* Returns byte i of the block that a rank sends to another in a call. */
unsigned char call_byte(int from, int to, int call, size_t i);

static inline struct hud_view view_of(void *base, size_t bytes)
{
    return (struct hud_view){ .base = base, .bytes = bytes };
}

/* Adds words. An element has any number of them. */
void add_words(const struct hud_op *op, void *dst, const void *const *src, int sources,
               size_t elements);
/* Combines elements of three words: maps x -> x w0 + w1, composed from left to right, which does
 * not commute, and a sum. */
void compose_words(const struct hud_op *op, void *dst, const void *const *src, int sources,
                   size_t elements);

/* Makes a call and verifies the result. Returns whether huddle handled the call. `bytes` is the
 * size of the message in whole elements of op; exchanges send a little more or less. */
bool call_make(struct rank *r, int kind, const struct hud_op *op, size_t bytes, bool in_place);

/* The same in steps. call_begin() makes a call from values that are equal on all ranks. call_args()
 * returns the arguments for huddle, and call_pack() makes the views packed. call_check() reports
 * whether the result is right, and then erases the result if it has its own buffer. call_end()
 * returns false if a guard was written. */
struct call_what {
    int kind, number, ranks;
    const struct hud_op *op;
    size_t bytes;
    bool in_place;
};
struct call *call_begin(const struct call_what *what, int me);
struct hud_args *call_args(struct call *call);
void call_pack(struct call *call, const struct hud_view *how);
bool call_check(struct call *call);
bool call_end(struct call *call);

#endif
