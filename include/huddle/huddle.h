/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * huddle.h - collective operations through the shared memory of one node.  The only header to
 * include; it includes messages.h and request.h.
 *
 * A *context* belongs to one rank: its settings, its arena of shared memory, its mappings of the
 * other ranks' arenas, its statistics.  A *team* is an ordered set of ranks, like a communicator.
 * huddle uses no MPI.  While a team is set up, it reaches its members by callbacks of its host: an
 * MPI, or the program that started the processes or threads.
 *
 * Every call returns an enum hud_status.  HUD_PASS means that the call was not handled, nothing was
 * touched, and every rank of the team got the same answer: the caller uses its own collective.  No
 * function aborts, prints more than a line, or leaves a named object behind.
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
    HUD_PASS,         /* not handled; the same on every rank of the team: use your own collective */
    HUD_ERR_TRUNCATE, /* the sender sent more bytes than this rank's view holds; the view is filled,
                         the team remains usable (but see hud_alltoall) */
    HUD_ERR_ARGUMENT, /* a null pointer, a root outside 0..size-1, an unknown topic; nothing was
                         touched */
    HUD_ERR_MEMORY,   /* out of private memory; nothing was touched */
    HUD_ERR_UNLIKE,   /* members make different calls, and a line reports it; buffers are undefined;
                         later calls on the team: HUD_PASS, or if it spans nodes the same error */
    HUD_ERR_FAILED    /* a member's process has ended, or the host has interrupted the call; buffers
                         are undefined; later calls: as above */
};

typedef struct hud_context hud_context;
typedef struct hud_team hud_team;

/* ---- context --------------------------------------------------------------------------------- */

/* The host of a context.  All zero is valid: no MPI, one thread, no progress function. */
struct hud_host {
    const char *name;           /* of the MPI, for messages ("Open MPI 4.1.4"); NULL: "no MPI" */
    int world_rank, world_size; /* in the job; size 0: unknown, each context prints its own lines */
    int local_ranks; /* ranks of the job on this node; 0: unknown, the team's size is used */
    int threads;     /* nonzero: several threads may call at once */
    void (*progress)(void *arg); /* called now and then inside every wait (MPI's rule); or NULL */
    void *arg;                   /* for the callbacks */
    int waits_alone;             /* nonzero: not all waits of the host call hud_progress, and
                        HUDDLE_NONBLOCKING=auto is off */
    void (*abort)(void *arg);    /* ends the job (HUDDLE_ON_DEATH=abort); NULL: abort() */
    int fault_tolerant;          /* nonzero: a call during which a member's process ends fails with
                                    HUD_ERR_FAILED; 0: it waits, as most MPIs do */
    const char *const *settings; /* "NAME=VALUE" strings, NULL-terminated, that override the
                                    environment; NULL: none */
    /* Above 0: that rank of the job uses huddle on this node (with HUDDLE_NODES on any, where the
     * host knows), with the same HUDDLE_CHECK as this rank; below 0: with another one.  Called for
     * members of teams (hud_exchange.world_rank), this rank included.  All members must get the
     * same answer about a rank, at any time.  NULL: huddle uses the environment of known launchers,
     * if one of its front ends has announced the process; otherwise all members are assumed to use
     * huddle. */
    int (*present)(void *arg, int world_rank);
    /* The same of ranks of all nodes (-1: of none), where `present` is NULL.  NULL: with
     * HUDDLE_NODES ranks of other nodes are assumed to use huddle. */
    int (*present_far)(void *arg, int world_rank);
};

/* Reads the settings (HUDDLE_* of the environment, then host->settings).  Allocates no shared
 * memory yet.  A bad setting is reported in one line; the context is created nevertheless, and its
 * teams return HUD_PASS.  HUD_ERR_MEMORY: *context is NULL. */
HUD_API int hud_context_create(const struct hud_host *host, hud_context **context);

/* Prints the statistics if requested, and unmaps everything.  Teams of the context must be freed
 * first.  NULL is allowed. */
HUD_API void hud_context_destroy(hud_context *context);

/* ---- team ------------------------------------------------------------------------------------ */

/*
 * How the members of a team reach each other while it is set up.  allgather: every member
 * contributes `bytes` bytes, `all` receives size * bytes in rank order; returns 0, or nonzero on
 * failure, on every rank alike.  It is called twice, in the team's first collective, without any
 * lock of huddle.  It is not called, and may be NULL, where there is start_allgather.
 */
