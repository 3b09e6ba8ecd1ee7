/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * call.h - a call of huddle, made from MPI's arguments (reduce.c, exchange.c), with all data that
 * hud_args refers to.  A blocking call has this structure on the stack, a request in its own
 * memory.
 */
#ifndef HUD_PMPI_CALL_H
#define HUD_PMPI_CALL_H

#include "host/pmpi/pmpi.h"

/* The parts of a call that are open. */
enum opened {
    OPENED_FROM = 1, /* the two buffers */
    OPENED_TO = 2,
    OPENED_IN = 4, /* the buffers of each member */
    OPENED_OUT = 8,
    OPENED_OP = 16
};

struct call {
    struct hud_args args;
    struct comm *comm;
    unsigned opened;
    bool named;                    /* HUDDLE_CHECK uses the name in `about` */
    struct scratch_array *scratch; /* data for each member: the communicator's, or a request's */
    struct message *in, *out;      /* [size], in scratch */
    struct hud_announced about;    /* a call that is named, or was not opened */
    struct message from, to;
    struct local_op local;
};

/* Initialises a call before it is opened. */
static inline void call_begin(struct call *c, struct comm *comm, struct scratch_array *scratch)
{
    c->comm = comm;
    c->opened = 0;
    c->named = false;
    c->about.name = NULL;
    c->scratch = scratch;
}

/* Announces, for HUDDLE_CHECK, a call that huddle serves by another collective by its own name.
 * hud_team_exit must follow the call. */
void hud_call_announce(const struct call *c);
/* Returns the data to the user.  Returns the status of the call, which is an error if a copy of a
 * device has failed.  The operation and the scratch stay. */
int hud_call_settle(struct call *c, int status);

static inline __attribute__((always_inline)) int call_close(struct call *c, int status)
{
    unsigned closing = (c->opened & OPENED_FROM && c->from.closes ? OPENED_FROM : 0) |
                       (c->opened & OPENED_TO && c->to.closes ? OPENED_TO : 0) |
                       (c->opened & (OPENED_IN | OPENED_OUT));

    if (__builtin_expect(closing != 0, 0))
        status = hud_call_settle(c, status);
    if (c->opened & OPENED_OP)
        hud_op_close(&c->local);
    return status;
}

/*
 * Converts MPI's arguments to c->args (hud_open_<name>).  Returns HUD_OK, after which the call must
 * be closed; HUD_PASS if huddle does not handle the call, on all ranks, or the MPI has to report an
 * error; or HUD_ERR_MEMORY, see hud_message_open.  Only after HUD_OK something is open.
 */
int hud_open_barrier(struct call *c);
int hud_open_bcast(void *buffer, MPI_Count count, MPI_Datatype type, int root, struct call *c);
int hud_open_allreduce(const void *in, void *out, MPI_Count count, MPI_Datatype type, MPI_Op op,
                       struct call *c);
int hud_open_reduce(const void *in, void *out, MPI_Count count, MPI_Datatype type, MPI_Op op,
                    int root, struct call *c);
int hud_open_scan(const void *in, void *out, MPI_Count count, MPI_Datatype type, MPI_Op op,
                  struct call *c);
int hud_open_exscan(const void *in, void *out, MPI_Count count, MPI_Datatype type, MPI_Op op,
                    struct call *c);
int hud_open_reduce_scatter(const void *in, void *out, struct many counts, MPI_Datatype type,
                            MPI_Op op, struct call *c);
int hud_open_reduce_scatter_block(const void *in, void *out, MPI_Count count, MPI_Datatype type,
                                  MPI_Op op, struct call *c);
/* Opens an exchange of a block for each rank, or of the same block for all. */
int hud_open_blocks(int kind, unsigned flags, const void *in, MPI_Count ins, MPI_Datatype in_type,
                    void *out, MPI_Count outs, MPI_Datatype out_type, struct call *c);
#define HANDLED_BLOCKS(Name, name, ID, ...)                                                        \
    static inline int hud_open_##name(const void *in, MPI_Count ins, MPI_Datatype in_type,         \
                                      void *out, MPI_Count outs, MPI_Datatype out_type,            \
                                      struct call *c)                                              \
    {                                                                                              \
        return hud_open_blocks(COLL_##ID, COLL_FLAGS_##ID, in, ins, in_type, out, outs, out_type,  \
                               c);                                                                 \
    }
/* Opens a collective of a block for each rank, or from each, at the root alone. */
int hud_open_rooted(int kind, unsigned flags, const void *in, MPI_Count ins, MPI_Datatype in_type,
                    void *out, MPI_Count outs, MPI_Datatype out_type, int root, struct call *c);
#define HANDLED_ROOTED(Name, name, ID, ...)                                                        \
    static inline int hud_open_##name(const void *in, MPI_Count ins, MPI_Datatype in_type,         \
                                      void *out, MPI_Count outs, MPI_Datatype out_type, int root,  \
                                      struct call *c)                                              \
    {                                                                                              \
        return hud_open_rooted(COLL_##ID, COLL_FLAGS_##ID, in, ins, in_type, out, outs, out_type,  \
                               root, c);                                                           \
    }
#include "host/signatures.def"
int hud_open_allgatherv(const void *in, MPI_Count ins, MPI_Datatype in_type, void *out,
                        struct many out_counts, struct many out_places, MPI_Datatype out_type,
                        struct call *c);
int hud_open_gatherv(const void *in, MPI_Count ins, MPI_Datatype in_type, void *out,
                     struct many out_counts, struct many out_places, MPI_Datatype out_type,
                     int root, struct call *c);
int hud_open_scatterv(const void *in, struct many in_counts, struct many in_places,
                      MPI_Datatype in_type, void *out, MPI_Count outs, MPI_Datatype out_type,
                      int root, struct call *c);
int hud_open_alltoallv(const void *in, struct many in_counts, struct many in_places,
                       MPI_Datatype in_type, void *out, struct many out_counts,
                       struct many out_places, MPI_Datatype out_type, struct call *c);
int hud_open_alltoallw(const void *in, struct many in_counts, struct many in_places,
                       const MPI_Datatype in_types[], void *out, struct many out_counts,
                       struct many out_places, const MPI_Datatype out_types[], struct call *c);

#endif
