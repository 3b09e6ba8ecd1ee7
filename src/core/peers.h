/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * peers.h - the other ranks' arenas, mapped once each and kept while the context lives.
 *
 * A peer's descriptor is reached over /proc/PID/fd where all members of a team share a PID and a user namespace and /proc can be used; otherwise
 * every member sends its own descriptor to the others' sockets (abstract, autobound, datagrams) between the two rounds of a team's
 * set-up.  Either way the arena's random nonce tells it from a wrong file, and its seals from a file that could shrink.
 */
#ifndef HUD_PEERS_H
#define HUD_PEERS_H

#include "core/handover.h"

#include <pthread.h>

/* What a rank tells of its arena in the first round. */
struct peer_card {
    unsigned char nonce[ARENA_NONCE];
    uint64_t bytes, address;                /* address: for ranks that are threads of one process */
    uint64_t process;                       /* random, per process image */
    uint64_t pid_namespace, user_namespace; /* inode numbers; 0: not known */
    uint64_t started;                       /* hud_process_started of pid */
    int32_t pid, fd;
    uint32_t uid;
    uint32_t by_proc;           /* nonzero: it could open its own descriptor by /proc/PID/fd */
    char socket[HANDOVER_NAME]; /* name of its abstract socket, without the leading zero byte; "" none */
};

struct peer {
    unsigned char nonce[ARENA_NONCE];
    struct arena_head *head;
    size_t bytes;
    bool borrowed;                                         /* of this process: not ours to unmap */
    bool sent;                                             /* our descriptor went to it */
    enum { DIRECT_UNKNOWN, DIRECT_YES, DIRECT_NO } direct; /* this process can read its memory */
    struct peer *next;
};

struct peers {
    pthread_mutex_t lock; /* for the list, never held while anything waits */
    struct peer *first;
    struct descriptor sock; /* receives descriptors of arenas */
    bool lost;              /* see hud_peers_lost */
    bool proc_failed;       /* /proc let us down once: not offered again */
    bool card_known;
    struct peer_card card; /* of the own arena, once it was asked for */
};

int hud_peers_init(struct peers *p); /* 0, or -1 */
void hud_peers_destroy(struct peers *p);

/* Fills the card of the own arena. */
void hud_peers_card(struct peers *p, const struct arena *own, struct peer_card *card);

/* A descriptor did not arrive, and will not come again: teams of this rank are refused at once, instead of after a wait. */
bool hud_peers_lost(struct peers *p);

/*
 * Maps every arena of cards[0..ranks-1] that is not mapped yet; base[r] receives where.  Waits, when descriptors must be sent, for the
 * others to come this far, at most 10 s; calls progress meanwhile.  Returns 0, or the number of a rank that is out of reach plus one.
 */
int hud_peers_map(struct peers *p, const struct arena *own, const struct peer_card *cards, int ranks, int me, void (*progress)(void *arg),
                  void *arg, char **base);

/* This process can read the memory of every other member, after hud_peers_map: a member is tried once while the context lives.  pids: of all. */
bool hud_peers_direct(struct peers *p, const struct peer_card *cards, int ranks, int me, int *pids);

#endif