struct hud_exchange {
    int (*rank)(void *arg);
    int (*size)(void *arg);
    int (*allgather)(void *arg, const void *mine, size_t bytes, void *all);
    int (*world_rank)(void *arg, int rank); /* a member's rank in the job; -1: of another job;
                                               NULL: all members are known to use huddle */
    void *arg;
    void (*name)(void *arg, char *name, size_t bytes); /* name of the communicator, for messages;
                                                          "" or NULL: none */
    int (*interrupted)(void *arg); /* called in long waits; nonzero: the call fails (a revoked
                                      communicator); NULL: never */
    /* An allgather that does not wait; return as above.  Both or neither are there; `allgather` may
     * be NULL where they are.  Requests need them.  Where one fails, `all` stays with the team. */
    int (*start_allgather)(void *arg, const void *mine, size_t bytes, void *all, void **pending);
    int (*test_allgather)(void *arg, void **pending, int *done);
    void (*released)(void *arg);         /* arg is used no more; may be NULL */
    const struct hud_messages *messages; /* NULL: a team that spans nodes is HUD_PASS */
};

/* Local and cheap: no communication, no shared memory.  The exchange is copied; its arg must stay
 * valid until the team is freed. */
HUD_API int hud_team_create(hud_context *context, const struct hud_exchange *exchange,
                            hud_team **team);

/*
 * To be called if the caller has no memory for its own data about the team.  The team's first
 * collective, which this rank makes like the others, then falls back on all ranks alike.  Local;
 * call it before that collective.
 */
HUD_API void hud_team_decline(hud_team *team);

/*
 * To be called instead of a collective if the caller has no memory for it, while the other members
 * make that collective.  Their calls on the team, and all later calls of this rank, fail or fall
 * back as after HUD_ERR_UNLIKE.  Returns an error; HUD_PASS: no call of the team is handled.
 */
HUD_API int hud_team_fail(hud_team *team);

/* Local, never waits; memory returns to the arena when every member has freed the team, whose
 * requests in flight go on until they are over (hud_exchange.released).  NULL is allowed. */
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

/* Elements in their packed form, without gaps.  Pairs are a value and an index (or two values)
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
    HUD_BYTE, /* has bitwise operations only */
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
 * The operation of a reduction; the same on all members.  combine: dst[i] = src[0][i] op src[1][i]
 * op ... op src[sources - 1][i] for all elements i, from left to right; with one source a copy. dst
 * may be one of the sources, and otherwise overlaps none.  Elements are in a user's buffer, or at a
 * multiple of element_bytes from an address that is aligned to 128 bytes.
 */
struct hud_op {
    size_t element_bytes;
    int commutative;
    void (*combine)(const struct hud_op *op, void *dst, const void *const *src, int sources,
                    size_t elements);
    void *host;       /* for combine */
    const char *name; /* for messages */
};

/*
 * A predefined operation on a type.  HUD_OK, or HUD_PASS if it is not defined (a maximum of complex
 * numbers).  op NULL: only checks.  Types are distinguished only by their values.  MPI allows no
 * logical operation on Fortran's integers or on MPI_AINT; the caller checks that.
 */
HUD_API int hud_op_find(enum hud_operation operation, enum hud_type type, struct hud_op *op);

/* ---- collectives ----------------------------------------------------------------------------- */

/*
 * A user's buffer.  It is contiguous if pack is NULL.  Otherwise pack and unpack move bytes of the
 * *packed* form, which is the same on all ranks.
 * pack:   copies packed bytes [offset, offset + max_bytes) into dst; may copy fewer (whole
 *         elements); returns the number of bytes, at least 1.
 * unpack: the reverse, for any range of bytes.
 */
struct hud_view {
    void *base;
    size_t bytes; /* of the type signature: the same on every rank */
    size_t (*pack)(const struct hud_view *view, void *dst, size_t offset_bytes, size_t max_bytes);
    void (*unpack)(const struct hud_view *view, const void *src, size_t offset_bytes, size_t bytes);
    void *host; /* for pack and unpack */
};

/* No member returns before every member has entered.  HUD_OK, HUD_PASS. */
HUD_API int hud_barrier(hud_team *team);

/* The root's bytes reach every member's view.  HUD_OK, HUD_PASS, HUD_ERR_TRUNCATE,
 * HUD_ERR_ARGUMENT.  Zero bytes: HUD_OK at once. */
HUD_API int hud_bcast(hud_team *team, const struct hud_view *view, int root);

