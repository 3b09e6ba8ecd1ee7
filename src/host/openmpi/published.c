/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * published.c - which ranks use huddle: each of them publishes a key in the launcher's exchange
 * (PMIx), and the others look it up.
 *
 * Only ranks of the job can write there, and only for themselves.  A rank publishes in
 * component_open, before Open MPI sends the published keys and waits for the others.  So a rank in
 * a communicator has sent its key, or never will, and the node's own server has the final answer.
 * A rank whose key could not be published knows this, and the others find nothing.  The key is for
 * the ranks of a node: a rank of another node is absent.  In a job of several nodes a rank
 * publishes a second value for ranks of all nodes, unless HUDDLE_NODES is off: then ranks of other
 * nodes are absent.
 *
 * Asking the server takes about 20 us for each rank, and all ranks of the node ask the same
 * server.  So ranks that share a secret are found without the server (presence.h).
 *
 * A look-up without an answer is repeated: only the answer that the key does not exist means that a
 * rank is absent.
 */
#include "component.h"

#include "base/launcher_env.h"
#include "core/config/config.h"
#include "core/job/presence.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum {
    FORM = 1,         /* version of the value's format */
    TRIES_MAX = 30000 /* tries of at least a millisecond each */
};

static const char key[] = "huddle.present";

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static uint32_t own;   /* value published by this rank; 0: none */
static bool wants_far; /* teams may span nodes */
static bool far;       /* also published for all nodes */
static enum { FAR_UNKNOWN, FAR_ALL, FAR_SOME } far_ranks; /* ranks that have published */
/* A bit per rank, for this node and for all nodes: asked for, and found. */
static unsigned char asked_for[2][LAUNCHED_RANKS / 8], found[2][LAUNCHED_RANKS / 8];
static unsigned char unlike[LAUNCHED_RANKS / 8]; /* a bit per rank with another value than this
                                                    rank's */

bool hud_openmpi_spans(void)
{
    return wants_far;
}

static bool has_other_nodes(void)
{
    return (int64_t)ompi_process_info.num_local_peers + 1 < (int64_t)ompi_process_info.num_procs;
}

void hud_openmpi_publish(bool serves, unsigned manner, bool nodes)
{
    uint32_t value = FORM * MANNERS | manner;

    pthread_mutex_lock(&lock);
    own = serves && compat_publish(key, value, false) ? value : 0;
    if (own != 0)
        hud_presence_mark((int)OMPI_PROC_MY_NAME->vpid, manner, OMPI_PROC_MY_NAME->jobid);
    wants_far = serves && nodes && has_other_nodes();
    far = own != 0 && wants_far && compat_publish_far((int)OMPI_PROC_MY_NAME->vpid, value);
    far_ranks = FAR_UNKNOWN;
    if (serves && own == 0)
        hud_report_warn("the launcher rejected huddle's key; using Open MPI's own collectives");
    memset(asked_for, 0, sizeof asked_for); /* forgets earlier sessions */
    memset(found, 0, sizeof found);
    memset(unlike, 0, sizeof unlike);
    pthread_mutex_unlock(&lock);
}

/* Asks for a rank's value for its node, or, if elsewhere, for all nodes. */
static int ask(int rank, bool elsewhere, uint32_t *value)
{
    return elsewhere ? compat_look_far(rank, value) : compat_look(rank, key, value);
}

static bool uses_huddle(int rank, bool elsewhere)
{
    const struct timespec pause = { .tv_nsec = 1000000 };
    uint32_t value = 0;
    int rc = ask(rank, elsewhere, &value);

    for (long tries = 1; rc < 0; tries++) {
        if (tries == TRIES_MAX) { /* this rank cannot know the others' decision */
            hud_report_warn("the launcher does not answer whether rank %d uses huddle; aborting",
                            rank);
            OWN(Abort)(MPI_COMM_WORLD, EXIT_FAILURE);
        }
        nanosleep(&pause, NULL);
        rc = ask(rank, elsewhere, &value);
    }
    if (rc == 0 && value != own)
        unlike[rank / 8] |= (unsigned char)(1u << rank % 8);
    return rc == 0 && value == own;
}

/* Returns whether a rank has published for all nodes.  Asks for all ranks at once if possible, so
 * most jobs ask once. */
static bool look_far(int rank)
{
    int ranks = (int)ompi_process_info.num_procs;

    if (far_ranks == FAR_UNKNOWN)
        far_ranks = compat_look_all(ranks, own) ? FAR_ALL : FAR_SOME;
    return (far_ranks == FAR_ALL && rank < ranks) || uses_huddle(rank, true);
}

/* Returns whether a rank is known to use huddle, and asks at most once. */
static bool look(int rank, bool elsewhere)
{
    unsigned char bit = (unsigned char)(1u << rank % 8), *asked = asked_for[elsewhere],
                  *there = found[elsewhere];

    if (!(asked[rank / 8] & bit) &&
        (elsewhere ? look_far(rank) : hud_presence_marked(rank) || uses_huddle(rank, false)))
        there[rank / 8] |= bit;
    asked[rank / 8] |= bit;
    return there[rank / 8] & bit;
}

int hud_openmpi_published(void *arg, int rank)
{
    (void)arg;
    if (rank < 0 || rank >= LAUNCHED_RANKS || own == 0)
        return 0;
    if (rank == (int)OMPI_PROC_MY_NAME->vpid)
        return 1;
    pthread_mutex_lock(&lock);
    int is = look(rank, false) ? 1 : unlike[rank / 8] & 1u << rank % 8 ? -1 : 0;
    pthread_mutex_unlock(&lock);
    return is;
}

int hud_openmpi_published_far(void *arg, int rank)
{
    (void)arg;
    if (rank < 0 || rank >= LAUNCHED_RANKS || !far)
        return 0;
    if (rank == (int)OMPI_PROC_MY_NAME->vpid)
        return 1;
    pthread_mutex_lock(&lock);
    int is = look(rank, true);
    pthread_mutex_unlock(&lock);
    return is;
}
