/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * handover.h - descriptors of arenas from process to process, as datagrams to abstract sockets whose names the kernel picks: nothing in the
 * file system, and a sender need not wait for its receiver.
 */
#ifndef HUD_HANDOVER_H
#define HUD_HANDOVER_H

#include "core/arena.h"

enum { HANDOVER_NAME = 16 }; /* bytes of a socket's name, the zero that ends it included */

struct arrival {
    struct {
        unsigned char nonce[ARENA_NONCE];
        uint64_t bytes;
    } message;
    bool whole;     /* the message has its length */
    bool same_user; /* the kernel says that the sender has our uid */
    int fd;         /* the receiver's to close; -1: it was lost on the way (no free descriptor here) */
};

/* A socket, and its name without the leading zero byte; .fd -1 and "": there is none to be had. */
struct descriptor hud_handover_open(char name[HANDOVER_NAME]);

/* The own arena's descriptor to a socket.  1: sent; 0: its queue is full, try again; -1: nobody is there. */
int hud_handover_send(const struct descriptor *sock, const struct arena *own, const char *name);

/* One that has arrived; false: none. */
bool hud_handover_receive(const struct descriptor *sock, struct arrival *arrival);

#endif
