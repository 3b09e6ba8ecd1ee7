/* SPDX-License-Identifier: BSD-3-Clause */
/* messages.h - messages by which a team that spans nodes connects them.  huddle.h includes it. */
#ifndef HUDDLE_MESSAGES_H
#define HUDDLE_MESSAGES_H

#include <stddef.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Kinds of messages.  Nothing else of the program's or the host's is matched with any of them. */
enum hud_message_kind {
    HUD_MESSAGE_CALL,    /* of collectives */
    HUD_MESSAGE_NETWORK, /* by which the network is measured */
    HUD_MESSAGE_END,     /* the sender makes no further calls on the team; never received */
    HUD_MESSAGE_KINDS
};

/*
 * Messages between members on different nodes (HUDDLE_NODES), of bytes, matched by rank and kind in
 * the order in which they were started.  `arg` is that of the exchange.  No function waits.  All
 * return 0, or nonzero on failure: then the call fails.  *done 1: over, and what was pending is
 * released.
 */
struct hud_messages {
    /* Before the first message of a team, by all its members, in its set-up: makes what they need.
     * NULL: nothing. */
    int (*open)(void *arg, void **pending);
    int (*opened)(void *arg, void **pending, int *done);
    int (*send)(void *arg, int rank, int kind, const void *from, size_t bytes, void **pending);
    int (*receive)(void *arg, int rank, int kind, void *to, size_t bytes, void **pending);
    /* Is it complete?  Of a receive: so many bytes have come.  HUD_ERR_TRUNCATE: more than it has
     * room for.  Also moves the host's messages. */
    int (*test)(void *arg, void **pending, int *done, size_t *bytes);
    /* Has one of that kind come, from any rank?  *bytes: of it.  It stays where it is. */
    int (*look)(void *arg, int kind, int *there, size_t *bytes);
    /* The call was left: the memory stays, the message may still come. */
    void (*cancel)(void *arg, void **pending);
    /* No further message is started; those that nobody receives may still come.  NULL: nothing. */
    void (*end)(void *arg);
};

#ifdef __cplusplus
}
#endif
#endif
