/* SPDX-License-Identifier: BSD-3-Clause */
/* peers.c - maps the other ranks' arenas: those of this process, those reached through /proc, and
 * those whose descriptors must be sent (arrivals.c). */
#define _GNU_SOURCE
#include "base/clock.h"
#include "core/arena/direct.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <unistd.h>

/* The contexts of this process that have published a card: an address is taken from here, never
 * from a card. */
static pthread_mutex_t here_lock = PTHREAD_MUTEX_INITIALIZER;
static struct peers *here;

/* Returns a number that is the same for all contexts of a process; a forked child has another
 * pid. */
static uint64_t process_token(void)
{
    static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
    static uint64_t token;

    pthread_mutex_lock(&lock);
    while (token == 0 &&
           (getrandom(&token, sizeof token, 0) == (ssize_t)sizeof token || errno == EINTR))
        ;
    if (token == 0) /* forbidden: the arena's nonce still tells one process from another */
        token = clock_ns() ^ (uint64_t)getpid() << 32;
    pthread_mutex_unlock(&lock);
    return token;
}

static uint64_t inode_of(const char *path)
{
    struct stat st;

    return stat(path, &st) == 0 ? st.st_ino : 0;
}

void hud_peers_init(struct peers *p)
{
    memset(p, 0, sizeof *p);
    p->sock.fd = -1;
    for (int i = 0; i < PEERS_EARLY; i++)
        p->early[i].file.fd = -1;
    p->lock = (pthread_mutex_t)PTHREAD_MUTEX_INITIALIZER;
}

/* Withdraws an arena from other contexts of the process; its users hold their mapping. */
static void leave_here(struct peers *p)
{
    pthread_mutex_lock(&here_lock);
    for (struct peers **at = &here; *at; at = &(*at)->next_here)
        if (*at == p) {
            *at = p->next_here;
            break;
        }
    pthread_mutex_unlock(&here_lock);
}

void hud_peers_destroy(struct peers *p)
{
    leave_here(p);
    hud_arrivals_drop(p);
    for (struct peer *peer = p->first, *next; peer; peer = next) {
        next = peer->next;
        if (peer->head && peer->borrowed)
            hud_arena_unmap(peer->head, peer->bytes);
        else if (peer->head)
            munmap(peer->head, peer->bytes);
        if (peer->mapped)
            hud_mapped_close(peer->mapped);
        free(peer);
    }
    if (p->card.offer != 0)
        hud_mapped_withdraw();
    descriptor_close(&p->sock);
    pthread_mutex_destroy(&p->lock);
}

static int open_by_proc(const struct peer_card *card)
{
    char path[64];
    struct stat st;

    snprintf(path, sizeof path, "/proc/%d/fd/%d", (int)card->pid, (int)card->fd);
    if (stat(path, &st) != 0 || !S_ISREG(st.st_mode)) /* opening something else may do something */
        return -1;
    return open(path, O_RDWR | O_CLOEXEC | O_NOCTTY | O_NONBLOCK);
}

struct arena_head *hud_peers_map_file(int fd, const unsigned char *nonce, size_t bytes)
{
    struct arena_head *head = NULL;
    struct stat st;
    int seals = fcntl(fd, F_GET_SEALS);

    if (seals >= 0 && (seals & F_SEAL_SHRINK) && fstat(fd, &st) == 0 && (size_t)st.st_size == bytes)
        head = hud_file_map(fd, bytes, hud_arena_alignment(bytes));
    close(fd);
    if (head && memcmp(head->nonce, nonce, ARENA_NONCE) != 0) {
        munmap(head, bytes);
        head = NULL;
    }
    return head;
}

