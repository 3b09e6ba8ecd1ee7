/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * span.h - a team whose ranks are on several nodes.
 *
 * The rest of the core refuses such a team (REASON_NODES), so calls that the span does not handle
 * fall back to the MPI.  The span has a team of this node's ranks, whose slices hold the state of
 * src/alg/nodes, and sends messages to other nodes (net.h).
 */
#ifndef HUD_SPAN_H
#define HUD_SPAN_H

#include "alg/nodes/nodes.h"
#include "core/team/hello.h"

/* Families of algorithms, each with a place in the slices. */
enum span_family { SPAN_NODES, SPAN_RINGS, SPAN_AGGREGATED, SPAN_PAIRWISE, SPAN_FAMILIES };

/* The choice for a call.  Its parameters are the first ones of the family: the tree, the degree and
 * the fragment of a broadcast, and the number of rings. */
enum { SPAN_MODEL = -2, SPAN_MPI = -1, SPAN_AUTO = -1, SPAN_PARAMS = 3 };
struct span_choice {
    int tag; /* tag of an algorithm (enum net_tag); SPAN_MPI: the MPI's own collective;
                                SPAN_MODEL: the first algorithm that accepts the call */
    long param[SPAN_PARAMS]; /* SPAN_AUTO: determined by the settings and the network */
};
extern const struct span_choice hud_span_by_model;

struct span_learn;

struct span {
    struct hud_team node; /* team of this node's ranks: its memory and its waits */
    struct hud_team *whole;
    struct net net;
    struct net_map map; /* its arrays, to be freed */
    int *arrays;
    uint64_t calls;              /* calls so far, the same number on all ranks of the node */
    int ended;                   /* HUD_OK, or the status with which this rank's calls ended */
    size_t buffer_bytes;         /* bytes of a broadcast's ring */
    struct cost_network network; /* the same on all ranks */
    bool assumed;                /* it is hud_cost_network_usual */
    bool oversubscribed;         /* ranks outnumber their processors on some node or kernel */
    struct span_route {
        size_t bytes; /* bytes of the last broadcast; 0: there was none */
        enum shape_kind tree;
        long degree, fragment_bytes;
        bool gains; /* it is not slower than the MPI's own */
        long given[SPAN_PARAMS];
    } route;
    struct alg_place place[SPAN_FAMILIES]; /* places in each slice */
    struct plan_entry entry[NET_TAGS]; /* entries for observers of long waits; `slot` is the tag */
    struct span_learn *learn;          /* span_learn.h; NULL: nothing is measured */
    enum reason passed; /* why the last call fell back to the MPI's own collective, if it was chosen
                           or tried; else REASON_NONE */
};

/* Returns whether this rank may set a span up: the same on all ranks with the same settings. */
bool hud_span_wanted(const struct hud_team *team);

/*
 * Sets up a span after the first round of a team on several nodes: carries out the second round, in
 * the memory of the set-up.  Returns the same reason on all ranks; with REASON_NONE
 * team->hooks.span is set.  *who: as in hud_hello_verdict.
 */
enum reason hud_span_setup(struct hud_team *team, struct fiber_task *task, const union hello *hello,
                           struct reply *reply, int *who);

/* ---- the network (span_network.c) ---- */

/* Sets span->network after the second round: as members know the network, else as heads measure
 * now.  own: the reply of this rank; reply: memory of all.  Returns false, on all ranks alike,
 * if messages failed. */
bool hud_span_measure(struct hud_team *team, struct fiber_task *task, const struct reply *own,
                      struct reply *reply);
bool hud_span_known(const struct reply *reply, int ranks, struct cost_network *network);
/* Minimum times of rounds, in ns.  one: a message there and back.  short: `count` messages, each
 * sent back as it arrives.  long: `count` messages with `bytes` more each.  send: the start of a
 * message. */
struct span_times {
    double one_ns, short_ns, long_ns, send_ns;
    int count;
    double bytes;
};
struct cost_network hud_span_solve(const struct span_times *t);

/* ---- how a call goes (span_choose.c) ---- */

/* Reports whether a collective sends a message of the root as a whole, down a tree of nodes that is
 * chosen for its size: its calls have a route. */
