/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * handover.h - passes descriptors of arenas between processes, as datagrams to abstract sockets
 * with names from the kernel: nothing is in the file system, and a sender need not wait for its
 * receiver.
 *
 * Any process on the node can send to such a socket.  So a message is peeked at first, which lets
 * no descriptor into this process.  It is received only if its nonce is expected, or if it comes
 * early from the same user, and only with exactly one descriptor.  The kernel disposes of dropped
 * messages: their descriptors never were this process's, so it need not close them.
 */
#ifndef HUD_HANDOVER_H
#define HUD_HANDOVER_H

#include "core/arena/arena.h"

/* A message. */
struct handover {
    unsigned char nonce[ARENA_NONCE];
    uint64_t bytes;
};

/* Opens a socket; name: its name without the leading zero byte.  On failure .fd is -1 and name "".
 */
struct descriptor hud_handover_open(char name[HANDOVER_NAME]);

/* Sends the descriptor of this rank's arena to a socket.  1: sent; 0: its queue is full, try again;
 * -1: no such socket. */
int hud_handover_send(const struct descriptor *sock, const struct arena *own, const char *name);

enum handover_kind {
    HANDOVER_NONE,     /* no message */
    HANDOVER_GARBAGE,  /* a message of another length */
    HANDOVER_STRANGER, /* a message; its sender may have another uid */
    HANDOVER_SAME_USER
};

/* Peeks at the next message; it stays queued. */
enum handover_kind hud_handover_peek(const struct descriptor *sock, struct handover *message);

/* Receives the message that was peeked at.  Returns its descriptor, which the caller closes, or
 * -1 if the message had none or several, or this process has no free descriptor. */
int hud_handover_take(const struct descriptor *sock, const struct handover *message);

/* Drops the next message. */
void hud_handover_drop(const struct descriptor *sock);

/* Returns whether the uid is of a single user, and not the uid of all users not mapped by this
 * user namespace. */
bool hud_handover_is_user(uid_t uid);

#endif
