/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * presence_name.c - ranks that share only a secret: an abstract datagram socket per rank, with a
 * name that is a one-way hash of the secret, the job and the rank.
 *
 * Any process on the node can read the names of bound sockets (/proc/net/unix), and bind names that
 * are free.  But without the secret no name can be computed from another, so no other process can
 * bind a rank's name before the rank does.  The secret is HUDDLE_JOB: made by 'huddle run', or set
 * by the site.
 *
 * Why all ranks get one answer: connecting a datagram socket succeeds if and only if the name is
 * bound, even if its queue is full, and the name is bound before MPI_Init's synchronisation or
 * never.  A rank checks itself as others do: a rank that could not bind its name finds nothing, as
 * they do.
 */
#define _GNU_SOURCE
#include "core/arena/descriptor.h"
#include "core/config/config.h"
#include "core/job/blake2s.h"
#include "core/job/presence.h"
#include "core/job/presence_way.h"

#include <errno.h>
#include <inttypes.h>
#include <sched.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>

/* What launchers give all ranks of a job alike, and other jobs otherwise: so that two jobs of one
 * secret do not meet. */
static const char *const job_names[] = { "PMIX_NAMESPACE",    "SLURM_JOB_ID", "SLURM_STEP_ID",
                                         "PMI_JOBID",         "PMI_PORT",     "PMI_SPAWNED",
                                         "MPISPAWN_MPIRUN_ID" };

static struct blake2s job; /* state after the secret and the job; a rank's own bytes follow */
static unsigned own_manner;
static struct descriptor named = { .fd = -1 }; /* has this rank's name */
/* The socket that looks for names.  It is opened at the start, so that a later shortage of
 * descriptors changes no answer. */
static struct descriptor probe = { .fd = -1 };

static void add_text(struct blake2s *hash, const char *text)
{
    /* Includes the zero byte, so that "a" "bc" differs from "ab" "c". */
    hud_blake2s_add(hash, text, strlen(text) + 1);
}

bool hud_presence_name_job(unsigned manner)
{
    static const char *const text[MANNERS] = {
        "huddle presence",
        "huddle presence, checked",
        "huddle presence, with requests",
        "huddle presence, checked, with requests",
    };
    const char *secret = secure_getenv("HUDDLE_JOB");

    if (!secret || !*secret)
        return false;
    hud_blake2s_start(&job);
    add_text(&job, text[manner]);
    add_text(&job, secret);
    for (size_t i = 0; i < sizeof job_names / sizeof job_names[0]; i++) {
        const char *value = secure_getenv(job_names[i]);
        add_text(&job, value ? value : "");
    }
    return true;
}

void hud_presence_name(int rank, char name[PRESENCE_NAME])
{
    unsigned char sum[BLAKE2S_BYTES];
    struct blake2s hash = job;
    char number[16];
    int at = snprintf(name, PRESENCE_NAME, "huddle.");

    snprintf(number, sizeof number, "%d", rank);
    add_text(&hash, number);
    hud_blake2s_end(&hash, sum);
    for (int i = 0; i < 16; i++)
        at += snprintf(name + at, (size_t)(PRESENCE_NAME - at), "%02x", sum[i]);
}

static socklen_t address_of(int rank, struct sockaddr_un *address)
{
    char name[PRESENCE_NAME];

    hud_presence_name(rank, name);
    memset(address, 0, sizeof *address);
    address->sun_family = AF_UNIX;
    memcpy(address->sun_path + 1, name, strlen(name));
    return (socklen_t)(offsetof(struct sockaddr_un, sun_path) + 1 + strlen(name));
}

static int new_socket(void)
{
    return socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
}

/* Binds the name of a rank.  The descriptor stays open for the life of the process, and is
 * never read: messages stay in its queue. */
static void bind_name(int rank)
{
    struct sockaddr_un address;

    descriptor_close(&probe);
    descriptor_close(&named);
    probe = descriptor_of(new_socket());
    named = descriptor_of(probe.fd >= 0 ? new_socket() : -1);
    socklen_t bytes = address_of(rank, &address);
    if (named.fd >= 0 && bind(named.fd, (struct sockaddr *)&address, bytes) != 0)
        descriptor_close(&named);
}

static bool announce(int rank, unsigned manner)
{
    if (!hud_presence_name_job(manner))
        return false;
    own_manner = manner;
    bind_name(rank);
    return true;
}

void hud_presence_mark(int rank, unsigned manner, uint64_t number)
{
    char text[24];

    if (!hud_presence_name_job(manner))
        return;
    snprintf(text, sizeof text, "%" PRIu64, number);
    add_text(&job, text);
    bind_name(rank);
}

/* Returns whether the name is bound, as ECONNREFUSED denies.  Other lasting errors come from a
 * ban on abstract sockets in this process, which then has bound none. */
static bool is_bound(int rank)
{
    struct sockaddr_un address;
    socklen_t bytes = address_of(rank, &address);
    int rc;

    do {
        rc = connect(probe.fd, (struct sockaddr *)&address, bytes);
        if (rc != 0 && errno != EINTR)
            sched_yield();
    } while (rc != 0 && (errno == EINTR || errno == EAGAIN || errno == ENOMEM || errno == ENOBUFS));
    return rc == 0;
}

bool hud_presence_marked(int rank)
{
    return !descriptor_is_lost(&probe) && is_bound(rank);
}

static void find(int first, int end, void (*found)(int rank))
{
    for (int r = first; !descriptor_is_lost(&probe) && r < end; r++)
        if (is_bound(r))
            found(r);
}

static bool unlike(int rank)
{
    const struct blake2s own = job;
    bool is = false;

    for (unsigned m = 0; m < MANNERS && !descriptor_is_lost(&probe); m++)
        is = is || (m != own_manner && hud_presence_name_job(m) && is_bound(rank));
    job = own;
    return is;
}

const struct presence_way hud_presence_by_name = { announce, find, unlike };
