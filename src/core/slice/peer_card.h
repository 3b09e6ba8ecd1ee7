/* SPDX-License-Identifier: BSD-3-Clause */
/* peer_card.h - what a rank publishes about its arena in the first round of a set-up. */
#ifndef HUD_PEER_CARD_H
#define HUD_PEER_CARD_H

#include <stdint.h>

enum { ARENA_NONCE = 16 };   /* bytes of an arena's random number */
enum { HANDOVER_NAME = 16 }; /* bytes of a socket's name, with the final zero */

struct peer_card {
    unsigned char nonce[ARENA_NONCE];
    uint64_t bytes, address; /* address: for ranks that can read this process's memory */
    uint64_t process;        /* random, per process image */
    uint64_t pid_namespace, user_namespace; /* inode numbers; 0: not known */
    uint64_t net_namespace;                 /* namespace in which the socket's name is valid */
    int64_t offer;                          /* hud_mapped_offer; 0: none */
    int32_t pid, fd;
    uint32_t uid;
    uint32_t by_proc;           /* nonzero: it can open its own descriptor by /proc/PID/fd */
    char socket[HANDOVER_NAME]; /* name of its abstract socket, without the leading zero byte; ""
                                   none */
};

/* Returns a member's pid if valid in the PID namespace of this process, else 0. */
static inline int peer_pid(const struct peer_card *own, const struct peer_card *card)
{
    return own->pid_namespace != 0 && card->pid_namespace == own->pid_namespace ? (int)card->pid
                                                                                : 0;
}

#endif
