/* SPDX-License-Identifier: BSD-3-Clause */
/* mapped.c - see mapped.h. */
#define _GNU_SOURCE
#include "mem/mapped.h"

#include <dlfcn.h>
#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/types.h>
#include <unistd.h>

/* The part of libxpmem's interface that is used here.  It has not changed since the first
 * release. */
struct xpmem_addr {
    int64_t apid;
    off_t offset;
};
enum { XPMEM_RDWR = 2, XPMEM_PERMIT_MODE = 1, OWN_USER = 0600 };
#define XPMEM_ALL SIZE_MAX /* the whole address space */

static struct {
    int64_t (*make)(void *at, size_t bytes, int type, void *value);
    int (*remove)(int64_t segid);
    int64_t (*get)(int64_t segid, int flags, int type, void *value);
    int (*release)(int64_t apid);
    void *(*attach)(struct xpmem_addr from, size_t bytes, void *at);
    int (*detach)(void *at);
} xpmem;

/* ---- this process ---- */

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER; /* protects the fields below */
static int64_t segid;
static int offers, opened;
static pid_t owner;             /* the process that made segid; a forked child has offered
                                   nothing */
static struct sigaction before; /* the handler that on_sigbus() has replaced */
static struct sigaction later;  /* a handler that was installed after on_sigbus() and may call
                                   it, or none */

static bool load(void)
{
    static const char *const names[] = { "libxpmem.so.0", "libxpmem.so" };
    void *library = NULL;

    for (size_t i = 0; i < sizeof names / sizeof *names && !library; i++)
        library = dlopen(names[i], RTLD_NOW | RTLD_LOCAL);
    if (!library)
        return false;
    *(void **)&xpmem.make = dlsym(library, "xpmem_make");
    *(void **)&xpmem.remove = dlsym(library, "xpmem_remove");
    *(void **)&xpmem.get = dlsym(library, "xpmem_get");
    *(void **)&xpmem.release = dlsym(library, "xpmem_release");
    *(void **)&xpmem.attach = dlsym(library, "xpmem_attach");
    *(void **)&xpmem.detach = dlsym(library, "xpmem_detach");
    return xpmem.make && xpmem.remove && xpmem.get && xpmem.release && xpmem.attach && xpmem.detach;
}

int64_t hud_mapped_offer(void)
{
    int64_t offer = 0;

    pthread_mutex_lock(&lock);
    if (owner != getpid()) {
        owner = getpid();
        offers = 0;
    }
    if (offers > 0 || (load() && (segid = xpmem.make(NULL, XPMEM_ALL, XPMEM_PERMIT_MODE,
                                                     (void *)(uintptr_t)OWN_USER)) > 0)) {
        offers++;
        offer = segid;
    }
    pthread_mutex_unlock(&lock);
    return offer;
}

void hud_mapped_withdraw(void)
{
    pthread_mutex_lock(&lock);
    if (owner == getpid() && offers > 0 && --offers == 0)
        (void)xpmem.remove(segid);
    pthread_mutex_unlock(&lock);
}

/* ---- accesses that may fail ---- */

/* Where the copy that this thread makes now returns to on SIGBUS.  The variable is volatile, and
 * there are fences around the copy, because the compiler does not know that a handler reads it. */
static __thread sigjmp_buf *volatile escape;

static bool has_handler(const struct sigaction *action)
{
    return (action->sa_flags & SA_SIGINFO) ||
           (action->sa_handler != SIG_DFL && action->sa_handler != SIG_IGN);
}

static void on_sigbus(int signal_number, siginfo_t *info, void *context)
{
    if (escape)
        siglongjmp(*escape, 1);
    if (!has_handler(&before))
        sigaction(SIGBUS, &before, NULL); /* returns to the same instruction, which raises SIGBUS
                                             again */
    else if (before.sa_flags & SA_SIGINFO)
        before.sa_sigaction(signal_number, info, context);
    else
        before.sa_handler(signal_number);
}

static bool is_ours(const struct sigaction *action)
{
    return (action->sa_flags & SA_SIGINFO) && action->sa_sigaction == on_sigbus;
}

/*
 * Installs the handler.  SIGBUS is not blocked in the handler, because a copy may leave the handler
 * by a jump again and again.  Does not install the handler in front of `later`, which may call
 * on_sigbus(): the two handlers would then call each other forever.
 */
static void install(void)
{
    struct sigaction now,
        ours = { .sa_sigaction = on_sigbus, .sa_flags = SA_SIGINFO | SA_NODEFER | SA_ONSTACK };

    sigemptyset(&ours.sa_mask);
    sigaction(SIGBUS, NULL, &now);
    if (!has_handler(&later) || now.sa_sigaction != later.sa_sigaction)
        sigaction(SIGBUS, &ours, &before);
    later.sa_flags = 0;
    later.sa_handler = SIG_DFL;
}

/* Restores the previous handler, unless another handler was installed after this one. */
static void uninstall(void)
{
    struct sigaction now;

    sigaction(SIGBUS, NULL, &now);
    if (is_ours(&now))
        sigaction(SIGBUS, &before, NULL);
    else
        later = now;
}

/* Copies bytes, and returns false if an access raised SIGBUS. */
static bool copy(void *to, const void *from, size_t bytes)
{
    sigjmp_buf here;

    if (sigsetjmp(here, 0) != 0) {
        escape = NULL;
        return false;
    }
    escape = &here;
    atomic_signal_fence(memory_order_seq_cst);
    memcpy(to, from, bytes);
    atomic_signal_fence(memory_order_seq_cst);
    escape = NULL;
    return true;
}

