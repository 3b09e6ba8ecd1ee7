/* SPDX-License-Identifier: BSD-3-Clause */
/* points.c - see points.h. Uses no call that it makes fail, and allocates nothing. */
#define _GNU_SOURCE
#include "points.h"

#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <link.h>
#include <sched.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

enum { SITES = 4096, HELD = 1 << 16, NOTES_BYTES = 1 << 19, NAME_BYTES = 160 };

static struct site {
    const char *kind;
    const void *caller;
    char name[NAME_BYTES];
    bool chosen; /* the point to fail is at this site */
    int calls, held;
} site[SITES];

static struct held {
    const void *key; /* NULL if free */
    struct site *site;
} held[HELD];

static atomic_flag lock = ATOMIC_FLAG_INIT;
static char notes[NOTES_BYTES];
static size_t noted;
static const char *broken; /* kind of call that fails from now on */

/* Read once from the environment as the process found it: the program may be changing the
 * environment while it allocates. */
static struct {
    bool known, forever;
    const char *folder, *point;
    int rank, faulty_rank, error;
} wish;

/* Returns the C library's syscall(), because the wrapper in calls.c counts calls. */
static long (*system_call(void))(long number, ...)
{
    static long (*real)(long, ...);

    if (!real)
        real = (long (*)(long, ...))faults_find("syscall", NULL);
    return real;
}

static void enter(void)
{
    while (atomic_flag_test_and_set_explicit(&lock, memory_order_acquire))
        sched_yield(); /* Not REAL(sched_yield): looking up a function may free memory and re-enter
                        * this lock. */
}

static void leave(void)
{
    atomic_flag_clear_explicit(&lock, memory_order_release);
}

static int number(const char *name, int otherwise)
{
    const char *text = getenv(name);

    return text ? atoi(text) : otherwise;
}

static bool watching(void)
{
    if (!wish.known && environ) {
        wish.rank = number("PMIX_RANK", number("OMPI_COMM_WORLD_RANK", number("PMI_RANK", -1)));
        wish.faulty_rank = number("FAULTS_RANK", -1);
        wish.error = number("FAULTS_ERROR", ENOMEM);
        wish.forever = getenv("FAULTS_FOREVER") != NULL;
        wish.point = getenv("FAULTS_POINT");
        wish.folder = getenv("FAULTS_LOG");
        wish.known = true;
    }
    return wish.folder != NULL;
}

/* Formats the place of the caller as "libhuddle.so.0+0x1a2b". Returns false if the caller is not in
 * a library of huddle. */
static bool name_caller(const void *caller, char *name, size_t bytes)
{
    struct dl_find_object found;

    if (_dl_find_object((void *)(uintptr_t)caller, &found) != 0 || !found.dlfo_link_map ||
        !found.dlfo_link_map->l_name)
        return false;
    const char *slash = strrchr(found.dlfo_link_map->l_name, '/'),
               *file = slash ? slash + 1 : found.dlfo_link_map->l_name;
    if (!strstr(file, "huddle"))
        return false;
    size_t offset = (size_t)((const char *)caller - (const char *)found.dlfo_link_map->l_addr);
    snprintf(name, bytes, "%s+0x%zx", file, offset);
    return true;
}

/* Finds or adds the site of a caller. Returns NULL if the caller is not huddle. The lock must be
 * held. */
static struct site *site_of(const char *kind, const void *caller)
{
    size_t at = ((uintptr_t)caller ^ (uintptr_t)kind >> 3) % SITES;
    char where[NAME_BYTES - 32];

    for (; site[at].kind; at = (at + 1) % SITES)
        if (site[at].caller == caller && site[at].kind == kind)
            return &site[at];
    if (!name_caller(caller, where, sizeof where))
        return NULL;
    struct site *s = &site[at];
    s->kind = kind;
    s->caller = caller;
    int length = snprintf(s->name, sizeof s->name, "%s@%s", kind, where);
    s->chosen = wish.point && strncmp(wish.point, s->name, (size_t)length) == 0 &&
                wish.point[length] == '#';
    return s;
}

