/* SPDX-License-Identifier: BSD-3-Clause */
/* messages.h - messages by which a team that spans nodes connects them.  huddle.h includes it. */
#ifndef HUDDLE_MESSAGES_H
#define HUDDLE_MESSAGES_H

#include <stddef.h>

#ifdef __cplusplus
extern "C" {
#endif

/*
 * Messages between members on different nodes (HUDDLE_NODES), of bytes, matched by rank and tag in
 * the order in which they were started.  `arg` is that of the exchange.  No function waits.  All
 * return 0, or nonzero on failure: then the call fails.  *done 1: over, and what was pending is
 * released.
 */
struct hud_messages {
    /* Before the first message of a team, by all its members, in its set-up: makes what they need.
     * NULL: nothing. */
    int (*open)(void *arg, void **pending);
    int (*opened)(void *arg, void **pending, int *done);
    /* tag: 0 .. 7, of no other messages of the program's or the host's. */
    int (*send)(void *arg, int rank, int tag, const void *from, size_t bytes, void **pending);
    int (*receive)(void *arg, int rank, int tag, void *to, size_t bytes, void **pending);
    /* Is it complete?  Also moves the host's messages. */
    int (*test)(void *arg, void **pending, int *done);
    /* The call was left: the memory stays, the message may still come. */
    void (*cancel)(void *arg, void **pending);
};

#ifdef __cplusplus
}
#endif
#endif
