/* SPDX-License-Identifier: BSD-3-Clause */
/* presence.c - a named abstract socket per process: bound while it lives, gone with it. */
#define _GNU_SOURCE
#include "core/presence.h"
#include "core/descriptor.h"
#include "core/hash.h"
#include "core/local.h"

#include <errno.h>
#include <pthread.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

/*
 * Where launchers say which job and which rank this is.  Hydra names no job, but all ranks of a node inherit one socket to its proxy, and the
 * socket's inode is unique.
 */
static const struct launcher {
    const char *job, *step, *rank;
    bool is_socket; /* job is the number of a descriptor */
    bool pmix;      /* serves Open MPI too */
} launchers[] = {
    { "HYDI_CONTROL_FD", NULL, "PMI_RANK", true, false },          /* MPICH's Hydra */
    { "HYDRA_BSTRAP_UPSTREAM_FD", NULL, "PMI_RANK", true, false }, /* Intel's */
    { "PMIX_NAMESPACE", NULL, "PMIX_RANK", false, true },
    { "SLURM_JOB_ID", "SLURM_STEP_ID", "SLURM_PROCID", false, true },
    { "HUDDLE_JOB", NULL, "PMI_RANK", false, false },
};

enum { RANKS_MOST = 1 << 20 }; /* of a job; a higher rank counts as absent */

static char job[80];
static bool with_check;                        /* as announced */
static int own_rank = -1;                      /* as announced; -1: the name could not be bound */
static struct descriptor probe = { .fd = -1 }; /* asks for names; there from the start, so that no later shortage changes an answer */
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static unsigned char asked[RANKS_MOST / 8], there[RANKS_MOST / 8]; /* a bit per rank */

static socklen_t address_of(int rank, struct sockaddr_un *address)
{
    memset(address, 0, sizeof *address);
    address->sun_family = AF_UNIX;
    int n = snprintf(address->sun_path + 1, sizeof address->sun_path - 1, "huddle.%s.%d", job, rank);
    return (socklen_t)(offsetof(struct sockaddr_un, sun_path) + 1 + (size_t)n);
}

/* The job's name, with the name of the run if 'huddle run' started it; a hash keeps long names apart, as an address has 107 bytes. */
static bool name_job(const struct launcher *l)
{
    const char *name = secure_getenv(l->job), *step = l->step ? secure_getenv(l->step) : "", *run = secure_getenv("HUDDLE_JOB");
    char inode[32];
    struct stat st;

    if (!name || !*name || !step)
        return false;
    if (l->is_socket) {
        if (fstat(atoi(name), &st) != 0 || !S_ISSOCK(st.st_mode))
            return false;
        snprintf(inode, sizeof inode, "%llu", (unsigned long long)st.st_ino);
        name = inode;
    }
    uint64_t whole = hash_text(hash_text(hash_text(HASH_START, name), step), run ? run : "");
    whole = with_check ? hash_text(whole, "check") : whole;
    snprintf(job, sizeof job, "%.40s.%llx.%.20s", name, (unsigned long long)whole, step);
    return true;
}

static int new_socket(void)
{
    return socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
}

static void bind_rank(int rank)
{
    struct sockaddr_un address;
    socklen_t bytes = address_of(rank, &address);
    int fd = new_socket();

    probe = descriptor_of(new_socket());
    if (fd >= 0 && probe.fd >= 0 && bind(fd, (struct sockaddr *)&address, bytes) == 0)
        own_rank = rank;
    else if (fd >= 0)
        close(fd);
}

void hud_presence_announce(enum hud_launchers which, bool checked)
{
    static atomic_flag once = ATOMIC_FLAG_INIT;

    if (!local_claim(&once))
        return;
    with_check = checked;
    for (size_t i = 0; i < sizeof launchers / sizeof launchers[0]; i++) {
        const struct launcher *l = &launchers[i];
        const char *rank = secure_getenv(l->rank);
        if ((which == HUD_LAUNCHERS_HYDRA || l->pmix) && rank && *rank && name_job(l)) {
            bind_rank(atoi(rank));
            return;
        }
    }
}

bool hud_presence_known(void)
{
    return job[0] != '\0';
}

bool hud_presence_checked(void)
{
    return with_check && hud_presence_known();
}

bool hud_presence_is(int rank)
{
    return rank >= 0 && rank == own_rank;
}

/* Connecting a datagram socket succeeds just when the name is bound. */
static bool is_bound(int rank)
{
    struct sockaddr_un address;
    socklen_t bytes = address_of(rank, &address);
    int rc;

    if (!descriptor_is_ours(&probe))
        return false;
    do
        rc = connect(probe.fd, (struct sockaddr *)&address, bytes);
    while (rc != 0 && errno == EINTR);
    return rc == 0;
}

bool hud_presence_of(int rank)
{
    if (rank < 0 || rank >= RANKS_MOST || own_rank < 0)
        return false;
    unsigned char bit = (unsigned char)(1u << rank % 8);
    pthread_mutex_lock(&lock);
    if (!(asked[rank / 8] & bit) && is_bound(rank))
        there[rank / 8] |= bit;
    asked[rank / 8] |= bit;
    bool is = there[rank / 8] & bit;
    pthread_mutex_unlock(&lock);
    return is;
}

void hud_presence_look(int world_size)
{
    enum { LOOK_MOST = 4096 };

    for (int r = 0; r < world_size && r < LOOK_MOST; r++)
        (void)hud_presence_of(r);
}