/* ---- a peer ---- */

/* An attached range: [from, from + bytes) of the peer's memory is at `at` in this process. */
struct range {
    uint64_t from, used; /* used: number of the last use; a larger number is later */
    size_t bytes;
    char *at; /* NULL: not attached */
    int users;
};

struct mem_mapped {
    pthread_mutex_t lock; /* protects the fields below; not held during a copy */
    int64_t apid;
    bool keeps;
    uint64_t uses;
    struct range kept[MAPPED_KEPT];
};

struct mem_mapped *hud_mapped_open(int64_t offer, bool keeps)
{
    struct mem_mapped *peer = calloc(1, sizeof *peer);

    if (!peer)
        return NULL;
    peer->apid = xpmem.get(offer, XPMEM_RDWR, XPMEM_PERMIT_MODE, NULL);
    if (peer->apid <= 0) {
        free(peer);
        return NULL;
    }
    peer->lock = (pthread_mutex_t)PTHREAD_MUTEX_INITIALIZER;
    peer->keeps = keeps;
    pthread_mutex_lock(&lock);
    if (opened++ == 0)
        install();
    pthread_mutex_unlock(&lock);
    return peer;
}

static void drop(struct range *r)
{
    if (r->at)
        (void)xpmem.detach(r->at);
    *r = (struct range){ .at = NULL };
}

void hud_mapped_close(struct mem_mapped *peer)
{
    for (int i = 0; i < MAPPED_KEPT; i++)
        drop(&peer->kept[i]);
    (void)xpmem.release(peer->apid);
    pthread_mutex_destroy(&peer->lock);
    free(peer);
    pthread_mutex_lock(&lock);
    if (--opened == 0)
        uninstall();
    pthread_mutex_unlock(&lock);
}

/* Attaches whole units of `unit` bytes around the bytes.  The range may include addresses without
 * memory, but must not exceed the address space. */
static bool attach(const struct mem_mapped *peer, uint64_t from, size_t bytes, size_t unit,
                   struct range *r)
{
    uint64_t begin = from / unit * unit, end = (from + bytes + unit - 1) / unit * unit;
    void *at = end > begin ? xpmem.attach((struct xpmem_addr){ peer->apid, (off_t)begin },
                                          (size_t)(end - begin), NULL)
                           : NULL;

    if (at == NULL || at == (void *)-1)
        return false;
    *r = (struct range){ .from = begin, .bytes = (size_t)(end - begin), .at = at };
    return true;
}

static bool holds(const struct range *r, uint64_t from, size_t bytes)
{
    return r->at && from >= r->from && from - r->from < r->bytes &&
           bytes <= r->bytes - (size_t)(from - r->from);
}

/* Returns the least recently used of the ranges that are not in use, and NULL if all are in use. */
static struct range *place(struct mem_mapped *peer)
{
    struct range *oldest = NULL;

    for (int i = 0; i < MAPPED_KEPT; i++) {
        struct range *r = &peer->kept[i];
        if (r->users == 0 && (!oldest || r->used < oldest->used))
            oldest = r;
    }
    return oldest;
}

enum { KEPT_UNIT = 2 << 20 }; /* bytes: the neighbourhood of a buffer is attached with it */

/* Returns a kept range with these bytes, and marks the range as in use.  Returns NULL if there is
 * no such range and none can be made. */
static struct range *take(struct mem_mapped *peer, uint64_t from, size_t bytes)
{
    struct range *r = NULL, made;

    pthread_mutex_lock(&peer->lock);
    for (int i = 0; i < MAPPED_KEPT && !r; i++)
        r = holds(&peer->kept[i], from, bytes) ? &peer->kept[i] : NULL;
    if (!r && (r = place(peer)) != NULL) {
        if (attach(peer, from, bytes, KEPT_UNIT, &made)) {
            drop(r);
            *r = made;
        } else {
            r = NULL;
        }
    }
    if (r) {
        r->users++;
        r->used = ++peer->uses;
    }
    pthread_mutex_unlock(&peer->lock);
    return r;
}

static void give_back(struct mem_mapped *peer, struct range *r)
{
    pthread_mutex_lock(&peer->lock);
    r->users--;
    pthread_mutex_unlock(&peer->lock);
}

/* Copies from the peer to `here` if `reads` is true, and from `here` to the peer otherwise. */
static bool move(const struct range *r, uint64_t there, void *here, size_t bytes, bool reads)
{
    char *at = r->at + (there - r->from);

    return reads ? copy(here, at, bytes) : copy(at, here, bytes);
}

static size_t transfer(struct mem_mapped *peer, uint64_t there, void *here, size_t bytes,
                       bool reads)
{
    struct range *kept = peer->keeps ? take(peer, there, bytes) : NULL, once;
    bool moved = false;

    if (kept) {
        moved = move(kept, there, here, bytes, reads);
        give_back(peer, kept);
    } else if (attach(peer, there, bytes, (size_t)sysconf(_SC_PAGESIZE), &once)) {
        moved = move(&once, there, here, bytes, reads);
        drop(&once);
    }
    return moved ? bytes : 0;
}

size_t hud_mapped_read(struct mem_mapped *peer, uint64_t from, void *to, size_t bytes)
{
    return bytes == 0 ? 0 : transfer(peer, from, to, bytes, true);
}

size_t hud_mapped_write(struct mem_mapped *peer, uint64_t to, const void *from, size_t bytes)
{
    return bytes == 0 ? 0 : transfer(peer, to, (void *)(uintptr_t)from, bytes, false);
}
