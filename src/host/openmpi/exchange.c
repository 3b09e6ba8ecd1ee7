/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * exchange.c - the allgathers of a team that is set up in the background.
 *
 * They are messages between members, with a tag that nothing else uses.  Open MPI's own nonblocking
 * allgather is not usable because of its number: these allgathers start at different moments on
 * each rank, and other collectives of the communicator must have the same number on all ranks.
 *
 * Source    Bruck, Ho, Kipnis, Upfal, Weathersby 1997.
 * Shape     P members.  In round k = 1, 2, 4, ... a rank sends its own part and the parts of the
 *           following ranks to the rank k before it: at most k parts, and no more than the receiver
 *           lacks.  Each part is stored at its final place.  So parts of the last members and of
 *           the first are two messages, for the sender and for the receiver.
 * Cost      ceil(log2 P) rounds, of one message or two; P - 1 parts into each rank.
 * Order     Messages of a pair arrive in order, and both ends have the same order of rounds and of
 *           allgathers.  So all have the same tag.
 * Failure   With ULFM: if the communicator is revoked, or a member's process has failed, the
 *           messages are cancelled, and the allgather fails.  Other members may have finished it;
 *           their waits of the team end like the waits of any call (hud_exchange.interrupted).
 */
#include "exchange.h"
#include "messages.h"

#include "ompi/mca/pml/pml.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
    TESTS_PER_LOOK = 1024 /* checking that all members live asks about each */
};

struct parts {
    int first, count;
};

/* Divides `count` parts from `first` on into a piece up to the array's end, and a piece at its
 * start. */
static void divide(int size, int first, int count, struct parts piece[2])
{
    int fit = size - first < count ? size - first : count;

    piece[0] = (struct parts){ first, fit };
    piece[1] = (struct parts){ 0, count - fit };
}

/* Cancels the messages of a round.  A receive without a match becomes complete.  A failed process
 * never receives a message; Open MPI frees such a send on completion, and may read `all` until
 * then. */
static void cancel_round(struct hud_pending *p)
{
    for (int i = 0; i < 4; i++) {
        if (p->message[i] == NULL || hud_request_is_over(p->message[i]))
            continue;
        ompi_request_cancel(p->message[i]);
        if (i >= 2)
            ompi_request_free(&p->message[i]);
    }
    p->failed = true;
}

/* Ends the job if messages cannot be sent, because the others would wait for ever; with ULFM,
 * fails. */
static void fail_round(hud_module *m, int code)
{
    if (!hud_module_interrupted(m)) {
        fprintf(stderr,
                "huddle: rank %d cannot send to other ranks of a communicator (%s); aborting\n",
                (int)OMPI_PROC_MY_NAME->vpid, opal_strerror(code));
        OWN(Abort)(MPI_COMM_WORLD, EXIT_FAILURE);
    }
    cancel_round(&m->pending);
}

static void begin_round(hud_module *m)
{
    struct hud_pending *p = &m->pending;
    ompi_datatype_t *byte = &ompi_mpi_byte.dt;
    int size = ompi_comm_size(m->comm), me = ompi_comm_rank(m->comm), k = p->distance,
        count = size - k < k ? size - k : k, from = (me + k) % size, to = (me - k + size) % size;
    struct parts received[2], sent[2];
    int code = OMPI_SUCCESS;

    divide(size, from, count, received);
    divide(size, me, count, sent);
    for (int i = 0; i < 2 && code == OMPI_SUCCESS; i++)
        if (received[i].count > 0)
            code = MCA_PML_CALL(irecv(p->all + (size_t)received[i].first * p->bytes,
                                      (size_t)received[i].count * p->bytes, byte, from,
                                      HUD_EXCHANGE_TAG, m->comm, &p->message[i]));
    for (int i = 0; i < 2 && code == OMPI_SUCCESS; i++)
        if (sent[i].count > 0)
            code = MCA_PML_CALL(isend(p->all + (size_t)sent[i].first * p->bytes,
                                      (size_t)sent[i].count * p->bytes, byte, to, HUD_EXCHANGE_TAG,
                                      MCA_PML_BASE_SEND_STANDARD, m->comm, &p->message[2 + i]));
    if (code != OMPI_SUCCESS)
        fail_round(m, code);
}

int hud_exchange_start(void *arg, const void *mine, size_t bytes, void *all, void **pending)
{
    hud_module *m = arg;

    m->pending = (struct hud_pending){ .all = all, .bytes = bytes, .distance = 1 };
    *pending = &m->pending;
    memmove(m->pending.all + (size_t)ompi_comm_rank(m->comm) * bytes, mine, bytes);
    if (ompi_comm_size(m->comm) > 1)
        begin_round(m);
    return 0;
}

/* Returns whether all messages of a round are complete, and frees them. */
static bool end_round(struct hud_pending *p)
{
    for (int i = 0; i < 4; i++) {
        if (p->message[i] == NULL)
            continue;
        if (!hud_request_is_over(p->message[i]))
            return false;
        p->failed = p->failed || p->message[i]->req_status.MPI_ERROR != MPI_SUCCESS;
        ompi_request_free(&p->message[i]);
        p->message[i] = NULL;
    }
    return true;
}

int hud_exchange_test(void *arg, void **pending, int *done)
{
    hud_module *m = arg;
    struct hud_pending *p = *pending;
    int size = ompi_comm_size(m->comm);

    *done = 0;
    while (p->distance < size) {
        if (!p->failed && ++p->tests % TESTS_PER_LOOK == 0 && hud_module_interrupted(m))
            cancel_round(p);
        if (!end_round(p)) /* also for a failed round, because others write to `all` */
            return 0;
        if (p->failed)
            break;
        p->distance *= 2;
        if (p->distance < size)
            begin_round(m);
    }
    *done = 1;
    *pending = NULL;
    return p->failed;
}

/* ---- how the team reaches its members while it is set up ---- */

static int exchange_rank(void *arg)
{
    return ompi_comm_rank(((hud_module *)arg)->comm);
}

static int exchange_size(void *arg)
{
    return ompi_comm_size(((hud_module *)arg)->comm);
}

static void exchange_name(void *arg, char *name, size_t bytes)
{
    snprintf(name, bytes, "%s", ((hud_module *)arg)->comm->c_name);
}

static int exchange_interrupted(void *arg)
{
    return hud_module_interrupted(arg);
}

/* Returns a member's rank in the job.  Uses the group alone, which does not create processes that
 * Open MPI has not met yet. */
static int exchange_world_rank(void *arg, int rank)
{
    opal_process_name_t name =
        ompi_group_get_proc_name(((hud_module *)arg)->comm->c_local_group, rank);
    return name.jobid == OMPI_PROC_MY_NAME->jobid ? (int)name.vpid : -1;
}

struct hud_exchange hud_module_exchange(hud_module *m)
{
    return (struct hud_exchange){
        .rank = exchange_rank,
        .size = exchange_size,
        .world_rank = exchange_world_rank,
        .arg = m,
        .name = exchange_name,
        .interrupted = compat_fault_tolerant() ? exchange_interrupted : NULL,
        .start_allgather = hud_exchange_start,
        .test_allgather = hud_exchange_test,
        .messages = &hud_openmpi_messages,
    };
}
