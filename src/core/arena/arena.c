/* SPDX-License-Identifier: BSD-3-Clause */
/* arena.c - creates a rank's shared memory, places its pages and divides it. */
#define _GNU_SOURCE
#include "core/arena/arena.h"
#include "core/arena/budget.h"
#include "core/slice/team_leave.h"
#include "topo/topo.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/mempolicy.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/random.h>
#include <sys/syscall.h>
#include <unistd.h>

#ifndef MADV_POPULATE_WRITE
#define MADV_POPULATE_WRITE 23 /* Linux 5.14 */
#endif

enum state { FREE, LEASED, LEFT };

/* Extents cover the arena in order, without gaps; two neighbours are never both free.  All bytes of
 * free extents are zeros. */
struct extent {
    size_t offset, bytes;
    enum state state;
    int ranks;         /* LEFT: members that must have left */
    size_t used_bytes; /* LEFT: from the start, as the owner knows; beyond are zeros */
    struct extent *next;
};

size_t hud_arena_alignment(size_t bytes)
{
    size_t alignment = (size_t)16 << 20, max = bytes / FILE_HUGE * FILE_HUGE + FILE_HUGE;

    while (alignment < max)
        alignment *= 2;
    return alignment;
}

/* Commits [from, to) of the arena's file.  The owner's allocation is the first touch; the mapping's
 * policy says where. */
static int commit(struct arena *a, size_t from, size_t to)
{
    if (!descriptor_is_ours(&a->file))
        return -1;
    if (a->aim >= 0 && hud_topo_numa_nodes() > 1) {
        enum { WORD = 8 * sizeof(unsigned long), NODES = 1024 };
        unsigned long mask[NODES / WORD] = { 0 };
        if (a->aim < NODES) {
            mask[a->aim / WORD] |= 1UL << (a->aim % WORD);
            /* refused in some containers: then the pages go where the owner runs, and
             * hud_arena_pages tells */
            (void)syscall(SYS_mbind, (char *)a->head + from, to - from, MPOL_PREFERRED, mask,
                          (unsigned long)NODES, 0U);
        }
    }
    return hud_file_allocate(a->file.fd, from, to - from);
}

static int fill_head(struct arena *a)
{
    unsigned char *nonce = a->head->nonce;

    for (size_t got = 0; got < ARENA_NONCE;) {
        ssize_t n = getrandom(nonce + got, ARENA_NONCE - got, 0);
        if (n < 0 && errno != EINTR)
            return -1;
        got += n > 0 ? (size_t)n : 0;
    }
    hud_arena_sign(a->head);
    return 0;
}

/* Makes the file of huge pages, if the pool has enough for `huge_ranks` ranks, or else of ordinary
 * pages. */
static struct descriptor make_file(struct arena *a, int huge_ranks)
{
    size_t huge = huge_ranks > 0 ? a->bytes / FILE_HUGE * FILE_HUGE : 0;
    int fd = huge != 0 && hud_file_pool_suffices(huge, huge_ranks)
                 ? hud_file_make_huge(huge, hud_topo_numa_nodes() > 1 ? a->node : -1)
                 : -1;

    if (fd < 0)
        return descriptor_of(hud_file_make(a->bytes));
    a->pages = PAGES_POOL;
    a->bytes = huge;
    return descriptor_of(fd);
}

static void verify(struct arena *a, size_t offset, size_t bytes);

/* Begins huge pages after the head: they are all there, or are made of ordinary pages from the
 * first on.  After a failure there is no second try. */
static void begin_huge(struct arena *a, int ranks)
{
    size_t from = a->committed_bytes;

    if (a->pages == PAGES_POOL) {
        a->committed_bytes = a->bytes;
    } else if (a->bytes >= FILE_HUGE && hud_budget_room() / (size_t)ranks >= FILE_HUGE &&
               commit(a, from, FILE_HUGE) == 0) {
        a->committed_bytes = FILE_HUGE;
        if (hud_file_join(a->head, FILE_HUGE))
            a->pages = PAGES_TRANSPARENT;
    }
    if (a->committed_bytes > from)
        verify(a, from, a->committed_bytes - from);
}

