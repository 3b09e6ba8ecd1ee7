/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * fake_xpmem.c - implements libxpmem without its kernel module, for tests.
 *
 * Memory of the same process is attached at its own address. Shared mappings of another process are
 * mapped here, so that both access the same memory (root only, by /proc/PID/map_files). Accesses to
 * other memory fail with SIGBUS, like accesses to a missing page with the module. With
 * FAKE_XPMEM_COPIES private memory is copied when it is attached, and changes are copied back when
 * it is detached, for callers that keep nothing attached.
 *
 * FAKE_XPMEM_FAILS: with make, get or attach these calls always fail. With late, attach fails after
 * some calls.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/uio.h>
#include <unistd.h>

#define EXPORTED __attribute__((visibility("default")))

struct xpmem_addr {
    int64_t apid;
    off_t offset;
};

enum { PER_PROCESS = 256, LATE = 40, MAX = 4096 };

struct copy {
    uint64_t from;
    size_t offset, bytes;
    char *before;
    struct copy *next;
};
struct made {
    char *at; /* NULL if free */
    size_t bytes;
    int pid;
    struct copy *copies;
};

static struct made table[MAX];
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

/* Counters for tests in this process. */
EXPORTED int fake_xpmem_made, fake_xpmem_got, fake_xpmem_attached, fake_xpmem_detached;

EXPORTED int64_t xpmem_make(void *at, size_t bytes, int type, void *value);
EXPORTED int xpmem_remove(int64_t segid);
EXPORTED int64_t xpmem_get(int64_t segid, int flags, int type, void *value);
EXPORTED int xpmem_release(int64_t apid);
EXPORTED void *xpmem_attach(struct xpmem_addr from, size_t bytes, void *at);
EXPORTED int xpmem_detach(void *at);

static bool is_set(const char *name)
{
    const char *value = getenv(name);

    return value && *value;
}

static bool fails(const char *what)
{
    const char *asked = getenv("FAKE_XPMEM_FAILS");

    return asked && strcmp(asked, what) == 0;
}

int64_t xpmem_make(void *at, size_t bytes, int type, void *value)
{
    if (fails("make") || at != NULL || bytes != SIZE_MAX || type != 1 || value != (void *)0600)
        return -1;
    fake_xpmem_made++;
    return (int64_t)getpid() * PER_PROCESS + 1;
}

int xpmem_remove(int64_t segid)
{
    if (segid != (int64_t)getpid() * PER_PROCESS + 1 || fake_xpmem_made == 0)
        abort();
    fake_xpmem_made--;
    return 0;
}

int64_t xpmem_get(int64_t segid, int flags, int type, void *value)
{
    if (fails("get") || segid % PER_PROCESS != 1 || flags != 2 || type != 1 || value != NULL ||
        kill((pid_t)(segid / PER_PROCESS), 0) != 0)
        return -1;
    __atomic_add_fetch(&fake_xpmem_got, 1, __ATOMIC_RELAXED);
    return segid + 1;
}

int xpmem_release(int64_t apid)
{
    if (apid % PER_PROCESS != 2)
        abort();
    __atomic_sub_fetch(&fake_xpmem_got, 1, __ATOMIC_RELAXED);
    return 0;
}

/* Maps a part of an attachment, shared memory of the other process. */
static void map_file(const struct made *m, const char *line, size_t offset, size_t bytes, off_t at)
{
    char path[128];

    snprintf(path, sizeof path, "/proc/%d/map_files/%.*s", m->pid, (int)strcspn(line, " "), line);
    int fd = open(path, O_RDWR | O_CLOEXEC);
    if (fd < 0)
        return;
    (void)!mmap(m->at + offset, bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_FIXED, fd, at);
    close(fd);
}

