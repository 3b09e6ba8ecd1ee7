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
 * Cost      ceil(log2 P) messages of each rank, to as many others; P - 1 parts into each.
 * Order     Messages of a pair arrive in order, and both ends have the same order of rounds and of
 *           allgathers.  So all have one tag.
 */
#include "exchange.h"

#include "ompi/mca/pml/pml.h"

#include <stdlib.h>
#include <string.h>

enum { TAG = -5 }; /* below those of programs, above those of Open MPI's collectives */

/* False: it did not go out. */
static bool begin_round(struct hud_pending *p)
{
    int size = ompi_comm_size(p->comm), me = ompi_comm_rank(p->comm), k = p->distance,
        count = size - k < k ? size - k : k;
    size_t bytes = (size_t)count * p->bytes;
    ompi_datatype_t *byte = &ompi_mpi_byte.dt;

    return MCA_PML_CALL(irecv(p->part + (size_t)k * p->bytes, bytes, byte, (me + k) % size, TAG,
                              p->comm, &p->round[0])) == OMPI_SUCCESS &&
           MCA_PML_CALL(isend(p->part, bytes, byte, (me - k + size) % size, TAG,
                              MCA_PML_BASE_SEND_STANDARD, p->comm, &p->round[1])) == OMPI_SUCCESS;
}

/* A rank whose messages do not go out would leave the others waiting. */
int hud_exchange_start(void *arg, const void *mine, size_t bytes, void *all, void **pending)
{
    hud_module *m = arg;
    struct hud_pending *p = malloc(sizeof *p + (size_t)ompi_comm_size(m->comm) * bytes);
    char *part = p != NULL ? (char *)(p + 1) : all; /* without memory, in the caller's */

    p = p != NULL ? p : &m->pending;
    *pending = p;
    *p = (struct hud_pending){
        .comm = m->comm, .all = all, .part = part, .bytes = bytes, .distance = 1
    };
    memmove(p->part, mine, bytes);
    if (begin_round(p))
        return 0;
    hud_module_give_up(m->comm);
    return 1;
}

/* Both messages of a round are complete. */
static bool end_round(struct hud_pending *p)
{
    for (int i = 0; i < 2; i++) {
        if (p->round[i] == NULL)
            continue;
        if (!REQUEST_COMPLETE(p->round[i]))
            return false;
        p->failed = p->failed || p->round[i]->req_status.MPI_ERROR != MPI_SUCCESS;
        ompi_request_free(&p->round[i]);
        p->round[i] = NULL;
    }
    return true;
}

static void reverse(char *from, char *end)
{
    while (from < end) {
        char last = *--end;
        *end = *from;
        *from++ = last;
    }
}

/* Part i goes to that of rank (me + i) % size. */
static void hand_over(const struct hud_pending *p)
{
    size_t size = (size_t)ompi_comm_size(p->comm), me = (size_t)ompi_comm_rank(p->comm),
           first = size - me;

    if (p->part == p->all) { /* turned by three reversals, which need no memory */
        reverse(p->all, p->all + size * p->bytes);
        reverse(p->all, p->all + me * p->bytes);
        reverse(p->all + me * p->bytes, p->all + size * p->bytes);
        return;
    }
    memcpy(p->all + me * p->bytes, p->part, first * p->bytes);
    memcpy(p->all, p->part + first * p->bytes, me * p->bytes);
}

int hud_exchange_test(void *arg, void **pending, int *done)
{
    struct hud_pending *p = *pending;
    int size = ompi_comm_size(p->comm);

    (void)arg;
    *done = 0;
    while (!p->failed && p->distance < size) {
        if (!end_round(p))
            return 0;
        p->distance *= 2;
        if (!p->failed && p->distance < size && !begin_round(p)) {
            hud_module_give_up(p->comm);
            p->failed = true;
        }
    }
    *done = 1;
    bool failed = p->failed;
    if (!failed)
        hand_over(p);
    if (p->part != p->all)
        free(p);
    *pending = NULL;
    return failed;
}
