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

/* What is used of the interface of libxpmem, the same since its first release. */
struct xpmem_addr {
    int64_t apid;
    off_t offset;
};
enum { XPMEM_RDWR = 2, XPMEM_PERMIT_MODE = 1, OWN_USER = 0600 };
#define XPMEM_ALL SIZE_MAX /* of the address space */

static struct {
    int64_t (*make)(void *at, size_t bytes, int type, void *value);
    int (*remove)(int64_t segid);
    int64_t (*get)(int64_t segid, int flags, int type, void *value);
    int (*release)(int64_t apid);
    void *(*attach)(struct xpmem_addr from, size_t bytes, void *at);
    int (*detach)(void *at);
} xpmem;

/* ---- this process ---- */

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER; /* for the fields below */
static int64_t segid;
static int offers, opened;
static pid_t owner;             /* of segid: a forked child has offered nothing */
static struct sigaction before; /* the handler that ours has replaced */
static struct sigaction later;  /* one that came after ours, which stayed behind it; or none */

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

/* Of the copy that this thread makes now.  Volatile, and with fences around the copy: the compiler
 * knows of no handler that reads it. */
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
        sigaction(SIGBUS, &before, NULL); /* and again, at the same instruction */
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
 * Not blocked in the handler: a copy may be left from there again and again.  Not in front of a
 * handler that ours stayed behind: that one may call ours, and the two would do so for ever.
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

/* Unless another handler has come after this one. */
static void uninstall(void)
{
    struct sigaction now;

    sigaction(SIGBUS, NULL, &now);
    if (is_ours(&now))
        sigaction(SIGBUS, &before, NULL);
    else
        later = now;
}

/* False: an access was a SIGBUS. */
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

/* [from, from + bytes) of the peer's memory is at `at` here. */
struct range {
    uint64_t from, used; /* used: the larger, the later */
    size_t bytes;
    char *at; /* NULL: none */
    int users;
};

struct mem_mapped {
    pthread_mutex_t lock; /* for the fields below; not held during a copy */
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

/* Whole units around the bytes.  Addresses without memory may be attached too, but not beyond the
 * end of the address space. */
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

/* One that is not in use, and was not for longest; NULL: all are. */
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

enum { KEPT_UNIT = 2 << 20 }; /* bytes: neighbours of a buffer are attached with it */

/* A kept range with these bytes, in use; NULL: none, and none can be made. */
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

/* reads: from the peer to `here`, else the other way. */
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
