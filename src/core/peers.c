/* SPDX-License-Identifier: BSD-3-Clause */
/* peers.c - opening and mapping the other ranks' arenas. */
#define _GNU_SOURCE
#include "core/direct.h"
#include "core/process.h"

#include <fcntl.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

enum {
    WAIT_SECONDS = 10,   /* for descriptors, see hud_peers_map */
    TURNS_PER_DEATH = 64 /* of some ms, from one question about processes to the next */
};

/* The same for all contexts of a process; a forked child has another pid. */
static uint64_t process_token(void)
{
    static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
    static uint64_t token;

    pthread_mutex_lock(&lock);
    while (token == 0)
        if (getrandom(&token, sizeof token, 0) != (ssize_t)sizeof token)
            token = 0;
    pthread_mutex_unlock(&lock);
    return token;
}

static uint64_t inode_of(const char *path)
{
    struct stat st;

    return stat(path, &st) == 0 ? st.st_ino : 0;
}

int hud_peers_init(struct peers *p)
{
    *p = (struct peers){ .sock.fd = -1 };
    return pthread_mutex_init(&p->lock, NULL) == 0 ? 0 : -1;
}

void hud_peers_destroy(struct peers *p)
{
    for (struct peer *peer = p->first, *next; peer; peer = next) {
        next = peer->next;
        if (peer->head && peer->borrowed)
            hud_arena_drop(peer->head, peer->bytes);
        else if (peer->head)
            munmap(peer->head, peer->bytes);
        free(peer);
    }
    descriptor_close(&p->sock);
    pthread_mutex_destroy(&p->lock);
}

static int open_by_proc(const struct peer_card *card)
{
    char path[64];

    snprintf(path, sizeof path, "/proc/%d/fd/%d", (int)card->pid, (int)card->fd);
    return open(path, O_RDWR | O_CLOEXEC | O_NOCTTY | O_NONBLOCK);
}

/* Maps fd if it is the card's arena and can neither shrink nor grow.  Closes fd.  NULL: it is not, or there is no address space. */
static struct arena_head *map_checked(int fd, const unsigned char *nonce, size_t bytes)
{
    struct arena_head *head = NULL;
    struct stat st;
    int seals = fcntl(fd, F_GET_SEALS);

    if (seals >= 0 && (seals & F_SEAL_SHRINK) && fstat(fd, &st) == 0 && (size_t)st.st_size == bytes)
        head = hud_arena_map(fd, bytes);
    close(fd);
    if (head && memcmp(head->nonce, nonce, ARENA_NONCE) != 0) {
        munmap(head, bytes);
        head = NULL;
    }
    return head;
}

/* Could this process open the own arena as others would? */
static bool opens_by_proc(const struct arena *own, const struct peer_card *card)
{
    /* others may not look into a process that must not be dumped */
    int fd = card->pid_namespace != 0 && prctl(PR_GET_DUMPABLE) == 1 ? open_by_proc(card) : -1;
    struct arena_head *head = fd >= 0 ? map_checked(fd, card->nonce, own->bytes) : NULL;

    if (head)
        munmap(head, own->bytes);
    return head != NULL;
}

static void fill_card(struct peers *p, const struct arena *own, struct peer_card *card)
{
    memset(card, 0, sizeof *card);
    memcpy(card->nonce, own->head->nonce, ARENA_NONCE);
    card->bytes = own->bytes;
    card->address = (uint64_t)(uintptr_t)own->head;
    card->process = process_token();
    card->pid_namespace = inode_of("/proc/self/ns/pid");
    card->user_namespace = inode_of("/proc/self/ns/user");
    card->pid = (int32_t)getpid();
    card->started = hud_process_started(card->pid);
    card->fd = own->file.fd;
    card->uid = (uint32_t)geteuid();
    card->by_proc = opens_by_proc(own, card);
    p->sock = hud_handover_open(card->socket);
}

void hud_peers_card(struct peers *p, const struct arena *own, struct peer_card *card)
{
    pthread_mutex_lock(&p->lock);
    if (!p->card_known)
        fill_card(p, own, &p->card);
    else if (!descriptor_is_ours(&p->sock))
        p->sock = hud_handover_open(p->card.socket);
    p->card_known = true;
    *card = p->card;
    card->by_proc = card->by_proc && !p->proc_failed;
    pthread_mutex_unlock(&p->lock);
}

/* The lock is held. */
static struct peer *find(struct peers *p, const unsigned char *nonce)
{
    struct peer *peer = p->first;