/* Reports whether the call at this site must fail. The lock must be held. */
static bool is_chosen(const struct site *s)
{
    if (wish.rank < 0 || wish.rank != wish.faulty_rank)
        return false;
    if (broken && strcmp(broken, s->kind) == 0)
        return true;
    if (!s->chosen || atoi(strrchr(wish.point, '#') + 1) != s->calls)
        return false;
    broken = wish.forever ? s->kind : NULL;
    return true;
}

enum fault faults_meet(const char *kind, const void *caller)
{
    int before = errno;
    bool fails = false, first = false;

    if (!watching())
        return FAULT_NONE;
    enter();
    struct site *s = site_of(kind, caller);
    if (s) {
        s->calls++;
        first = !broken;
        fails = is_chosen(s);
    }
    leave();
    errno = before;
    if (!fails)
        return FAULT_NONE;
    if (first) {
        faults_note("failed %s#%d\n", s->name, s->calls);
        faults_write(); /* the process may end without running destructors */
    }
    errno = wish.error;
    return errno == 0 ? FAULT_PARTIAL : FAULT_FAILS;
}

void *faults_find(const char *name, const char *library)
{
    void *(*find)(void *, const char *) =
        (void *(*)(void *, const char *))dlvsym(RTLD_NEXT, "dlsym", "GLIBC_2.34");
    void *(*open_library)(const char *, int) =
        (void *(*)(const char *, int))dlvsym(RTLD_NEXT, "dlopen", "GLIBC_2.34");
    void *found = find(RTLD_NEXT, name);
    void *there = !found && library ? open_library(library, RTLD_LAZY | RTLD_NOLOAD) : NULL;

    return there ? find(there, name) : found;
}

/* ---- resources that are held ---- */

/* Finds the entry of a key, or else the entry in which to store the key. Freed entries keep their
 * site, so that probing continues beyond them. The lock must be held. */
static struct held *held_at(const void *key)
{
    size_t at = ((uintptr_t)key * 0x9e3779b97f4a7c15u >> 40) % HELD;
    struct held *room = NULL;

    for (size_t n = 0; n < HELD && held[at].site; n++, at = (at + 1) % HELD) {
        if (held[at].key == key)
            return &held[at];
        if (!held[at].key && !room)
            room = &held[at];
    }
    return room ? room : &held[at];
}

void faults_hold(const char *kind, const void *caller, const void *key)
{
    if (!key || !watching())
        return;
    enter();
    struct site *s = site_of(kind, caller);
    struct held *h = s ? held_at(key) : NULL;
    if (h) {
        if (h->key)
            h->site->held--; /* the address was released unseen and is in use again */
        *h = (struct held){ key, s };
        s->held++;
    }
    leave();
}

void faults_drop(const void *key)
{
    if (!key || !watching())
        return;
    enter();
    struct held *h = held_at(key);
    if (h->key == key) {
        h->site->held--;
        h->key = NULL;
    }
    leave();
}

/* ---- the output file of a rank ---- */

void faults_forked(int rank)
{
    wish.rank = rank;
}

void faults_note(const char *format, ...)
{
    va_list args;
    int before = errno;

    enter();
    va_start(args, format);
    int bytes = vsnprintf(notes + noted, NOTES_BYTES - noted, format, args);
    va_end(args);
    noted += bytes > 0 && (size_t)bytes < NOTES_BYTES - noted ? (size_t)bytes : 0;
    leave();
    errno = before;
}

static void put(long file, const char *text, size_t bytes)
{
    while (bytes > 0) {
        long n = system_call()(SYS_write, file, text, bytes);
        if (n <= 0)
            return;
        text += n;
        bytes -= (size_t)n;
    }
}

void faults_write(void)
{
    char text[NAME_BYTES + 256];

    if (!wish.folder || wish.rank < 0)
        return;
    snprintf(text, sizeof text, "%s/rank.%d", wish.folder, wish.rank);
    long file =
        system_call()(SYS_openat, AT_FDCWD, text, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0644);
    if (file < 0)
        return;
    enter();
    put(file, notes, noted);
    for (int i = 0; i < SITES; i++)
        if (site[i].kind)
            put(file, text,
                (size_t)snprintf(text, sizeof text, "site %s %d %d\n", site[i].name, site[i].calls,
                                 site[i].held));
    put(file, "end\n", 4);
    leave();
    system_call()(SYS_close, file);
}

__attribute__((destructor)) static void end(void)
{
    if (noted > 0)
        faults_write();
}