/* Returns whether this process could open its own arena as others would. */
static bool opens_by_proc(const struct arena *own, const struct peer_card *card)
{
    /* others may not look into a process that must not be dumped */
    int fd = card->pid_namespace != 0 && prctl(PR_GET_DUMPABLE) == 1 ? open_by_proc(card) : -1;
    struct arena_head *head = fd >= 0 ? hud_peers_map_file(fd, card->nonce, own->bytes) : NULL;

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
    card->net_namespace = inode_of("/proc/self/ns/net");
    card->pid = (int32_t)getpid();
    card->fd = own->file.fd;
    card->uid = (uint32_t)geteuid();
    card->by_proc = opens_by_proc(own, card);
    card->offer = p->maps ? hud_mapped_offer() : 0;
    p->sock = hud_handover_open(card->socket);
    p->own = own->head;
    pthread_mutex_lock(&here_lock);
    p->next_here = here;
    here = p;
    pthread_mutex_unlock(&here_lock);
}

void hud_peers_card(struct peers *p, const struct arena *own, struct peer_card *card)
{
    pthread_mutex_lock(&p->lock);
    if (!p->card_known)
        fill_card(p, own, &p->card);
    else if (!descriptor_is_ours(&p->sock))
        p->sock = hud_handover_open(p->card.socket);
    p->card_known = true;
    p->card.pid = (int32_t)getpid(); /* another one after a restart from a checkpoint */
    *card = p->card;
    card->by_proc = card->by_proc && !p->proc_failed;
    pthread_mutex_unlock(&p->lock);
}

struct peer *hud_peers_find(struct peers *p, const unsigned char *nonce)
{
    struct peer *peer = p->first;

    while (peer && memcmp(peer->nonce, nonce, ARENA_NONCE) != 0)
        peer = peer->next;
    return peer;
}

struct peer *hud_peers_find_or_add(struct peers *p, const unsigned char *nonce)
{
    struct peer *peer = hud_peers_find(p, nonce);

    if (!peer && (peer = calloc(1, sizeof *peer)) != NULL) {
        memcpy(peer->nonce, nonce, ARENA_NONCE);
        peer->next = p->first;
        p->first = peer;
    }
    return peer;
}

void hud_peers_record(struct peers *p, const unsigned char *nonce, struct arena_head *head,
                      size_t bytes, bool borrowed)
{
    pthread_mutex_lock(&p->lock);
    struct peer *peer = hud_peers_find_or_add(p, nonce);
    if (peer && !peer->head) {
        peer->head = head;
        peer->bytes = bytes;
        peer->borrowed = borrowed;
        head = NULL;
    }
    pthread_mutex_unlock(&p->lock);
    if (head && borrowed)
        hud_arena_unmap(head, bytes);
    else if (head)
        munmap(head, bytes);
}

static struct arena_head *known(struct peers *p, const unsigned char *nonce)
{
    pthread_mutex_lock(&p->lock);
    struct peer *peer = hud_peers_find(p, nonce);
    struct arena_head *head = peer ? peer->head : NULL;
    pthread_mutex_unlock(&p->lock);
    return head;
}

bool hud_peers_lost(struct peers *p)
{
    pthread_mutex_lock(&p->lock);
    bool lost = p->lost;
    pthread_mutex_unlock(&p->lock);
    return lost;
}

void hud_peers_send_again(struct peers *p, const struct peer_card *cards, int ranks)
{
    pthread_mutex_lock(&p->lock);
    for (int r = 0; r < ranks; r++) {
        struct peer *peer = hud_peers_find(p, cards[r].nonce);
        if (peer)
            peer->sent = false;
    }
    pthread_mutex_unlock(&p->lock);
}

/* Returns whether all members see the same /proc and may use it, as a single user.  The uid of
 * all users not mapped by a namespace is not a single user's. */
static bool proc_serves(const struct peer_card *cards, int ranks)
{
    bool serves = hud_handover_is_user((uid_t)cards[0].uid);

    for (int r = 0; r < ranks; r++)
        serves = serves && cards[r].by_proc && cards[r].pid_namespace == cards[0].pid_namespace &&
                 cards[r].user_namespace == cards[0].user_namespace && cards[r].uid == cards[0].uid;
    return serves;
}

static bool same_process(const struct peer_card *one, const struct peer_card *other)
{
    return one->process == other->process && one->pid == other->pid &&
           one->pid_namespace == other->pid_namespace &&
           one->user_namespace == other->user_namespace;
}