int hud_arena_create(struct arena *a, size_t bytes, int huge_ranks, const char **why)
{
    struct topo_cpus cpus;
    size_t head_bytes;

    *a = (struct arena){ .file.fd = -1, .page_bytes = (size_t)sysconf(_SC_PAGESIZE) };
    head_bytes = (sizeof(struct arena_head) + a->page_bytes - 1) / a->page_bytes * a->page_bytes;
    a->bytes = bytes / a->page_bytes * a->page_bytes;
    *why = "that is too little (accepted: 24K or more)";
    if (a->bytes < head_bytes + a->page_bytes)
        return -1;
    *why = "the memory limit leaves no room";
    if (hud_budget_left() < head_bytes)
        return -1;
    hud_topo_allowed(&cpus);
    a->node = a->aim = hud_topo_home_node(&cpus);
    *why = "no memory file (memfd_create is not allowed, out of descriptors, or beyond ulimit -f)";
    a->file = make_file(a, huge_ranks);
    if (a->file.fd < 0)
        return -1;
    *why = "no address space or memory for an arena";
    a->head = hud_file_map(a->file.fd, a->bytes, hud_arena_alignment(a->bytes));
    a->extents = calloc(1, sizeof *a->extents); /* an unfinished arena is destroyed too */
    if (a->head && a->extents && commit(a, 0, head_bytes) == 0 && fill_head(a) == 0) {
        mem_hold(&a->head->holders);
        *a->extents =
            (struct extent){ .offset = head_bytes, .bytes = a->bytes - head_bytes, .state = FREE };
        a->committed_bytes = head_bytes;
        mem_count(&a->head->stats.arena_bytes, a->bytes, true);
        if (huge_ranks > 0)
            begin_huge(a, huge_ranks);
        return 0;
    }
    if (a->head)
        munmap(a->head, a->bytes); /* its pages may not be there: not to be touched */
    a->head = NULL;
    hud_arena_destroy(a);
    return -1;
}

void hud_arena_unmap(struct arena_head *head, size_t bytes)
{
    if (mem_drop(&head->holders))
        munmap(head, bytes);
}

void hud_arena_destroy(struct arena *a)
{
    for (struct extent *e = a->extents, *next; e; e = next) {
        next = e->next;
        free(e);
    }
    if (a->head)
        hud_arena_unmap(a->head, a->bytes);
    descriptor_close(&a->file);
    *a = (struct arena){ .file.fd = -1 };
}

/* Frees an extent, of which at most the first bytes are not zeros. */
static void set_free(struct arena *a, struct extent *e, size_t used_bytes)
{
    mem_count(&a->head->stats.leased_bytes, 0 - (uint64_t)e->bytes, true);
    memset((char *)a->head + e->offset, 0, used_bytes < e->bytes ? used_bytes : e->bytes);
    e->state = FREE;
}

/* Frees left extents that every member has left, and joins free neighbours. */
static void collect(struct arena *a)
{
    static const struct mem_policy no_wait = { .polls = 0 };

    for (struct extent *e = a->extents; e; e = e->next) {
        if (e->state != LEFT)
            continue;
        char *slice = (char *)a->head + e->offset;
        struct mem m = { .rank = 0,
                         .size = 1,
                         .slices = &slice,
                         .home_mask = ~(hud_arena_alignment(a->bytes) - 1),
                         .policy = &no_wait };
        bool alike = false;
        if (hud_shm_team_is_left(&m, e->ranks, e->used_bytes, &alike))
            set_free(a, e, alike ? e->used_bytes : e->bytes);
    }
    for (struct extent *e = a->extents; e; e = e->next)
        while (e->state == FREE && e->next && e->next->state == FREE) {
            struct extent *gone = e->next;
            e->bytes += gone->bytes;
            e->next = gone->next;
            free(gone);
        }
}

size_t hud_arena_free_bytes(struct arena *a)
{
    size_t max = 0;

    if (!a->head)
        return 0;
    collect(a);
    for (struct extent *e = a->extents; e; e = e->next)
        if (e->state == FREE && e->bytes > max)
            max = e->bytes;
    return max;
}

/* Counts where new pages are.  The kernel tells the places only of pages mapped here.  A machine
 * of a single node needs no answer: its pages are mapped when they are used, and few are. */
static void verify(struct arena *a, size_t offset, size_t bytes)
{
    size_t pages = bytes / a->page_bytes;

    if (hud_topo_numa_nodes() == 1) {
        mem_count(&a->head->stats.pages_home, pages, true);
        return;
    }
    if (madvise((char *)a->head + offset, bytes, MADV_POPULATE_WRITE) != 0)
        memset((char *)a->head + offset, 0, bytes);
    int *nodes = malloc(pages * sizeof *nodes);

    if (nodes && a->node >= 0 && hud_arena_pages(a, offset, bytes, nodes) == 0)
        for (size_t i = 0; i < pages; i++)
            if (nodes[i] >= 0)
                mem_count(nodes[i] == a->node ? &a->head->stats.pages_home
                                              : &a->head->stats.pages_elsewhere,
                          1, true);
    free(nodes);
}

