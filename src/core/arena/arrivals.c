/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * arrivals.c - all members of a team send the descriptors of their arenas to each other, over
 * sockets to which any process on the node can send.
 *
 * A message is accepted if its nonce is one that a set-up of this process waits for: 128 random
 * bits, which the members have exchanged over the MPI.  Several threads may set up teams at a time,
 * and a message may arrive before the first round of its team has returned here.  A few of those
 * are kept, if they are from the same user.  All other messages are dropped unopened.  A bad
 * message affects only the set-up that waits for it.
 */
#include "base/process.h"
#include "core/arena/peers.h"

#include <poll.h>
#include <string.h>
#include <time.h>

enum {
    WAIT_SECONDS = 10,
    MESSAGES_A_TURN = 64,
    TURNS_PER_DEATH = 64 /* turns of some ms, from one question about processes to the next */
};

static double seconds(void)
{
    struct timespec t;

    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

/* Returns whether a set-up waits for a peer; called under the lock. */
static bool waits_for(const struct peer *peer)
{
    return peer && !peer->head && peer->awaited > 0;
}

/* Keeps an early message; called under the lock. */
static void keep_early(struct peers *p, const struct handover *message, int fd)
{
    struct early *slot = &p->early[p->earlies++ % PEERS_EARLY];

    descriptor_close(&slot->file);
    *slot = (struct early){ .message = *message, .file = descriptor_of(fd) };
}

/* Maps the descriptor of a peer, or notes its loss. */
static void arrived(struct peers *p, const struct handover *message, int fd, size_t card_bytes)
{
    struct arena_head *head = NULL;

    if (fd >= 0 && message->bytes == card_bytes)
        head = hud_peers_map_file(fd, message->nonce, card_bytes);
    else if (fd >= 0)
        close(fd);
    if (head) {
        hud_peers_record(p, message->nonce, head, card_bytes, false);
        return;
    }
    pthread_mutex_lock(&p->lock);
    struct peer *peer = hud_peers_find(p, message->nonce);
    if (peer)
        peer->failed = true;
    pthread_mutex_unlock(&p->lock);
}

/* Receives the next message, of any kind.  Returns false if no message waits. */
static bool receive(struct peers *p)
{
    struct handover message;
    size_t card_bytes = 0;
    bool expected = false;
    int fd = -1;

    pthread_mutex_lock(&p->lock);
    enum handover_kind kind = hud_handover_peek(&p->sock, &message);
    if (kind == HANDOVER_SAME_USER || kind == HANDOVER_STRANGER) {
        struct peer *peer = hud_peers_find(p, message.nonce);
        expected = waits_for(peer);
        if (expected)
            card_bytes = peer->card_bytes;
        bool early = kind == HANDOVER_SAME_USER && !(peer && peer->head);
        if (expected || early)
            fd = hud_handover_take(&p->sock, &message);
        else
            hud_handover_drop(&p->sock);
        if (!expected && fd >= 0)
            keep_early(p, &message, fd);
    } else if (kind == HANDOVER_GARBAGE) {
        hud_handover_drop(&p->sock);
    }
    pthread_mutex_unlock(&p->lock);
    if (expected)
        arrived(p, &message, fd, card_bytes);
    return kind != HANDOVER_NONE;
}

/* Takes the early message of a peer.  Returns false if there is none. */
static bool take_early(struct peers *p, const unsigned char *nonce, size_t card_bytes)
{
    struct early found = { .file.fd = -1 };

    pthread_mutex_lock(&p->lock);
    for (int i = 0; i < PEERS_EARLY && found.file.fd < 0; i++) {
        struct early *e = &p->early[i];
        if (descriptor_is_ours(&e->file) && memcmp(e->message.nonce, nonce, ARENA_NONCE) == 0) {
            found = *e;
            e->file.fd = -1;
        }
    }
    pthread_mutex_unlock(&p->lock);
    if (found.file.fd >= 0)
        arrived(p, &found.message, found.file.fd, card_bytes);
    return found.file.fd >= 0;
}

/* Waits for the descriptor of a peer from now on. */
static void await(struct peers *p, const struct peer_card *card)
{
    pthread_mutex_lock(&p->lock);
    struct peer *peer = hud_peers_find_or_add(p, card->nonce);
    bool open = peer && !peer->head;
    if (peer) {
        peer->failed = peer->failed && peer->awaited > 0;
        peer->card_bytes = card->bytes;
        peer->awaited++;
    }
    pthread_mutex_unlock(&p->lock);
    while (open && take_early(p, card->nonce, card->bytes))
        ;
}

static void await_no_more(struct peers *p, const struct peer_card *card)
{
    pthread_mutex_lock(&p->lock);
    struct peer *peer = hud_peers_find(p, card->nonce);
    if (peer && peer->awaited > 0)
        peer->awaited--;
    pthread_mutex_unlock(&p->lock);
}

/* Returns whether two ranks send to each other.  A rank without a socket can do neither.  In
 * another network namespace the name means another socket, perhaps a stranger's, which gets
 * nothing. */
static bool is_near(const struct peer_card *own, const struct peer_card *card)
{
    return own->socket[0] != '\0' && card->socket[0] != '\0' &&
           (own->net_namespace == card->net_namespace || own->net_namespace == 0 ||
            card->net_namespace == 0);
}

/* Returns whether nothing more will come for a peer: it is mapped, or cannot be. */
static bool is_settled(struct peers *p, const struct peer_card *own, const struct peer_card *card)
{
    pthread_mutex_lock(&p->lock);
    struct peer *peer = hud_peers_find(p, card->nonce);
    bool settled = !peer || peer->head || peer->failed || !is_near(own, card);
    pthread_mutex_unlock(&p->lock);
    return settled;
}

/* Sends once, unless the peer has the descriptor.  Returns false if the peer's queue was full. */
static bool send_to(struct peers *p, const struct arena *own, const struct peer_card *card)
{
    pthread_mutex_lock(&p->lock);
    struct peer *peer = hud_peers_find_or_add(p, card->nonce);
    int sent = !peer || peer->sent ? 1 : hud_handover_send(&p->sock, own, card->socket);
    if (peer && sent > 0)
        peer->sent = true;
    pthread_mutex_unlock(&p->lock);
    return sent != 0;
}

static bool send_to_all(struct peers *p, const struct arena *own, const struct peer_card *cards,
                        int ranks, int me)
{
    bool all = true;

    for (int i = 1; i < ranks; i++) {
        const struct peer_card *card = &cards[(me + i) % ranks];
        if (is_near(&cards[me], card) && !send_to(p, own, card))
            all = false;
    }
    return all;
}

static bool all_settled(struct peers *p, const struct peer_card *cards, int ranks, int me)
{
    bool all = true;

    for (int r = 0; all && r < ranks; r++)
        all = r == me || is_settled(p, &cards[me], &cards[r]);
    return all;
}

/* Returns whether a member's process has ended, so that its descriptor will not come. */
static bool has_dead(const struct peer_card *cards, int ranks, int me)
{
    bool dead = false;

    for (int r = 0; !dead && r < ranks; r++)
        dead = hud_process_ended(peer_pid(&cards[me], &cards[r]), 0);
    return dead;
}

/* Exchanges descriptors: everybody sends to everybody, and all members are here at the same
 * time, so no queue stays full.  A dead member ends the exchange for its team, but not for other
 * teams of the survivors. */
void hud_arrivals_exchange(struct peers *p, const struct arena *own, const struct peer_card *cards,
                           int ranks, int me, void (*progress)(void *arg), void *arg)
{
    double until = seconds() + WAIT_SECONDS;
    bool sent = false, got = false, dead = false;

    for (int r = 0; r < ranks; r++)
        if (r != me)
            await(p, &cards[r]);
    for (unsigned turn = 1; turn == 1 || ((!sent || !got) && !dead && seconds() < until); turn++) {
        sent = send_to_all(p, own, cards, ranks, me);
        for (int i = 0; i < MESSAGES_A_TURN && receive(p); i++)
            ;
        got = all_settled(p, cards, ranks, me);
        if (progress)
            progress(arg);
        struct pollfd ready = { .fd = p->sock.fd, .events = POLLIN };
        if (!sent || !got)
            poll(&ready, 1, 1);
        dead = turn % TURNS_PER_DEATH == 0 && has_dead(cards, ranks, me);
    }
    for (int r = 0; r < ranks; r++)
        if (r != me)
            await_no_more(p, &cards[r]);
    pthread_mutex_lock(&p->lock);
    p->lost = p->lost || (!got && !dead);
    pthread_mutex_unlock(&p->lock);
}

void hud_arrivals_drop(struct peers *p)
{
    for (int i = 0; i < PEERS_EARLY; i++)
        descriptor_close(&p->early[i].file);
}
