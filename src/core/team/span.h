/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * span.h - a team whose ranks are on several nodes (HUDDLE_NODES).
 *
 * For the rest of the core such a team is refused (REASON_NODES): what does not come here is the
 * host's.  It has a span, with a team of this rank's node, whose slices hold what
 * src/alg/nodes needs, and the way to send messages (net.h).
 */
#ifndef HUD_SPAN_H
#define HUD_SPAN_H

#include "alg/nodes/nodes.h"
#include "core/team/setup.h"

/* Families of algorithms, each with a place in the slices. */
enum span_family { SPAN_NODES, SPAN_LANES, SPAN_PARCELS, SPAN_PAIRS, SPAN_FAMILIES };

struct span {
    struct hud_team node; /* of the ranks here: their memory, how they wait */
    struct hud_team *whole;
    struct net net;
    struct net_map map; /* its arrays, to be freed */
    int *arrays;
    uint64_t calls;              /* so far, the same on all ranks of the node */
    int ended;                   /* HUD_OK, or the status with which this rank's calls ended */
    size_t buffer_bytes;         /* of the ring of a broadcast */
    struct cost_network network; /* the same on all ranks */
    bool assumed;                /* it is hud_cost_network_usual */
    struct span_route {
        size_t bytes; /* of the last broadcast; 0: there was none */
        enum shape_kind tree;
        long degree, fragment_bytes;
        bool gains; /* it is not slower than the MPI's own */
    } route;
    struct alg_place place[SPAN_FAMILIES]; /* in each slice */
    struct plan_entry entry[NET_TAGS];     /* for observers of long waits: the slot is the tag */
};

/* Whether this rank may set a span up: the same on all ranks with the same settings. */
bool hud_span_wanted(const struct hud_team *team);

/*
 * What follows the first round of a team that is not on one node: the second one, in the memory of
 * the set-up.  REASON_NONE: team->span is there.  Alike on all ranks; *who as in
 * hud_hello_verdict.
 */
enum reason hud_span_setup(struct hud_team *team, struct strand *strand, const union hello *hello,
                           struct reply *reply, int *who);

/* ---- the network (span_network.c) ---- */

/*
 * After the second round, where span->network is to be set: as members know it, else as heads
 * measure it now.  own: the reply of this rank; reply: memory of all.  False, on all ranks alike:
 * messages failed.
 */
bool hud_span_learn(struct hud_team *team, struct strand *strand, const struct reply *own,
                    struct reply *reply);
bool hud_span_known(const struct reply *reply, int ranks, struct cost_network *network);
/* Minimum times of rounds, in ns: of a message there and back; of `count` of them, each sent back
 * as it arrives; of as many with `bytes` more each; of starting one. */
struct span_times {
    double one_ns, short_ns, long_ns, send_ns;
    int count;
    double bytes;
};
struct cost_network hud_span_solve(const struct span_times *t);

/* ---- how a call goes (span_choose.c) ---- */

/* Of a broadcast of at least a byte, by the settings and the network. */
const struct span_route *hud_span_route(struct span *span, size_t bytes);
/* Bytes of a piece of a large reduce, of all lanes together; whether that is not slower than the
 * MPI's own. */
size_t hud_span_piece(const struct span *span, size_t bytes);
bool hud_span_chain_gains(const struct span *span, size_t bytes, size_t piece_bytes);
/* HUDDLE_REDUCE_ORDER=fixed: no reduce or allreduce may be the MPI's own. */
bool hud_span_is_fixed(const struct span *span);
/* A reduction whose ranks are combined one after the other from rank 0 on. */
bool hud_span_in_order(const struct span *span, const struct coll *call);
/* Whether HUDDLE_NODES leaves such a call to huddle; alg: NULL if two serve it. */
bool hud_span_gains(struct span *span, enum coll_kind kind, const struct coll *call,
                    const struct alg *alg);

/* span_map.c: the map, by the first round, and this rank's number on its node.  False: no memory.
 */
bool hud_span_map(struct span *span, const union hello *hello);
size_t hud_span_buffer_bytes(const struct hud_context *c);
/* Where a family is in each slice: the same on all ranks. */
struct alg_place hud_span_place(const struct hud_context *c, enum span_family family);
struct alg_place hud_span_place_of(int family, size_t buffer_bytes);
size_t hud_span_slice_bytes(const struct hud_context *c);

/* Of a team that is freed. */
void hud_span_end(struct hud_team *team);

/*
 * This rank's calls end with that status, unless they have already.  Returns that of the end.  The
 * ranks of its node learn it by their shared memory, those of other nodes by messages; they leave a
 * call that waits.  Nobody knows how far others have come, so later calls cannot be the host's own:
 * they fail, too.
 */
int hud_span_give_up(struct hud_team *team, int status);

/* Of the calls on a team with a span, those that it takes; the same on all ranks. */
bool hud_span_takes(const struct hud_team *team, enum coll_kind kind, const struct coll *call);
/* Makes such a call, which is blocking, and counts it.  shape: as in carry_out. */
int hud_span_run(struct hud_team *team, enum coll_kind kind, const struct coll *call,
                 uint64_t shape);

#endif