/*
 * Reductions: out = in of rank 0 op in of rank 1 op ..., element by element.  If `op` is
 * commutative huddle may combine the ranks in another order, the same for the result on all
 * members, unless HUDDLE_REDUCE_ORDER=fixed.  in->base == out->base: in place.  in->bytes is the
 * same on every member and a multiple of op->element_bytes.  Elements of more than HUD_ELEMENT_MAX
 * bytes: HUD_PASS.  HUD_OK, HUD_PASS, HUD_ERR_ARGUMENT.  Zero bytes: HUD_OK at once.
 */
#define HUD_ELEMENT_MAX 4096
HUD_API int hud_allreduce(hud_team *team, const struct hud_view *in, const struct hud_view *out,
                          const struct hud_op *op);
/* out: used only on the root; may be NULL elsewhere. */
HUD_API int hud_reduce(hud_team *team, const struct hud_view *in, const struct hud_view *out,
                       const struct hud_op *op, int root);
/* Member r gets block r of the result: block_bytes[size], the same on every member, add up to
 * in->bytes; out->bytes is that of its own block. */
HUD_API int hud_reduce_scatter(hud_team *team, const struct hud_view *in,
                               const struct hud_view *out, const size_t *block_bytes,
                               const struct hud_op *op);

/*
 * Block i of `in` goes to member i, where it becomes the block of its sender.  in->bytes ==
 * out->bytes, `size` equal blocks.  in->base == out->base: in place.  HUD_OK, HUD_PASS,
 * HUD_ERR_ARGUMENT.  Zero bytes: HUD_OK at once.  A member whose in->bytes and out->bytes
 * differ reports it in a line; the call fails with HUD_ERR_TRUNCATE on every member, and later
 * calls on the team are HUD_PASS.
 */
HUD_API int hud_alltoall(hud_team *team, const struct hud_view *in, const struct hud_view *out);
/* The same with a view for, and from, each member: in[size], out[size].  in[i].bytes equals the
 * bytes of member i's out for the caller.  in == out: in place.  HUD_OK, HUD_PASS, HUD_ERR_TRUNCATE
 * (a member sent more), HUD_ERR_ARGUMENT.  Bytes sent to a view of zero bytes are dropped, and its
 * member may not get an error: pairs that exchange nothing do not wait for each other. */
HUD_API int hud_alltoallv(hud_team *team, const struct hud_view *in, const struct hud_view *out);

/*
 * The number of a collective, by its name ("bcast"), for hud_call.  It is the same for the life of
 * the process; -1: no such collective.  "collectives" of hud_info_json lists them, and the
 * arguments that each needs; others are ignored.
 */
HUD_API int hud_collective(const char *name);

/* Arguments of hud_call, as in the functions above.  A broadcast, with a single buffer, uses `out`.
 */
struct hud_args {
    int collective;
    int root;
    const struct hud_view *in, *out; /* one; or [size], for and from each member */
    const size_t *block_bytes;       /* [size], blocks of a result, one per member */
    const struct hud_op *op;
};

/*
 * Makes the call; the functions above are shorter forms of it.  Collectives without a function:
 *
 * allgather   `in` of every member becomes part of every `out`, in the order of members.  in->base
 *             == out->base: in place, the part is there already.  Errors as of hud_alltoall.
 * gather      the same to the root alone; scatter: the root's `in` has a block for each `out`
 * ..v         with blocks of any sizes: what has all of them is an array of views
 * scan        as hud_allreduce, of the members up to each; exscan: before each, so not at 0 */
HUD_API int hud_call(hud_team *team, const struct hud_args *args);

/* ---- checking (HUDDLE_CHECK) ----------------------------------------------------------------- */

/*
 * Nonzero: HUDDLE_CHECK is on, even if another setting is bad or huddle is switched off: the host
 * announces the collectives that huddle does not handle.  It is the same for the context's life,
 * and must be the same on all members of a team whose exchange has no world_rank.
 */
HUD_API int hud_context_checks(const hud_context *context);

#define HUD_ANY_BYTES ((size_t)-1)

/* The call that a member is about to make.  All of it must be the same on every member. */
struct hud_announced {
    const char *name; /* of the collective, in lower case: "allreduce" */
    int root;         /* -1: it has none */
    size_t bytes; /* of the type signature; 0: no data, so not checked; HUD_ANY_BYTES: members may
                     differ */
    const char *detail;  /* further data to agree on: the name of the reduction's operation; NULL:
                            nothing */
    const char *unasked; /* for a call that the host does not pass to huddle: the collective above
                            that it would be; NULL: `name` */
};

