/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * peers.h - the other ranks' arenas, mapped once each and kept while the context lives.
 *
 * If all members of a team share a PID and a user namespace and /proc is usable, a peer's
 * descriptor is opened through /proc/PID/fd.  Otherwise every member sends its own descriptor to
 * the others' sockets (abstract, autobound, datagrams) between the two rounds of a team's set-up
 * (arrivals.c).  In both cases the arena's random nonce, which only members know, excludes a wrong
 * file, and its seals exclude a file that could shrink.
 */
#ifndef HUD_PEERS_H
#define HUD_PEERS_H

#include "core/arena/handover.h"

#include <pthread.h>

/* What a rank tells of its arena in the first round. */
struct peer_card {
    unsigned char nonce[ARENA_NONCE];
    uint64_t bytes, address;                /* address: for who can read this process's memory */
    uint64_t process;                       /* random, per process image */
    uint64_t pid_namespace, user_namespace; /* inode numbers; 0: not known */
    uint64_t net_namespace;                 /* where the socket's name means something */
    int32_t pid, fd;
    uint32_t uid;
    uint32_t by_proc;           /* nonzero: it could open its own descriptor by /proc/PID/fd */
    char socket[HANDOVER_NAME]; /* name of its abstract socket, without the leading zero byte; ""
                                   none */
};

/* A member's pid, where it means the same process to this one; 0: it does not. */
static inline int peer_pid(const struct peer_card *own, const struct peer_card *card)
{
    return own->pid_namespace != 0 && card->pid_namespace == own->pid_namespace ? (int)card->pid
                                                                                : 0;
}

struct peer {
    unsigned char nonce[ARENA_NONCE];
    struct arena_head *head;
    size_t bytes;
    bool borrowed;     /* of this process: not ours to unmap */
    bool sent;         /* our descriptor went to it */
    int awaited;       /* set-ups of this process that wait for its descriptor, of card_bytes */
    size_t card_bytes; /* what its card says */
    bool failed;       /* what came for them cannot be mapped */
    enum { DIRECT_UNKNOWN, DIRECT_YES, DIRECT_NO } direct; /* this process can read its memory */
    struct peer *next;
};

/* A descriptor from our user for a team whose first round has not returned in this process yet. */
enum { PEERS_EARLY = 32 };
struct early {
    struct handover message;
    struct descriptor file; /* .fd -1: none */
};

struct peers {
    pthread_mutex_t lock; /* for all that follows, never held while anything waits */
    struct peer *first;
    struct descriptor sock; /* receives descriptors of arenas */
    struct early early[PEERS_EARLY];
    unsigned earlies; /* so far: the oldest goes */
    bool lost;        /* see hud_peers_lost */
    bool proc_failed; /* /proc let us down once: not offered again */
    bool card_known;
    struct peer_card card; /* of this rank's arena, once it was asked for */
    struct arena_head *own;
    struct peers *next_here; /* of the process's contexts that have a card */
};

void hud_peers_init(struct peers *p);
void hud_peers_destroy(struct peers *p);

/* Fills the card of this rank's arena. */
void hud_peers_card(struct peers *p, const struct arena *own, struct peer_card *card);

/* A member never came with its descriptor: teams of this rank are refused at once, instead of after
 * a wait each. */
bool hud_peers_lost(struct peers *p);

/* Of a team that some member could not reach: its members get our descriptor again when another
 * team of theirs needs it. */
void hud_peers_send_again(struct peers *p, const struct peer_card *cards, int ranks);

/*
 * Maps every arena of cards[0..ranks-1] that is not mapped yet; base[r] receives where.  Waits,
 * when descriptors must be sent, for the others to come this far, at most 10 s; calls progress
 * meanwhile.  Returns 0, or the number of a rank that is out of reach plus one.
 */
int hud_peers_map(struct peers *p, const struct arena *own, const struct peer_card *cards,
                  int ranks, int me, void (*progress)(void *arg), void *arg, char **base);

/* This process can read the memory of every other member, after hud_peers_map: a member is tried
 * once while the context lives.  pids: of all. */
bool hud_peers_direct(struct peers *p, const struct peer_card *cards, int ranks, int me, int *pids);

/* ---- between peers.c and arrivals.c ---- */

/* The lock is held.  The peer of that nonce; NULL: there is none, or, for the second, no memory for
 * one. */
struct peer *hud_peers_find(struct peers *p, const unsigned char *nonce);
struct peer *hud_peers_find_or_add(struct peers *p, const unsigned char *nonce);
/* Maps fd if it is the arena of that nonce, of so many bytes, and can neither shrink nor grow.
 * Closes fd.  NULL: it is not, or there is no address space. */
struct arena_head *hud_peers_map_file(int fd, const unsigned char *nonce, size_t bytes);
/* Records a mapping; another thread may have been faster, then the new one goes. */
void hud_peers_record(struct peers *p, const unsigned char *nonce, struct arena_head *head,
                      size_t bytes, bool borrowed);

/*
 * Sends this rank's descriptor to all of a team who have not got it, and maps what they send.
 * Where a message is bad, or its descriptor was lost on the way, its sender stays out of this
 * team's reach.
 */
void hud_arrivals_exchange(struct peers *p, const struct arena *own, const struct peer_card *cards,
                           int ranks, int me, void (*progress)(void *arg), void *arg);
void hud_arrivals_drop(struct peers *p); /* what is still there, at the end */

#endif
