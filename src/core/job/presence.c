/* SPDX-License-Identifier: BSD-3-Clause */
/* presence.c - the way of this process to publish its presence, and a memory of its answers. */
#define _GNU_SOURCE
#include "core/job/presence.h"
#include "base/launcher_env.h"
#include "base/process_atomics.h"
#include "base/setuid.h"
#include "core/config/config.h"
#include "core/job/presence_way.h"

#include <pthread.h>
#include <stdlib.h>

static const struct presence_way *const ways[] = { &hud_presence_by_lock, &hud_presence_by_name };

static bool called;
static unsigned own;
static const struct presence_way *way; /* NULL: none serves */
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static unsigned char asked[LAUNCHED_RANKS / 8], there[LAUNCHED_RANKS / 8]; /* a bit per rank */

/* Returns this process's rank, or -1 if no launcher reports it. */
static int launched_as(void)
{
    long rank = process_is_elevated() ? -1 : launched_rank();

    return rank < LAUNCHED_RANKS ? (int)rank : -1;
}

void hud_presence_announce(unsigned manner)
{
    static atomic_flag once = ATOMIC_FLAG_INIT;
    int rank = launched_as();

    if (!local_claim(&once))
        return;
    called = true;
    own = manner;
    for (size_t i = 0; rank >= 0 && !way && i < sizeof ways / sizeof ways[0]; i++)
        if (ways[i]->announce(rank, manner))
            way = ways[i];
}

bool hud_presence_known(void)
{
    return called;
}

bool hud_presence_checked(void)
{
    return called && (own & MANNER_CHECKED);
}

const char *hud_presence_trouble(void)
{
    const char *secret = secure_getenv("HUDDLE_JOB");

    if (!called || way)
        return NULL;
    return secret && *secret ? "the launcher does not give a process its rank before MPI_Init"
                             : "huddle cannot know which ranks use it; set HUDDLE_JOB=<random "
                               "text, the same on all ranks, new for each start>";
}

/* Marks a rank as present; called under the lock. */
static void found(int rank)
{
    there[rank / 8] |= (unsigned char)(1u << rank % 8);
}

/* Asks for ranks; called under the lock. */
static void ask(int first, int end)
{
    if (way)
        way->find(first, end, found);
    for (int r = first; r < end; r++)
        asked[r / 8] |= (unsigned char)(1u << r % 8);
}

bool hud_presence_of(int rank)
{
    if (rank < 0 || rank >= LAUNCHED_RANKS)
        return false;
    unsigned char bit = (unsigned char)(1u << rank % 8);
    pthread_mutex_lock(&lock);
    if (!(asked[rank / 8] & bit))
        ask(rank, rank + 1);
    bool is = there[rank / 8] & bit;
    pthread_mutex_unlock(&lock);
    return is;
}

bool hud_presence_unlike(int rank)
{
    pthread_mutex_lock(&lock);
    bool is = way && rank >= 0 && rank < LAUNCHED_RANKS && way->unlike(rank);
    pthread_mutex_unlock(&lock);
    return is;
}

void hud_presence_find(int world_size)
{
    enum { FIND_MAX = 4096 };
    static bool done;

    pthread_mutex_lock(&lock);
    if (called && !done) {
        ask(0, world_size < FIND_MAX ? world_size : FIND_MAX);
        done = true;
    }
    pthread_mutex_unlock(&lock);
}