    while (peer && memcmp(peer->nonce, nonce, ARENA_NONCE) != 0)
        peer = peer->next;
    return peer;
}

/* The lock is held.  The peer of that nonce, made if it is new; NULL: out of memory. */
static struct peer *find_or_add(struct peers *p, const unsigned char *nonce)
{
    struct peer *peer = find(p, nonce);

    if (!peer && (peer = calloc(1, sizeof *peer)) != NULL) {
        memcpy(peer->nonce, nonce, ARENA_NONCE);
        peer->next = p->first;
        p->first = peer;
    }
    return peer;
}

/* Records a mapping; another thread may have been faster, then the new one goes. */
static void record(struct peers *p, const unsigned char *nonce, struct arena_head *head, size_t bytes, bool borrowed)
{
    pthread_mutex_lock(&p->lock);
    struct peer *peer = find_or_add(p, nonce);
    if (peer && !peer->head) {
        peer->head = head;
        peer->bytes = bytes;
        peer->borrowed = borrowed;
        head = NULL;
    }
    pthread_mutex_unlock(&p->lock);
    if (head && borrowed)
        hud_arena_drop(head, bytes);
    else if (head)
        munmap(head, bytes);
}

static struct arena_head *known(struct peers *p, const unsigned char *nonce)
{
    pthread_mutex_lock(&p->lock);
    struct peer *peer = find(p, nonce);
    struct arena_head *head = peer ? peer->head : NULL;
    pthread_mutex_unlock(&p->lock);
    return head;
}

/* First time only: marks our descriptor as sent to that peer. */
static bool must_send(struct peers *p, const unsigned char *nonce)
{
    pthread_mutex_lock(&p->lock);
    struct peer *peer = find_or_add(p, nonce);
    bool first = peer && !peer->sent;
    pthread_mutex_unlock(&p->lock);
    return first;
}

static void mark_sent(struct peers *p, const unsigned char *nonce)
{
    pthread_mutex_lock(&p->lock);
    struct peer *peer = find(p, nonce);
    if (peer)
        peer->sent = true;
    pthread_mutex_unlock(&p->lock);
}

static void give_up(struct peers *p)
{
    pthread_mutex_lock(&p->lock);
    p->lost = true;
    pthread_mutex_unlock(&p->lock);
}

bool hud_peers_lost(struct peers *p)
{
    pthread_mutex_lock(&p->lock);
    bool lost = p->lost;
    pthread_mutex_unlock(&p->lock);
    return lost;
}

/* Takes one descriptor that arrived; false: none is waiting.  It is believed if its sender has our uid or knows a nonce that this team expects. */
static bool receive(struct peers *p, const struct peer_card *cards, int ranks)
{
    struct arrival a;

    if (!hud_handover_receive(&p->sock, &a))
        return false;
    bool trusted = a.same_user;
    for (int r = 0; r < ranks; r++)
        trusted = trusted || memcmp(cards[r].nonce, a.message.nonce, ARENA_NONCE) == 0;
    if (!trusted || !a.whole) {
        if (a.fd >= 0)
            close(a.fd);
        return true;
    }
    struct arena_head *head = a.fd >= 0 ? map_checked(a.fd, a.message.nonce, a.message.bytes) : NULL;
    if (head)
        record(p, a.message.nonce, head, a.message.bytes, false);
    else
        give_up(p); /* out of descriptors or of address space: it will not come again */
    return true;
}

/* One try for each peer that has not got our descriptor yet; false: some queue was full. */
static bool send_to_all(struct peers *p, const struct arena *own, const struct peer_card *cards, int ranks, int me)
{
    bool all = true;

    for (int i = 1; i < ranks; i++) {
        const struct peer_card *card = &cards[(me + i) % ranks];
        int sent = must_send(p, card->nonce) ? hud_handover_send(&p->sock, own, card->socket) : 0;
        if (sent > 0)
            mark_sent(p, card->nonce);
        all = all && (sent != 0 || !must_send(p, card->nonce));
    }
    return all;
}

static bool all_known(struct peers *p, const struct peer_card *cards, int ranks, int me)
{
    bool all = true;

    for (int r = 0; all && r < ranks; r++)
        all = r == me || known(p, cards[r].nonce);
    return all;
}

