/* SPDX-License-Identifier: BSD-3-Clause */
/* file.c - see file.h. */
#define _GNU_SOURCE
#include "core/arena/file.h"
#include "base/process_atomics.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/mempolicy.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

#ifndef MADV_COLLAPSE
#define MADV_COLLAPSE 25 /* Linux 6.1 */
#endif

enum { FILE_HUGE_FLAG = 21 << 26 /* MFD_HUGE_2MB */ };

#define POOL "/sys/kernel/mm/hugepages/hugepages-2048kB/"

const char *const hud_file_pages[PAGES_KINDS] = { [PAGES_ORDINARY] = "ordinary",
                                                  [PAGES_POOL] = "huge, from the pool",
                                                  [PAGES_TRANSPARENT] = "huge, transparent" };

static int make(size_t bytes, unsigned flags)
{
    struct rlimit max;
    int fd;

    /* beyond RLIMIT_FSIZE ftruncate sends a signal */
    if (getrlimit(RLIMIT_FSIZE, &max) == 0 && max.rlim_cur != RLIM_INFINITY && max.rlim_cur < bytes)
        return -1;
    fd = memfd_create("huddle", MFD_CLOEXEC | MFD_ALLOW_SEALING | flags);
    if (fd < 0)
        return -1;
    if (ftruncate(fd, (off_t)bytes) == 0 &&
        fcntl(fd, F_ADD_SEALS, F_SEAL_SHRINK | F_SEAL_GROW) == 0)
        return fd;
    close(fd);
    return -1;
}

int hud_file_make(size_t bytes)
{
    return make(bytes, 0);
}

/* Memory is allocated in pieces, each tried a few times, since kernels before 6.2 undo a whole
 * allocation at any signal. */
enum { COMMIT_BYTES = 256 << 10, COMMIT_TRIES = 20 };

static int allocate_piece(int fd, size_t from, size_t bytes)
{
    for (int tries = 0; tries < COMMIT_TRIES; tries++) {
        if (fallocate(fd, 0, (off_t)from, (off_t)bytes) == 0)
            return 0;
        if (errno != EINTR)
            return -1;
    }
    return -1;
}

static int allocate(int fd, size_t from, size_t to, size_t piece)
{
    for (; from < to; from += piece) {
        piece = to - from < piece ? to - from : piece;
        if (allocate_piece(fd, from, piece) != 0)
            return -1;
    }
    return 0;
}

int hud_file_allocate(int fd, size_t from, size_t bytes)
{
    return allocate(fd, from, from + bytes, COMMIT_BYTES);
}

/* A thread's policy for its new pages.  A file of huge pages has none of its own that mbind could
 * set. */
enum { WORD = 8 * sizeof(unsigned long), NODES = 1024 };
struct thread_policy {
    int mode;
    unsigned long mask[NODES / WORD];
};

/* Asks for huge pages of a node and no other: ordinary pages at home are better than huge pages
 * elsewhere.  Returns false if not allowed, as in some containers; then the pages come from
 * where the thread runs. */
static bool aim_at(int node, struct thread_policy *before)
{
    struct thread_policy home = { .mode = MPOL_BIND };

    if (node < 0 || node >= NODES ||
        syscall(SYS_get_mempolicy, &before->mode, before->mask, (unsigned long)NODES, NULL, 0UL) !=
            0)
        return false;
    home.mask[node / WORD] |= 1UL << (node % WORD);
    return syscall(SYS_set_mempolicy, home.mode, home.mask, (unsigned long)NODES) == 0;
}

int hud_file_make_huge(size_t bytes, int node)
{
    struct thread_policy before = { .mode = MPOL_DEFAULT };
    int fd = make(bytes, MFD_HUGETLB | FILE_HUGE_FLAG);

    if (fd < 0)
        return -1;
    bool aimed = aim_at(node, &before);
    int rc = allocate(fd, 0, bytes, FILE_HUGE);
    if (aimed)
        (void)syscall(SYS_set_mempolicy, before.mode, before.mask, (unsigned long)NODES);
    if (rc == 0)
        return fd;
    close(fd);
    return -1;
}

static size_t number_in(const char *path)
{
    unsigned long n = 0;
    FILE *f = fopen(path, "re");

    if (f && fscanf(f, "%lu", &n) != 1)
        n = 0;
    if (f)
        fclose(f);
    return n;
}

bool hud_file_pool_suffices(size_t bytes, int ranks)
{
    size_t pages = number_in(POOL "nr_hugepages") + number_in(POOL "nr_overcommit_hugepages");

    return pages / (size_t)(ranks > 0 ? ranks : 1) >= (bytes + FILE_HUGE - 1) / FILE_HUGE;
}

bool hud_file_join(void *at, size_t bytes)
{
    for (int tries = 0; tries < COMMIT_TRIES; tries++) {
        if (madvise(at, bytes, MADV_COLLAPSE) == 0)
            return true;
        if (errno != EAGAIN && errno != EINTR)
            return false;
    }
    return false;
}

size_t hud_file_joined_bytes(const void *at, size_t bytes)
{
    uintptr_t from, to, begin = (uintptr_t)at;
    bool within = false;
    size_t kb, joined = 0;
    char line[512];
    FILE *f = fopen("/proc/self/smaps", "re");

    while (f && fgets(line, sizeof line, f)) {
        if (sscanf(line, "%lx-%lx ", &from, &to) == 2)
            within = from >= begin && from < begin + bytes;
        else if (within && sscanf(line, "ShmemPmdMapped: %zu", &kb) == 1)
            joined += kb << 10;
    }
    if (f)
        fclose(f);
    return joined;
}

static _Atomic(void *) last_base;

/* Maps before the last mapping of the system, where a place is often free. */
static char *map_before_last(int fd, size_t bytes, size_t alignment)
{
    uintptr_t before = (uintptr_t)local_get(&last_base), wish = (before - bytes) & ~(alignment - 1);
    void *got = before <= bytes + alignment ? MAP_FAILED
                                            : mmap((void *)wish, bytes, PROT_READ | PROT_WRITE,
                                                   MAP_SHARED | MAP_NORESERVE, fd, 0);

    if (got != MAP_FAILED && ((uintptr_t)got & (alignment - 1)) != 0) {
        munmap(got, bytes);
        got = MAP_FAILED;
    }
    if (got != MAP_FAILED)
        local_set(&last_base, got);
    return got != MAP_FAILED ? got : NULL;
}

void *hud_file_map(int fd, size_t bytes, size_t alignment)
{
    char *quick = map_before_last(fd, bytes, alignment);
    if (quick)
        return quick;
    char *space = mmap(NULL, bytes + alignment, PROT_NONE,
                       MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);

    if (space == MAP_FAILED)
        return NULL;
    char *base = (char *)(((uintptr_t)space + alignment - 1) & ~(uintptr_t)(alignment - 1));
    void *got =
        mmap(base, bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_FIXED | MAP_NORESERVE, fd, 0);
    if (base > space)
        munmap(space, (size_t)(base - space));
    munmap(base + bytes, (size_t)(space + alignment - base));
    if (got != MAP_FAILED) {
        local_set(&last_base, base);
        return base;
    }
    munmap(base, bytes);
    return NULL;
}
