/* SPDX-License-Identifier: BSD-3-Clause */
/* messages.h - messages by which a team that spans nodes connects its nodes.  huddle.h includes
 * it. */
#ifndef HUDDLE_MESSAGES_H
#define HUDDLE_MESSAGES_H

#include <stddef.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Kinds of messages.  They never match other messages of the program or of the host. */
enum hud_message_kind {
    HUD_MESSAGE_CALL,    /* a message of a collective */
    HUD_MESSAGE_NETWORK, /* a message that measures the network */
    HUD_MESSAGE_END,     /* the sender makes no further calls on the team; never received */
    HUD_MESSAGE_KINDS
};

/*
 * Messages between members on different nodes (HUDDLE_NODES).  They are matched by rank and kind in
 * the order in which they were started; sizes are in bytes.  `arg` is the exchange's.  No function
 * waits.  All functions return 0, or nonzero on failure; then the call fails.  When *done becomes
 * 1, the operation is complete, and *pending has been released.
 */
struct hud_messages {
    /* Prepares the messages of a team.  All members call open in the team's set-up, before the
     * first message, and opened until *done is 1.  NULL if there is nothing to prepare. */
    int (*open)(void *arg, void **pending);
    int (*opened)(void *arg, void **pending, int *done);
    int (*send)(void *arg, int rank, int kind, const void *from, size_t bytes, void **pending);
    int (*receive)(void *arg, int rank, int kind, void *to, size_t bytes, void **pending);
    /* Checks a message for completion, and makes progress on the host's messages.  For a receive,
     * *bytes is the received size.  Returns HUD_ERR_TRUNCATE if the message exceeds the buffer. */
    int (*test)(void *arg, void **pending, int *done, size_t *bytes);
    /* Probes for a message of a kind from any rank, without receiving it.  *bytes is its size. */
    int (*probe)(void *arg, int kind, int *there, size_t *bytes);
    /* Abandons a message because its call failed: the memory stays, and the message may still
     * come. */
    void (*cancel)(void *arg, void **pending);
    /* Ends the team's messages: none is started from now on, and unreceived ones may still come.
     * NULL if there is nothing to do. */
    void (*end)(void *arg);
};

#ifdef __cplusplus
}
#endif
#endif