static double seconds(void)
{
    struct timespec t;

    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

/* A member's process has ended: its descriptor will not come. */
static bool has_dead(const struct peer_card *cards, int ranks, int me)
{
    bool dead = false;

    for (int r = 0; !dead && r < ranks; r++)
        dead = cards[r].pid_namespace != 0 && cards[r].pid_namespace == cards[me].pid_namespace &&
               hud_process_ended(cards[r].pid, cards[r].started);
    return dead;
}

/*
 * Everybody sends to everybody and receives from everybody; all members are here at the same time, so no queue stays full.  A member that has died ends
 * this for its team, but not for the teams of those that are left.
 */
static void exchange_descriptors(struct peers *p, const struct arena *own, const struct peer_card *cards, int ranks, int me,
                                 void (*progress)(void *arg), void *arg)
{
    double until = seconds() + WAIT_SECONDS;
    bool sent = false, got = false, dead = false;

    for (unsigned turn = 1; turn == 1 || ((!sent || !got) && !dead && !hud_peers_lost(p) && seconds() < until); turn++) {
        sent = send_to_all(p, own, cards, ranks, me);
        while (receive(p, cards, ranks))
            ;
        got = all_known(p, cards, ranks, me);
        if (progress)
            progress(arg);
        struct pollfd ready = { .fd = p->sock.fd, .events = POLLIN };
        if (!sent || !got)
            poll(&ready, 1, 1);
        dead = turn % TURNS_PER_DEATH == 0 && has_dead(cards, ranks, me);
    }
    if (!got && !dead)
        give_up(p);
}

/* All members see one /proc and may use it. */
static bool proc_serves(const struct peer_card *cards, int ranks)
{
    bool serves = true;

    for (int r = 0; r < ranks; r++)
        serves = serves && cards[r].by_proc && cards[r].pid_namespace == cards[0].pid_namespace &&
                 cards[r].user_namespace == cards[0].user_namespace && cards[r].uid == cards[0].uid;
    return serves;
}

static void map_one(struct peers *p, const struct peer_card *own, const struct peer_card *card, bool by_proc)
{
    struct arena_head *head = NULL;

    if (card->process == own->process && card->pid == own->pid && card->pid_namespace == own->pid_namespace) {
        head = (struct arena_head *)(uintptr_t)card->address;
        mem_hold(&head->holders);
        record(p, card->nonce, head, card->bytes, true);
        return;
    }
    int fd = by_proc ? open_by_proc(card) : -1;
    if (fd >= 0)
        head = map_checked(fd, card->nonce, card->bytes);
    if (head)
        record(p, card->nonce, head, card->bytes, false);
    if (!head && by_proc) {
        pthread_mutex_lock(&p->lock);
        p->proc_failed = true;
        pthread_mutex_unlock(&p->lock);
    }
}

int hud_peers_map(struct peers *p, const struct arena *own, const struct peer_card *cards, int ranks, int me, void (*progress)(void *arg),
                  void *arg, char **base)
{
    bool by_proc = proc_serves(cards, ranks), threads = true;
    int out = 0;

    for (int r = 0; r < ranks; r++) {
        if (r != me && !known(p, cards[r].nonce))
            map_one(p, &cards[me], &cards[r], by_proc);
        threads = threads && cards[r].process == cards[me].process && cards[r].pid == cards[me].pid;
    }
    if (!by_proc && !threads)
        exchange_descriptors(p, own, cards, ranks, me, progress, arg);
    for (int r = ranks - 1; r >= 0; r--) {
        base[r] = r == me ? (char *)own->head : (char *)known(p, cards[r].nonce);
        if (!base[r])
            out = r + 1;
    }
    return out;
}

static bool reads(struct peers *p, const struct peer_card *own, const struct peer_card *card)
{
    pthread_mutex_lock(&p->lock);
    struct peer *peer = find(p, card->nonce); /* stays: it is mapped */
    bool unknown = peer->direct == DIRECT_UNKNOWN, yes = peer->direct == DIRECT_YES;
    pthread_mutex_unlock(&p->lock);
    if (unknown) {
        yes = hud_direct_reads(own, card);
        pthread_mutex_lock(&p->lock);
        peer->direct = yes ? DIRECT_YES : DIRECT_NO;
        pthread_mutex_unlock(&p->lock);
    }
    return yes;
}

bool hud_peers_direct(struct peers *p, const struct peer_card *cards, int ranks, int me, int *pids)
{
    bool all = true;

    for (int r = 0; r < ranks; r++) {
        pids[r] = cards[r].pid;
        all = all && (r == me || reads(p, &cards[me], &cards[r]));
    }
    return all;
}
