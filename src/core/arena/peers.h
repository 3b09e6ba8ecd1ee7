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
#include "mem/mapped.h"

#include <pthread.h>

struct peer {
    unsigned char nonce[ARENA_NONCE];
    struct arena_head *head;
    size_t bytes;
    bool borrowed;        /* belongs to this process: not to be unmapped here */
    bool sent;            /* this rank's descriptor was sent to it */
    int awaited;          /* set-ups of this process that wait for its descriptor, of card_bytes */
    size_t card_bytes;    /* size on its card */
    bool failed;          /* the descriptor that came cannot be mapped */
    unsigned tried, ways; /* enum direct_way: of reaching its memory, and those that work */
    struct mem_mapped *mapped; /* its memory, of DIRECT_MAPPED */
    struct peer *next;
};

/* A descriptor from this user, for a team whose first round has not returned in this process yet.
 */
enum { PEERS_EARLY = 32 };
struct early {
    struct handover message;
    struct descriptor file; /* .fd -1: none */
};

struct peers {
    pthread_mutex_t lock; /* guards all fields below; never held during a wait */
    struct peer *first;
    struct descriptor sock; /* receives descriptors of arenas */
    struct early early[PEERS_EARLY];
    unsigned earlies; /* number so far; a new one replaces the oldest */
    bool lost;        /* see hud_peers_lost */
    bool proc_failed; /* /proc failed once: not offered again */
    bool maps;        /* HUDDLE_XPMEM lets other ranks map this rank's memory; set before `card` */
    bool keeps;       /* this rank keeps its mappings of other ranks' memory; set before `card` */
    bool card_known;
    struct peer_card card; /* card of this rank's arena, once card_known is set */
    struct arena_head *own;
    struct peers *next_here; /* next of the process's contexts that have a card */
};

void hud_peers_init(struct peers *p);
void hud_peers_destroy(struct peers *p);

/* Fills the card of this rank's arena. */
void hud_peers_card(struct peers *p, const struct arena *own, struct peer_card *card);

/* Returns whether a member never sent its descriptor: teams of this rank are refused at once,
 * instead of after a wait each. */
bool hud_peers_lost(struct peers *p);

/* Sends this rank's descriptor again when another team needs it, to the members of a team in
 * which some member was out of reach. */
void hud_peers_send_again(struct peers *p, const struct peer_card *cards, int ranks);

/* Maps every arena of cards[0..ranks-1] that is not mapped yet; base[r] gets its address.  Waits
 * for descriptors at most 10 s, and calls progress meanwhile.  Returns 0, or 1 + the number of a
 * rank out of reach. */
int hud_peers_map(struct peers *p, const struct arena *own, const struct peer_card *cards,
                  int ranks, int me, void (*progress)(void *arg), void *arg, char **base);

/* Returns which of the ways (enum direct_way, a set) reach the memory of every other member,
 * after hud_peers_map.  Each member is tried once in the life of the context.  reached, mapped:
 * of all members; mapped is NULL for this rank, and where mappings do not work. */
unsigned hud_peers_direct(struct peers *p, const struct peer_card *cards, int ranks, int me,
                          unsigned ways, struct mem_peer *reached, struct mem_mapped **mapped);

/* ---- between peers.c and arrivals.c ---- */

/* Finds the peer of a nonce, under the lock.  Returns NULL if there is none or, for the second
 * function, no memory. */
struct peer *hud_peers_find(struct peers *p, const unsigned char *nonce);
struct peer *hud_peers_find_or_add(struct peers *p, const unsigned char *nonce);
/* Maps fd if the file is the arena of a nonce and size, and can neither shrink nor grow.  Closes
 * fd.  Returns NULL for another file, or without address space. */
struct arena_head *hud_peers_map_file(int fd, const unsigned char *nonce, size_t bytes);
/* Records a mapping; if another thread was faster, the new one is unmapped. */
void hud_peers_record(struct peers *p, const unsigned char *nonce, struct arena_head *head,
                      size_t bytes, bool borrowed);

/* Sends this rank's descriptor to the members of a team without a copy, and maps theirs.  After
 * a bad message, or a lost descriptor, this team cannot reach the sender. */
void hud_arrivals_exchange(struct peers *p, const struct arena *own, const struct peer_card *cards,
                           int ranks, int me, void (*progress)(void *arg), void *arg);
void hud_arrivals_drop(struct peers *p); /* messages that are still queued, at the end */

#endif