/* Copies a part of an attachment, private memory of the other process. */
static void copy_in(struct made *m, uint64_t from, size_t offset, size_t bytes)
{
    struct copy *c = calloc(1, sizeof *c);
    char *before = malloc(bytes);
    struct iovec local = { before, bytes }, remote = { (void *)(uintptr_t)from, bytes };

    if (!c || !before || process_vm_readv(m->pid, &local, 1, &remote, 1, 0) != (ssize_t)bytes ||
        mmap(m->at + offset, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED,
             -1, 0) == MAP_FAILED) {
        free(c);
        free(before);
        return;
    }
    memcpy(m->at + offset, before, bytes);
    *c = (struct copy){ from, offset, bytes, before, m->copies };
    m->copies = c;
}

static void fill(struct made *m, uint64_t from)
{
    char path[64], line[512], rights[8];
    uint64_t begin, end, offset;
    unsigned long inode;

    snprintf(path, sizeof path, "/proc/%d/maps", m->pid);
    FILE *maps = fopen(path, "re");
    while (maps && fgets(line, sizeof line, maps)) {
        if (sscanf(line, "%lx-%lx %7s %lx %*s %lu", &begin, &end, rights, &offset, &inode) != 5 ||
            end <= from || begin >= from + m->bytes || rights[0] != 'r')
            continue;
        uint64_t first = begin > from ? begin : from,
                 last = end < from + m->bytes ? end : from + m->bytes;
        if (rights[3] == 's' && inode != 0)
            map_file(m, line, first - from, last - first, (off_t)(offset + first - begin));
        else if (is_set("FAKE_XPMEM_COPIES"))
            copy_in(m, first, first - from, last - first);
    }
    if (maps)
        fclose(maps);
}

/* Attaches memory of another process. Parts without a mapping are beyond the end of an empty file,
 * so an access fails. */
static void *attach_other(int pid, uint64_t from, size_t bytes)
{
    int empty = memfd_create("nothing", MFD_CLOEXEC), i = 0;
    char *at = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, empty, 0);

    close(empty);
    while (i < MAX && table[i].at)
        i++;
    if (at == MAP_FAILED || i == MAX)
        return (void *)-1;
    table[i] = (struct made){ .at = at, .bytes = bytes, .pid = pid };
    fill(&table[i], from);
    return at;
}

void *xpmem_attach(struct xpmem_addr from, size_t bytes, void *at)
{
    const size_t page = (size_t)sysconf(_SC_PAGESIZE);
    int pid = (int)(from.apid / PER_PROCESS),
        count = __atomic_add_fetch(&fake_xpmem_attached, 1, __ATOMIC_RELAXED);

    if (from.apid % PER_PROCESS != 2 || (size_t)from.offset % page != 0 || bytes % page != 0 ||
        at != NULL || fails("attach") || (fails("late") && count > LATE)) {
        __atomic_sub_fetch(&fake_xpmem_attached, 1, __ATOMIC_RELAXED);
        return (void *)-1;
    }
    if (pid == getpid())
        return (void *)(uintptr_t)from.offset;
    pthread_mutex_lock(&lock);
    void *made = attach_other(pid, (uint64_t)from.offset, bytes);
    pthread_mutex_unlock(&lock);
    return made;
}

/* Copies back the bytes that have changed. */
static void copy_back(const struct made *m, const struct copy *c)
{
    const char *now = m->at + c->offset;

    for (size_t i = 0; i < c->bytes; i++) {
        size_t first = i;
        while (i < c->bytes && now[i] != c->before[i])
            i++;
        struct iovec local = { (void *)(uintptr_t)(now + first), i - first },
                     remote = { (void *)(uintptr_t)(c->from + first), i - first };
        if (i > first &&
            process_vm_writev(m->pid, &local, 1, &remote, 1, 0) != (ssize_t)(i - first))
            abort();
    }
}

int xpmem_detach(void *at)
{
    __atomic_add_fetch(&fake_xpmem_detached, 1, __ATOMIC_RELAXED);
    pthread_mutex_lock(&lock);
    for (int i = 0; i < MAX; i++)
        if (table[i].at == at) {
            for (struct copy *c = table[i].copies, *next; c; c = next) {
                next = c->next;
                copy_back(&table[i], c);
                free(c->before);
                free(c);
            }
            munmap(table[i].at, table[i].bytes);
            table[i] = (struct made){ .at = NULL };
        }
    pthread_mutex_unlock(&lock);
    return 0;
}