static struct extent *find_free(struct arena *a, size_t bytes)
{
    for (struct extent *e = a->extents; e; e = e->next)
        if (e->state == FREE && e->bytes >= bytes)
            return e;
    return NULL;
}

/* Leaves the first `bytes` of a free extent and makes a free one of the rest. */
static int split(struct extent *e, size_t bytes)
{
    struct extent *rest;

    if (e->bytes == bytes)
        return 0;
    rest = malloc(sizeof *rest);
    if (!rest)
        return -1;
    *rest = (struct extent){
        .offset = e->offset + bytes, .bytes = e->bytes - bytes, .state = FREE, .next = e->next
    };
    e->bytes = bytes;
    e->next = rest;
    return 0;
}

void hud_arena_aim(struct arena *a, int node)
{
    a->aim = node;
    a->aimed = true;
}

/* Gives the pages of a free extent back, so that they can come from another node. */
static int discard(struct arena *a, size_t from, size_t to)
{
    if (from < to && !descriptor_is_ours(&a->file))
        return -1;
    return from < to ? fallocate(a->file.fd, FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE,
                                 (off_t)from, (off_t)(to - from))
                     : 0;
}

/* Commits the missing and misplaced parts of [start, end), if the memory limits of all
 * committers allow. */
static int grow(struct arena *a, size_t start, size_t end, int committers)
{
    size_t had = a->committed_bytes, from = a->aimed ? start : had;

    if (end <= from)
        return 0;
    if (discard(a, from, end < had ? end : had) != 0)
        return -1;
    if (hud_budget_room() / (size_t)(committers > 0 ? committers : 1) < end - from ||
        commit(a, from, end) != 0)
        return -1;
    a->committed_bytes = end > had ? end : had;
    verify(a, from, end - from);
    return 0;
}

/* Returns the end of the huge page at `end`, if the arena has all of the page. */
static size_t whole_huge(const struct arena *a, size_t end)
{
    size_t up = (end + FILE_HUGE - 1) / FILE_HUGE * FILE_HUGE;

    return up <= a->bytes ? up : end;
}

/* Commits bytes before they are needed.  Joins pages only now: once the other ranks poll, the
 * kernel takes milliseconds for joining, as it asks every processor. */
void hud_arena_warm(struct arena *a, size_t bytes, int committers)
{
    const struct extent *e = find_free(a, a->page_bytes);
    size_t from = a->committed_bytes, begin = e ? e->offset : a->bytes, left = a->bytes - begin,
           to = begin + (bytes < left ? bytes / a->page_bytes * a->page_bytes : left);
    bool joins = a->pages == PAGES_TRANSPARENT;

    if (joins)
        to = whole_huge(a, to);
    if (grow(a, from, to, committers) == 0 && joins && to >= from + FILE_HUGE)
        (void)hud_file_join((char *)a->head + from, (to - from) / FILE_HUGE * FILE_HUGE);
}

static void enter_ledger(struct stats *ledger, size_t bytes)
{
    uint64_t peak = mem_count_read(&ledger->leased_peak_bytes);

    mem_count(&ledger->leases, 1, true);
    mem_count(&ledger->leased_bytes, bytes, true);
    if (mem_count_read(&ledger->leased_bytes) > peak)
        mem_count(&ledger->leased_peak_bytes, mem_count_read(&ledger->leased_bytes) - peak, true);
}

size_t hud_arena_reserve(struct arena *a, size_t bytes, int committers, const char **why)
{
    struct extent *e;

    bytes = (bytes + a->page_bytes - 1) / a->page_bytes * a->page_bytes;
    *why = "the arena is full";
    if (!a->head)
        return 0;
    collect(a);
    if ((e = find_free(a, bytes)) == NULL)
        return 0;
    *why = "out of memory";
    if (grow(a, e->offset, e->offset + bytes, committers) != 0 || split(e, bytes) != 0)
        return 0;
    e->state = LEASED;
    enter_ledger(&a->head->stats, bytes);
    return e->offset;
}

static struct extent *at(struct arena *a, size_t offset)
{
    struct extent *e = a->extents;

    while (e && e->offset != offset)
        e = e->next;
    return e;
}

void hud_arena_cancel(struct arena *a, size_t offset, size_t used_bytes)
{
    struct extent *e = at(a, offset);

    if (e)
        set_free(a, e, used_bytes);
}

void hud_arena_leave(struct arena *a, size_t offset, size_t used_bytes, int ranks)
{
    struct extent *e = at(a, offset);

    if (e) {
        e->state = LEFT;
        e->ranks = ranks;
        e->used_bytes = mem_lines(used_bytes); /* members are compared by their lines */
    }
}
