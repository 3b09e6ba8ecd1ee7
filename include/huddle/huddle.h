/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * huddle.h - collective operations through the shared memory of one node.  The only header to
 * include; it includes messages.h and request.h.
 *
 * A *context* belongs to one rank: its settings, its arena of shared memory, its mappings of the
 * other ranks' arenas, its statistics.  A *team* is an ordered set of ranks, like a communicator.
 * huddle uses no MPI.  While a team is set up, huddle reaches the members by callbacks of the host:
 * an MPI, or the program that started the processes or threads.
 *
 * Functions that can fail return an enum hud_status.  HUD_PASS means that the call was not handled,
 * nothing was touched, and every rank of the team got the same answer: the caller uses its own
 * collective.  No function aborts, prints more than a line, or leaves a named object behind.
 *
 * Threads: different contexts are independent.  Several threads may use one context if
 * hud_host.threads is set.  One thread at a time uses a team, as with a communicator.
 */
#ifndef HUDDLE_H
#define HUDDLE_H

#include <stddef.h>

#ifdef __cplusplus
extern "C" {
#endif

#define HUD_VERSION_MAJOR 0
#define HUD_VERSION_MINOR 1
#define HUD_VERSION_PATCH 0

#define HUD_API __attribute__((visibility("default")))

enum hud_status {
    HUD_OK = 0,
    HUD_PASS,         /* not handled, on all ranks of the team: use your own collective */
    HUD_ERR_TRUNCATE, /* the sender sent more bytes than this rank's view holds; the view is filled,
                         and the team remains usable (but see hud_alltoall) */
    HUD_ERR_ARGUMENT, /* a null pointer, a root outside 0..size-1, or an unknown topic; nothing was
                         touched */
    HUD_ERR_MEMORY,   /* no private memory is left; nothing was touched */
    HUD_ERR_UNLIKE,   /* members made different calls, and a line reports the difference; buffers
                         are undefined; later calls return this error until all members are in the
                         same call, and then HUD_PASS, or always this error if the team spans
                         nodes.  If only sizes differ, the status is HUD_ERR_TRUNCATE, and
                         the rest holds, too */
    HUD_ERR_FAILED    /* a member's process ended, or the host interrupted the call; buffers are
                         undefined; later calls as after HUD_ERR_UNLIKE */
};

typedef struct hud_context hud_context;
typedef struct hud_team hud_team;

/* ---- context --------------------------------------------------------------------------------- */

/* The host of a context.  All zero is valid: no MPI, one thread, no progress function. */
struct hud_host {
    const char *name; /* the MPI's name ("Open MPI 4.1.4"), or NULL: "no MPI" */
    int world_rank;   /* rank in the job */
    int world_size;   /* ranks of the job; 0 (unknown): each context prints its lines */
    int local_ranks;  /* ranks of the job on this node; 0 (unknown) means the team's size */
    int threads;      /* nonzero if several threads may call at once */
    void (*progress)(void *arg); /* called from time to time in every wait (MPI's progress rule); or
                                    NULL */
    void *arg;                   /* argument of the callbacks */
    int waits_alone;             /* nonzero if not all waits of the host call hud_progress; then
                                    HUDDLE_NONBLOCKING=auto means off */
    void (*abort)(void *arg);    /* ends the job (HUDDLE_ON_DEATH=abort); NULL means abort() */
    int fault_tolerant;          /* nonzero: a call during which a member's process ends fails with
                                    HUD_ERR_FAILED; 0: the call waits, as in most MPIs */
    const char *const *settings; /* "NAME=VALUE" strings that override the environment,
                                    NULL-terminated; or NULL */
    /* Returns a positive value if a rank of the job uses huddle on this node with the same
     * HUDDLE_CHECK as this rank, and a negative value if the rank uses huddle with another
     * HUDDLE_CHECK.  Called for members of teams (hud_exchange.world_rank), including this rank.
     * All members on a node must get the same answer about a rank, at any time.  If NULL, huddle
     * uses the environment of known launchers, if a front end of huddle has announced the process;
     * otherwise all members are assumed to use huddle. */
    int (*present)(void *arg, int world_rank);
    /* Returns the same as `present`, but for ranks of all nodes, and 0 for a rank with
     * HUDDLE_NODES=off and for rank -1, which is of another job.  All members must get the same
     * answer.  If both are NULL, ranks of other nodes are assumed to use huddle with
     * HUDDLE_NODES=on.  If `present_far` alone is NULL, no team spans nodes. */
    int (*present_far)(void *arg, int world_rank);
    int ends_own_calls; /* nonzero if hud_team_exit follows each collective of the host itself; then
                           huddle measures these collectives, too (HUDDLE_WISDOM), and returns
                           HUD_PASS for calls that the host carries out faster */
};

/* Creates a context.  Reads the settings (HUDDLE_* of the environment, then host->settings), and
 * allocates no shared memory yet.  Reports a bad setting in one line; the context is created
 * nevertheless, and its teams return HUD_PASS.  Returns HUD_OK, HUD_ERR_ARGUMENT (`context` is
 * NULL) or HUD_ERR_MEMORY (*context is NULL). */
HUD_API int hud_context_create(const struct hud_host *host, hud_context **context);

/* Destroys a context.  Prints the statistics if requested, and unmaps everything.  The teams of the
 * context must be freed first.  NULL is allowed. */
HUD_API void hud_context_destroy(hud_context *context);

/* ---- team ------------------------------------------------------------------------------------ */

/*
 * How the members of a team reach each other while it is set up.  allgather: every member
 * contributes `bytes` bytes; `all` receives size * bytes in rank order.  Returns 0, or nonzero on
 * failure, the same on every rank.  allgather is called twice, in the team's first collective,
 * without any lock of huddle held.  It is not called, and may be NULL, if start_allgather is set.
 */
struct hud_exchange {
    int (*rank)(void *arg);
    int (*size)(void *arg);
    int (*allgather)(void *arg, const void *mine, size_t bytes, void *all);
    int (*world_rank)(void *arg, int rank); /* a member's rank in the job, or -1 for another job;
                                               NULL: all members are known to use huddle */
    void *arg;
    void (*name)(void *arg, char *name, size_t bytes); /* name of the communicator for messages; ""
                                                          or NULL: none */
    int (*interrupted)(void *arg); /* called in long waits; returns nonzero if the call must fail (a
                                      revoked communicator); or NULL */
    /* Starts a nonblocking allgather, with the return values of allgather.  Both this and
     * test_allgather are set, or both are NULL; then requests on teams that are not set up return
     * HUD_PASS.  If the allgather fails, the memory of `all` stays with the team. */
    int (*start_allgather)(void *arg, const void *mine, size_t bytes, void *all, void **pending);
    int (*test_allgather)(void *arg, void **pending, int *done);
    void (*released)(void *arg);         /* called when arg is no longer used; or NULL */
    const struct hud_messages *messages; /* NULL: a team that spans nodes returns HUD_PASS */
};

/* Creates a team.  Local, without communication or shared memory.  Copies the exchange; its arg
 * must stay valid until the team is freed.  Returns HUD_OK, HUD_ERR_ARGUMENT (a NULL argument, or
 * no allgather) or HUD_ERR_MEMORY; after an error *team is NULL. */
HUD_API int hud_team_create(hud_context *context, const struct hud_exchange *exchange,
                            hud_team **team);

/* Declines the first collective of a team, because the caller has no memory for its own data about
 * the team.  This rank then makes the collective like the others, and all ranks fall back.  Local;
 * must be called before the collective. */
HUD_API void hud_team_decline(hud_team *team);

/* Fails instead of making a collective, because the caller has no memory for the collective that
 * the other members make.  Their calls on the team, and all later calls of this rank, fail or fall
 * back as after HUD_ERR_UNLIKE.  Returns an error, or HUD_PASS if no call of the team is
 * handled. */
HUD_API int hud_team_fail(hud_team *team);

/* Frees a team.  Local, never waits.  The memory returns to the arena when every member has freed
 * the team.  Requests in flight go on until they are complete (hud_exchange.released).  NULL is
 * allowed. */
HUD_API void hud_team_free(hud_team *team);

/* ---- operations of reductions ---------------------------------------------------------------- */

enum hud_operation {
    HUD_MAX,
    HUD_MIN,
    HUD_SUM,
    HUD_PROD,
    HUD_LAND,
    HUD_BAND,
    HUD_LOR,
    HUD_BOR,
    HUD_LXOR,
    HUD_BXOR,
    HUD_MINLOC,
    HUD_MAXLOC,
    HUD_OPERATIONS
};

/* Elements in their packed form, without gaps.  Pairs are a value and an index (or two values),
 * without padding and alignment. */
enum hud_type {
    HUD_INT8,
    HUD_INT16,
    HUD_INT32,
    HUD_INT64,
    HUD_UINT8,
    HUD_UINT16,
    HUD_UINT32,
    HUD_UINT64,
    HUD_FLOAT,
    HUD_DOUBLE,
    HUD_LONG_DOUBLE,
    HUD_FLOAT_COMPLEX,
    HUD_DOUBLE_COMPLEX,
    HUD_LONG_DOUBLE_COMPLEX,
    HUD_BOOL,
    HUD_BYTE, /* supports only bitwise operations */
    HUD_FLOAT_INT,
    HUD_DOUBLE_INT,
    HUD_LONG_DOUBLE_INT,
    HUD_SHORT_INT,
    HUD_INT_INT,
    HUD_LONG_INT,
    HUD_FLOAT_FLOAT,
    HUD_DOUBLE_DOUBLE,
    HUD_TYPES
};

/*
 * The operation of a reduction; the same on all members.  combine computes dst[i] = src[0][i] op
 * src[1][i] op ... op src[sources - 1][i] for all elements i, from left to right; with one source,
 * combine copies.  dst may be one of the sources, and otherwise overlaps none.  Elements are in a
 * user's buffer, or at a multiple of element_bytes from an address that is aligned to 128 bytes.
 */
struct hud_op {
    size_t element_bytes;
    int commutative;
    int exact; /* nonzero if the order in which ranks are combined changes no bit of the result */
    void (*combine)(const struct hud_op *op, void *dst, const void *const *src, int sources,
                    size_t elements);
    void *host;       /* argument of combine */
    const char *name; /* name in messages */
};

/* Finds a predefined operation on a type.  Returns HUD_OK, or HUD_PASS if the type does not support
 * the operation (a maximum of complex numbers).  If op is NULL, only checks.  Types are
 * distinguished only by their values.  MPI allows no logical operation on Fortran's integers or on
 * MPI_AINT; the caller checks these cases. */
HUD_API int hud_op_find(enum hud_operation operation, enum hud_type type, struct hud_op *op);

/* ---- collectives ----------------------------------------------------------------------------- */

/*
 * A user's buffer.  If pack is NULL, the buffer is contiguous.  Otherwise pack and unpack move
 * bytes of the *packed* form, which is the same on all ranks.
 * pack:   copies packed bytes [offset, offset + max_bytes) into dst; may copy fewer (whole
 *         elements); returns the number of bytes, at least 1.
 * unpack: the reverse, for any range of bytes.
 */
struct hud_view {
    void *base;
    size_t bytes; /* size of the type signature; the same on every rank */
    size_t (*pack)(const struct hud_view *view, void *dst, size_t offset_bytes, size_t max_bytes);
    void (*unpack)(const struct hud_view *view, const void *src, size_t offset_bytes, size_t bytes);
    void *host; /* argument of pack and unpack */
};

/* Waits until every member has entered.  Returns HUD_OK, HUD_PASS or HUD_ERR_ARGUMENT; like every
 * collective here, also HUD_ERR_UNLIKE or HUD_ERR_FAILED. */
HUD_API int hud_barrier(hud_team *team);

/* Copies the root's bytes to every member's view.  Returns HUD_OK, HUD_PASS, HUD_ERR_TRUNCATE or
 * HUD_ERR_ARGUMENT.  With zero bytes, returns at once: HUD_OK, or HUD_PASS if a member
 * runs without huddle. */
HUD_API int hud_bcast(hud_team *team, const struct hud_view *view, int root);

/*
 * Reductions: out = in of rank 0 op in of rank 1 op ..., element by element.  If `op` is
 * commutative, huddle may combine the ranks in another order, the same for all members, unless
 * HUDDLE_REDUCE_ORDER=fixed.  in->base == out->base means in place.  in->bytes is the same on every
 * member and a multiple of op->element_bytes.  Return HUD_OK, HUD_PASS (also for elements of more
 * than HUD_ELEMENT_MAX bytes) or HUD_ERR_ARGUMENT.  With zero bytes, return at once, as hud_bcast.
 */
#define HUD_ELEMENT_MAX 4096
HUD_API int hud_allreduce(hud_team *team, const struct hud_view *in, const struct hud_view *out,
                          const struct hud_op *op);
/* Reduces to the root; `out` is used only there, and may be NULL elsewhere. */
HUD_API int hud_reduce(hud_team *team, const struct hud_view *in, const struct hud_view *out,
                       const struct hud_op *op, int root);
/* Reduces, and gives block r of the result to member r.  The sizes block_bytes[size] are the same
 * on every member and add up to in->bytes; out->bytes is the size of this member's block. */
HUD_API int hud_reduce_scatter(hud_team *team, const struct hud_view *in,
                               const struct hud_view *out, const size_t *block_bytes,
                               const struct hud_op *op);

/*
 * Sends block i of `in` to member i, where it becomes the block of the sender.  in->bytes equals
 * out->bytes, the bytes of `size` equal blocks.  in->base == out->base means in place.  Returns
 * HUD_OK, HUD_PASS or HUD_ERR_ARGUMENT; with zero bytes, at once.  A member whose in->bytes
 * and out->bytes differ reports the difference in a line; then the call fails with HUD_ERR_TRUNCATE
 * on every member, and later calls on the team return HUD_PASS.
 */
HUD_API int hud_alltoall(hud_team *team, const struct hud_view *in, const struct hud_view *out);
/* Exchanges blocks with a view for, and from, each member: in[size], out[size]. in[i].bytes equals
 * the bytes of member i's `out` for the caller.  in == out means in place.  Returns HUD_OK,
 * HUD_PASS, HUD_ERR_TRUNCATE (a member sent more) or HUD_ERR_ARGUMENT.  Bytes sent to a view of
 * zero bytes are dropped, perhaps without an error: pairs that exchange nothing do not wait for
 * each other. */
HUD_API int hud_alltoallv(hud_team *team, const struct hud_view *in, const struct hud_view *out);

/* Returns the number of a collective, by its name ("bcast"), for hud_call, or -1 if the name is
 * unknown.  The number is the same for the life of the process.  src/coll/coll.def lists the
 * collectives; arguments that a collective does not need are ignored. */
HUD_API int hud_collective(const char *name);

/* Arguments of hud_call, as in the functions above.  A broadcast uses `out` for its only buffer. */
struct hud_args {
    int collective;
    int root;
    const struct hud_view *in, *out; /* one view, or [size], for and from each member */
    const size_t *block_bytes;       /* [size], the blocks of the result, one per member */
    const struct hud_op *op;
};

/*
 * Makes a call; the functions above are shorter forms.  Collectives without a function:
 *
 * allgather   `in` of every member becomes part of every `out`, in the order of members.  If
 *             in->base == out->base, the part is already there.  Errors as for hud_alltoall.
 * gather      like allgather, to the root alone; scatter: the root's `in` has a block per `out`
 * ..v         with blocks of any sizes: the buffer with all blocks is an array of views
 * scan        like hud_allreduce, of members 0 to r on member r (exscan: only up to r - 1) */
HUD_API int hud_call(hud_team *team, const struct hud_args *args);

/* ---- checking (HUDDLE_CHECK) ----------------------------------------------------------------- */

/* Returns nonzero if HUDDLE_CHECK is on, even if another setting is bad or huddle is switched off.
 * The host then announces the collectives that huddle does not handle.  The result is the same for
 * the context's life, and must be the same on all members of a team whose exchange has no
 * world_rank. */
HUD_API int hud_context_checks(const hud_context *context);

#define HUD_ANY_BYTES ((size_t)-1)

/* The call that a member is about to make.  All fields must be the same on every member. */
struct hud_announced {
    const char *name;    /* the collective in lower case: "allreduce" */
    int root;            /* -1 if there is none */
    size_t bytes;        /* size of the type signature; 0: not checked; HUD_ANY_BYTES: may differ */
    const char *detail;  /* also compared: the name of the reduction's operation; or NULL */
    const char *unasked; /* a call that the host does not pass to huddle: the collective above that
                            the call would be; NULL means `name` */
};

/* Announces that this member enters a collective of the host.  Waits until all members have entered
 * a collective of this team, and reports differences.  Does not wait without HUDDLE_CHECK or with
 * zero bytes.  The collectives above announce themselves.  If the host does not pass them a call
 * because of its operation or datatype, call->unasked names the collective, and the statistics
 * count the call.  Returns HUD_OK, HUD_ERR_ARGUMENT, or HUD_ERR_FAILED if a member cannot enter any
 * more; then the caller's collective would not end either. */
HUD_API int hud_team_enter(hud_team *team, const struct hud_announced *call);

/* Announces that the caller's own collective has returned: after hud_team_enter, and after HUD_PASS
 * from a collective. */
HUD_API void hud_team_exit(hud_team *team);

/* ---- information ----------------------------------------------------------------------------- */

HUD_API const char *hud_version(void);
/* Returns a text for an enum hud_status, without a newline. */
HUD_API const char *hud_error_string(int status);

#ifdef __cplusplus
}
#endif
#include "huddle/messages.h"
#include "huddle/request.h"
#endif