static inline bool span_has_route(enum coll_kind kind)
{
    return coll_has((int)kind, COLL_ONE_BUFFER);
}

/* Reports whether the nodes of the family `rings` are a chain that ends at the root. */
static inline bool span_has_chain(enum coll_kind kind)
{
    return coll_has((int)kind, COLL_TO_ROOT);
}

/* Returns the route of a message of at least one byte, by the parameters of a choice, the settings
 * and the network. */
const struct span_route *hud_span_route(struct span *span, size_t bytes, const long *given);
/* Returns the bytes of a piece of a large reduce, of all rings together. */
size_t hud_span_piece(const struct span *span, size_t bytes);
/* Returns whether HUDDLE_REDUCE_ORDER=fixed forbids the MPI's own reduce and allreduce. */
bool hud_span_is_fixed(const struct span *span);
/* Returns whether the ranks of a reduction are combined one after the other from rank 0 on. */
bool hud_span_in_order(const struct span *span, const struct coll *call);
/* Returns whether HUDDLE_NODES leaves such a call to huddle, as long as nothing has been measured.
 * alg is NULL if two algorithms serve the call. */
bool hud_span_gains(struct span *span, enum coll_kind kind, const struct coll *call,
                    const struct alg *alg);

/* ---- the algorithm of a call (span_algorithm.c) ---- */

struct span_run {
    enum net_tag tag;
    const struct alg *alg;
    const struct alg_place *place;
    long param[ALG_PARAMS];
};

/* Sets *run to a choice's algorithm.  Returns whether the algorithm accepts the call. */
bool hud_span_accepts(struct span *span, enum coll_kind kind, const struct coll *call,
                      const struct span_choice *choice, struct span_run *run);
/* Sets *run to a choice's algorithm, or to the first algorithm that accepts the call.  Returns
 * false if no algorithm accepts the call. */
bool hud_span_find(struct span *span, enum coll_kind kind, const struct coll *call,
                   const struct span_choice *choice, struct span_run *run);
/* Sets *run to an algorithm of the family `nodes`, for a call of huddle's own. */
void hud_span_find_own(struct span *span, enum net_tag tag, const struct coll *call,
                       struct span_run *run);

/* Makes the map from the first round, and finds this rank's number on its node (span_map.c).
 * Returns false if out of memory. */
bool hud_span_map(struct span *span, const union hello *hello);
size_t hud_span_buffer_bytes(const struct hud_context *c);
/* Returns where a family is in each slice: the same on all ranks. */
struct alg_place hud_span_place(const struct hud_context *c, enum span_family family);
struct alg_place hud_span_place_of(int family, size_t buffer_bytes);
size_t hud_span_slice_bytes(const struct hud_context *c);

/* Ends the span of a team that is freed. */
void hud_span_end(struct hud_team *team);

/* Ends this rank's calls with a status, unless they have ended already.  Returns the status of
 * the end.  The ranks of this node learn the end by shared memory, ranks of other nodes by
 * messages; all leave a call that waits.  Nobody knows how far others have come, so later calls
 * cannot be the host's own, and fail, too. */
int hud_span_give_up(struct hud_team *team, int status);

/* Makes a call, which is blocking, and counts it.  shape: as in carry_out; at: the call's cell
 * (plan_at).  Returns HUD_PASS, the same on all ranks, if the call falls back. */
int hud_span_call(struct hud_team *team, enum coll_kind kind, const struct coll *call,
                  uint64_t shape, int at);
/* Returns REASON_FASTER or REASON_TRIED if the call that has just fallen back did so because the
 * MPI's own collective is faster, or is tried, else REASON_NONE. */
enum reason hud_span_take_passed(struct span *span);
/* Ends this rank's calls with a status, in place of the call of the other ranks.  Returns HUD_PASS
 * if the call falls back. */
int hud_span_fail(struct hud_team *team, enum coll_kind kind, const struct coll *call, int at,
                  int status);
/* Makes a call of huddle's own by an algorithm of the family `nodes`.  Returns HUD_OK, or the
 * status with which this rank's calls have ended. */
int hud_span_call_own(struct hud_team *team, enum net_tag tag, const struct coll *call);

#endif
