/* SPDX-License-Identifier: BSD-3-Clause */
/* presence.c - a named abstract socket per process: bound while it lives, gone with it. */
#define _GNU_SOURCE
#include "core/presence.h"
#include "core/local.h"

#include <pthread.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

/* Where launchers say which job and which rank this is, in the order of preference; two parts make the job's name. */
static const struct launcher {
    const char *job, *step, *rank;
} launchers[] = {
    { "PMIX_NAMESPACE", NULL, "PMIX_RANK" },
    { "HUDDLE_JOB", NULL, "PMI_RANK" },
    { "SLURM_JOB_ID", "SLURM_STEP_ID", "SLURM_PROCID" },
};

static char job[80];
static int sock = -1;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static unsigned char *seen; /* a bit per rank of the job that was there */
static int seen_bytes;

static socklen_t address_of(int rank, struct sockaddr_un *address)
{
    memset(address, 0, sizeof *address);
    address->sun_family = AF_UNIX;
    int n = snprintf(address->sun_path + 1, sizeof address->sun_path - 1, "huddle.%s.%d", job, rank);
    return (socklen_t)(offsetof(struct sockaddr_un, sun_path) + 1 + (size_t)n);
}

/* Short names as they are; long ones by a hash, as an address has 107 bytes. */
static void set_job(const char *name, const char *step)
{
    unsigned long long h = 14695981039346656037ULL;

    for (const char *c = name; *c; c++)
        h = (h ^ (unsigned char)*c) * 1099511628211ULL;
    snprintf(job, sizeof job, "%.40s.%llx.%.20s", name, h, step ? step : "");
}

static int bind_rank(int rank)
{
    struct sockaddr_un address;
    socklen_t bytes = address_of(rank, &address);
    int fd = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);

    if (fd >= 0 && bind(fd, (struct sockaddr *)&address, bytes) != 0) {
        close(fd);
        fd = -1;
    }
    return fd;
}

void hud_presence_announce(void)
{
    static atomic_flag once = ATOMIC_FLAG_INIT;

    if (!local_claim(&once))
        return;
    for (size_t i = 0; i < sizeof launchers / sizeof launchers[0]; i++) {
        const struct launcher *l = &launchers[i];
        const char *name = getenv(l->job), *step = l->step ? getenv(l->step) : "", *rank = getenv(l->rank);
        if (!name || !*name || !step || !rank || !*rank)
            continue;
        set_job(name, step);
        sock = bind_rank(atoi(rank));
        return;
    }
}

bool hud_presence_known(void)
{
    return job[0] != '\0';
}

/* Connecting a datagram socket succeeds just when the name is bound. */
static bool is_bound(int rank)
{
    struct sockaddr_un address;
    socklen_t bytes = address_of(rank, &address);
    int fd = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0);
    bool there = fd >= 0 && connect(fd, (struct sockaddr *)&address, bytes) == 0;

    if (fd >= 0)
        close(fd);
    return there;
}

static bool grow(int rank)
{
    int bytes = rank / 8 + 64;
    unsigned char *more = realloc(seen, (size_t)bytes);

    if (!more)
        return false;
    memset(more + seen_bytes, 0, (size_t)(bytes - seen_bytes));
    seen = more;
    seen_bytes = bytes;
    return true;
}

bool hud_presence_of(int rank)
{
    bool there = false;

    if (rank < 0)
        return false;
    pthread_mutex_lock(&lock);
    if (rank / 8 < seen_bytes || grow(rank)) {
        there = seen[rank / 8] & 1u << rank % 8;
        if (!there && is_bound(rank)) {
            there = true;
            seen[rank / 8] |= (unsigned char)(1u << rank % 8);
        }
    }
    pthread_mutex_unlock(&lock);
    return there;
}