/* Returns the arena of another context of this process, held, or NULL without an arena of the
 * same nonce and size. */
static struct arena_head *borrow(const struct peer_card *card)
{
    struct arena_head *head = NULL;

    pthread_mutex_lock(&here_lock);
    for (struct peers *p = here; p && !head; p = p->next_here)
        if (memcmp(p->card.nonce, card->nonce, ARENA_NONCE) == 0 && p->card.bytes == card->bytes)
            head = p->own;
    if (head)
        mem_hold(&head->holders);
    pthread_mutex_unlock(&here_lock);
    return head;
}

static void map_one(struct peers *p, const struct peer_card *own, const struct peer_card *card,
                    bool by_proc)
{
    bool ours = same_process(own, card);
    struct arena_head *head = NULL;
    int fd = !ours && by_proc ? open_by_proc(card) : -1;

    if (ours)
        head = borrow(card);
    else if (fd >= 0)
        head = hud_peers_map_file(fd, card->nonce, card->bytes);
    if (head)
        hud_peers_record(p, card->nonce, head, card->bytes, ours);
    if (!head && !ours && by_proc) {
        pthread_mutex_lock(&p->lock);
        p->proc_failed = true;
        pthread_mutex_unlock(&p->lock);
    }
}

int hud_peers_map(struct peers *p, const struct arena *own, const struct peer_card *cards,
                  int ranks, int me, void (*progress)(void *arg), void *arg, char **base)
{
    bool by_proc = proc_serves(cards, ranks), threads = true;
    int out = 0;

    for (int r = 0; r < ranks; r++) {
        if (r != me && !known(p, cards[r].nonce))
            map_one(p, &cards[me], &cards[r], by_proc);
        threads = threads && same_process(&cards[me], &cards[r]);
    }
    if (!by_proc && !threads)
        hud_arrivals_exchange(p, own, cards, ranks, me, progress, arg);
    for (int r = ranks - 1; r >= 0; r--) {
        base[r] = r == me ? (char *)own->head : (char *)known(p, cards[r].nonce);
        if (!base[r])
            out = r + 1;
    }
    return out;
}

/* Returns the ways that reach a mapped peer's memory. */
static unsigned ways_to(struct peers *p, const struct peer_card *own, const struct peer_card *card,
                        unsigned ways, struct mem_mapped **mapped)
{
    struct mem_mapped *made = NULL;
    unsigned found = 0;

    pthread_mutex_lock(&p->lock);
    struct peer *peer = hud_peers_find(p, card->nonce); /* stays: it is mapped */
    unsigned untried = ways & ~peer->tried;
    pthread_mutex_unlock(&p->lock);
    if ((untried & DIRECT_CALLS) && hud_direct_reads(own, card))
        found |= DIRECT_CALLS;
    if ((untried & DIRECT_MAPPED) && own->offer != 0 &&
        (made = hud_direct_maps(card, p->keeps)) != NULL)
        found |= DIRECT_MAPPED;
    pthread_mutex_lock(&p->lock);
    peer->tried |= untried;
    peer->ways |= found;
    if (made && !peer->mapped) {
        peer->mapped = made;
        made = NULL;
    }
    *mapped = peer->mapped;
    found = peer->ways & ways;
    pthread_mutex_unlock(&p->lock);
    if (made) /* another thread was first */
        hud_mapped_close(made);
    return found;
}

unsigned hud_peers_direct(struct peers *p, const struct peer_card *cards, int ranks, int me,
                          unsigned ways, struct mem_peer *reached, struct mem_mapped **mapped)
{
    for (int r = 0; r < ranks; r++) {
        reached[r] = (struct mem_peer){ .pid = cards[r].pid, .arena = cards[r].address };
        mapped[r] = NULL;
        if (r != me && ways != 0)
            ways &= ways_to(p, &cards[me], &cards[r], ways, &mapped[r]);
    }
    return ways;
}
