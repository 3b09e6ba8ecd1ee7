/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * exchange.c - the allgathers of a team that is set up while nobody waits.
 *
 * They are messages between members, with a tag that nothing else uses.  Open MPI's own nonblocking
 * allgather would do, but for its number: these start at moments that differ from rank to rank, and
 * others of the communicator must have the same number on all.
 *
 * Source    Bruck, Ho, Kipnis, Upfal, Weathersby 1997.
 * Shape     P members.  In round k = 1, 2, 4, ... a rank sends what it has, of itself and of those
 *           behind it, to the rank k before it: at most k parts, and no more than that one lacks.
 *           Each part lies where it belongs.  So parts of the last members and of the first are two
 *           messages, for the sender and for the receiver.
 * Cost      ceil(log2 P) rounds, of one message or two; P - 1 parts into each rank.
 * Order     Messages of a pair arrive in order, and both ends have the same order of rounds and of
 *           allgathers.  So all have one tag.
 * Failure   With ULFM: where the communicator is revoked, or a member's process has failed, the
 *           messages are cancelled, and the allgather fails.  Other members may have finished it;
 *           their waits of the team end as those of any call (hud_exchange.interrupted).
 */
#include "exchange.h"

#include "ompi/mca/pml/pml.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
    TESTS_PER_LOOK = 1024 /* whether all members live takes a question about each */
};

struct parts {
    int first, count;
};

/* Of `count` parts from `first` on: those up to the array's end, and those that follow at its
 * start. */
static void divide(int size, int first, int count, struct parts piece[2])
{
    int fit = size - first < count ? size - first : count;

    piece[0] = (struct parts){ first, fit };
    piece[1] = (struct parts){ 0, count - fit };
}

/* A receive that is not matched yet completes by that.  A process that has failed never takes what
 * was sent: Open MPI frees such a send when it is over.  Until then it may read `all`. */
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

/* A rank whose messages do not go out would leave the others waiting. */
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

/* All messages of a round are complete. */
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
        if (!end_round(p)) /* also of a round that failed: the others write into `all` */
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
