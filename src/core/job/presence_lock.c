/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * presence_lock.c - ranks under Hydra: a write lock (fcntl) on one byte of the inode of the socket
 * to the proxy.
 *
 * All ranks of a node inherit that one socket, and no other process can have it: a stranger can
 * neither set, take nor see these locks.  No file exists.  The kernel drops a process's locks
 * when it ends, and when it closes any descriptor of the inode.  So huddle's own descriptor is
 * closed on exec, and the locks are dropped with it.  A forked process does not inherit them.
 *
 * Why all ranks get one answer: the locks are set before MPI_Init's synchronisation, so a rank that
 * looks afterwards sees all of them.  F_GETLK on a byte of an open descriptor fails only when the
 * kernel is out of memory or when interrupted, and is then repeated.  A rank that may not make this
 * call finds that out before it publishes its presence, and then does not.  A rank that has lost
 * its descriptor has lost its lock as well: it is absent for itself and for the others.
 */
#define _GNU_SOURCE
#include "base/hash.h"
#include "base/launcher_env.h"
#include "core/arena/descriptor.h"
#include "core/config/config.h"
#include "core/job/presence_way.h"

#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <stdint.h>
#include <stdlib.h>

/* Variables of MPICH and of Intel MPI with the number of a descriptor.  A job inside another job
 * may find both. */
static const char *const socket_names[] = { "HYDI_CONTROL_FD", "HYDRA_BSTRAP_UPSTREAM_FD" };

/* Bytes of the inode: job (so that jobs which share a socket by nesting do not meet), check,
 * rank. */
enum { RANK_BITS = 20, JOB_BITS = 40 };
_Static_assert(LAUNCHED_RANKS == 1 << RANK_BITS, "a byte per rank");

static struct descriptor control = { .fd = -1 };
static off_t base;
static int own_rank;
static unsigned own_manner;
static bool locked;

enum answer { NO, YES, NOT_KNOWN };

static enum answer is_socket(const char *variable, struct stat *st)
{
    const char *text = secure_getenv(variable);
    char *end = NULL;
    long fd = text ? strtol(text, &end, 10) : -1;

    if (!text || end == text || fd < 0 || fd > INT32_MAX)
        return NO;
    if (fstat((int)fd, st) != 0)
        return errno == EBADF ? NO : NOT_KNOWN;
    return S_ISSOCK(st->st_mode) ? YES : NO;
}

/* Finds the socket.  Returns false if there is none. control becomes the first socket, as a
 * descriptor of huddle's own, if possible; *job a hash of all sockets and of facts that tell a
 * spawned job from its parents.  If the kernel has no memory to answer, the other ranks have
 * found a socket all the same: returns true, with control closed. */
static bool find_socket(uint64_t *job)
{
    const char *spawned = secure_getenv("PMI_SPAWNED");
    bool there = false, known = true;
    struct stat st;

    *job = hash_text(HASH_START, spawned ? spawned : "");
    for (size_t i = 0; i < sizeof socket_names / sizeof socket_names[0]; i++) {
        enum answer socket = is_socket(socket_names[i], &st);
        known = known && socket != NOT_KNOWN;
        if (socket != YES)
            continue;
        *job = hash_number(*job, (uint64_t)st.st_ino);
        if (!there)
            control =
                descriptor_of(fcntl(atoi(secure_getenv(socket_names[i])), F_DUPFD_CLOEXEC, 3));
        there = true;
    }
    if (!known)
        descriptor_close(&control);
    return there || !known;
}

/* Returns 1 if another process has a lock there, 0 if nobody has, and -1 if unknown. */
static int held(off_t start, off_t bytes)
{
    struct flock range;
    int rc;

    do {
        range = (struct flock){
            .l_type = F_WRLCK, .l_whence = SEEK_SET, .l_start = start, .l_len = bytes
        };
        rc = fcntl(control.fd, F_GETLK, &range);
        if (rc != 0 && errno != EINTR)
            sched_yield();
    } while (rc != 0 && (errno == EINTR || errno == ENOMEM));
    return rc != 0 ? -1 : range.l_type != F_UNLCK;
}

static bool announce(int rank, unsigned manner)
{
    uint64_t job;
    int rc;

    if (!find_socket(&job))
        return false;
    base = (off_t)(((job >> (64 - JOB_BITS)) * MANNERS + manner) << RANK_BITS);
    own_rank = rank;
    own_manner = manner;
    if (control.fd < 0 || held(base + rank, 1) < 0) {
        descriptor_close(&control);
        return true; /* this way, and absent in it */
    }
    struct flock own = {
        .l_type = F_WRLCK, .l_whence = SEEK_SET, .l_start = base + rank, .l_len = 1
    };
    do
        rc = fcntl(control.fd, F_SETLK, &own);
    while (rc != 0 && errno == EINTR);
    locked = rc == 0;
    return true;
}

/* Halves the range until no rank or a single rank is left.  F_GETLK does not report a lock of
 * this process. */
static void search(int first, int end, void (*found)(int rank))
{
    if (first >= end || held(base + first, end - first) != 1)
        return;
    if (end - first == 1) {
        found(first);
        return;
    }
    int middle = first + (end - first) / 2;
    search(first, middle, found);
    search(middle, end, found);
}

static void find(int first, int end, void (*found)(int rank))
{
    if (descriptor_is_lost(&control))
        return;
    search(first, end, found);
    if (locked && own_rank >= first && own_rank < end)
        found(own_rank);
}

static bool unlike(int rank)
{
    off_t first = base - ((off_t)own_manner << RANK_BITS) + rank;
    bool is = false;

    for (unsigned m = 0; m < MANNERS && !descriptor_is_lost(&control); m++)
        is = is || (m != own_manner && held(first + ((off_t)m << RANK_BITS), 1) == 1);
    return is;
}

const struct presence_way hud_presence_by_lock = { announce, find, unlike };