/*
 * Announces that this member enters a collective that huddle does not handle.  Waits until all
 * members have entered a collective of this team, and reports differences.  Without HUDDLE_CHECK,
 * and for zero bytes, it does not wait.  The collectives above do this themselves.  If the host
 * does not pass a call to them because of its operation or datatype, it gives their name here, and
 * the statistics count the call.  HUD_OK, HUD_ERR_ARGUMENT; HUD_ERR_FAILED: a member cannot enter
 * any more, and the caller's own collective would not end either.
 */
HUD_API int hud_team_enter(hud_team *team, const struct hud_announced *call);

/* Announces that the caller's own collective has returned: after hud_team_enter, and after a
 * collective that returned HUD_PASS. */
HUD_API void hud_team_exit(hud_team *team);

/* ---- information ----------------------------------------------------------------------------- */

HUD_API const char *hud_version(void);
HUD_API const char *hud_error_string(int status);

/*
 * JSON of a topic into *json, to be released with free().
 *   "settings"    every setting: name, value, default, unit, doc, MCA name
 *   "collectives" every collective: name, name in MPI, another one of MPI that it serves (or null),
 *                 doc; rooted; reduces; sized (its bytes choose the algorithm); moves (it has
 *                 data); blocks (bytes are of a block per member, not of a message); same_to_all;
 *                 counts and views (block_bytes; a view per member); limits (of its time are known)
 *   "statistics"  what the library counts: reasons why calls fall back
 *   "algorithms"  every algorithm: collective, name, doc, source, whether it exists only for
 *                 comparison, whether it is direct (needs ranks that can access each other's
 *                 memory), parameters (with values to try)
 *   "machine"     topology as huddle sees it: processor's name, active levels, units, NUMA nodes,
 *                 allowed processors
 */
HUD_API int hud_info_json(const char *topic, char **json);

/* Why a library that huddle loads at its first use (hwloc, jansson) cannot be, in the words of the
 * loader; NULL: none has been missing so far. */
HUD_API const char *hud_missing_library(void);

/* What is known of a machine that is not this one; each is nonzero or 0. */
struct hud_described {
    int intel, direct, quick; /* as hud_explain_json's "facts" */
};

/* A question: which algorithm would run, for a hypothetical team. */
struct hud_question {
    const char *collective; /* "bcast" */
    size_t bytes;           /* of the message; ignored for a barrier */
    int ranks;              /* >= 1, all on one node */
    const char *map; /* how they are bound: "core", one after the other; "numa", "socket": to the
                        nodes, the sockets in turn; "none" */
    const char *topology; /* a machine as hwloc describes it, "pack:2 numa:2 core:32 pu:1" or the
                             path of an XML dump; NULL: this one */
    const struct hud_described *described; /* NULL: this machine, whose tuning file then counts */
};

/* JSON of the answer, with this process's settings: "serves" (algorithm and parameters; null: falls
 * back to the MPI), "why" (the setting, or the line of a file, that decided), "facts" (those that
 * rules may ask for: oversubscribed, processors, within, groups; intel: Intel's processors; direct:
 * processes of one user can access each other's memory, here a guess; quick: and the kernel copies
 * quickly), "rules" (every rule of the collective, in order, each with its verdict), "pieces" (all
 * sizes), "ordered" (all sizes of operations that do not commute; null: no difference), "lease"
 * (bytes, slots), "tuning" (the tuning file in force; "": none, as of a described machine unless
 * HUDDLE_TUNING names one).  HUD_ERR_ARGUMENT: bad question; *json is NULL. */
HUD_API int hud_explain_json(const struct hud_question *question, char **json);

/* JSON of all choices of a collective, for teams of question->ranks to max_ranks ranks and messages
 * of any size (question->bytes does not matter): "processors", "direct", "quick", and "bands":
 * ranges of ranks, each with "min_ranks", "max_ranks", "oversubscribed", and "pieces" and "ordered"
 * as hud_explain_json has them.  Neighbours that choose the same are one band.  The same errors. */
HUD_API int hud_choices_json(const struct hud_question *question, int max_ranks, char **json);

/* JSON of a team after its first collective: members, facts for rules (oversubscribed, divided,
 * within), direct (the ranks can access each other's memory), quick (the kernel copies quickly),
 * single_copy (how), levels, groups, lease (bytes, offset), the algorithm for each size and why,
 * "trials" of second algorithms (HUDDLE_ADAPT), and for this rank's slice the NUMA node of every
 * page, the rank's node, and the number of pages on other nodes; for its arena the kind of the
 * pages and the bytes of huge ones.  For a team without a lease, the reason. */
HUD_API int hud_team_json(hud_team *team, char **json);

#ifdef __cplusplus
}
#endif
#include "huddle/messages.h"
#include "huddle/request.h"
#endif
