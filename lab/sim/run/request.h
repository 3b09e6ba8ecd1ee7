/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * request.h - a request of `huddle lab simulate`:
 *
 * {"machine": {...},                                   see lab/sim/machine.h
 *  "collective": "bcast", "algorithm": "slots",        without a collective the machine is only
 *                                                      described
 *  "parameters": {"fragment": 8192, "tree": "chain"},  by name; others have their presets
 *  "slot_bytes": 1048576,                              maximum of a rank's slot
 *  "bytes": 65536,                                     of the message, or of a block
 *  "ranks": 128, "map": "numa", "levels_off": "l2",    bound to cores in turn over the units of a
 *                                                      level; groups ignore levels_off
 *  "placement": "on",                                  off: all shared memory is on rank 0's node,
 *                                                      not each rank's on its own node
 *  "root": 0, "root_shift": false,                     true: each broadcast of a loop has the next
 *                                                      rank as its root, which sends from a buffer
 *                                                      of its own
 *  "method": "single", "repetitions": 5, "warmup": 1, "skew_ns": 0, "seed": 1,
 *  "drop": {"file": "queue/bcast.c", "line": 83},      the post or await there orders nothing, to
 *                                                      test the checker
 *  "shared": false,                                    true, also in "alternate": both algorithms
 *                                                      share the team's window
 *  "alternate": {"collective": "allreduce", "algorithm": "slices", "parameters": {...},
 *                "slot_bytes": 1048576, "bytes": 65536, "shared": true},
 *                                                      such a call before each measured call
 *  "nodes": 1,                                         number of these machines, with equal numbers
 *                                                      of ranks; with several nodes, "algorithm" is
 *                                                      of src/alg/nodes or src/alg/rings, or the
 *                                                      algorithm that serves the call by default
 *  "trace": false}                                     record the steps of each rank in the last
 *                                                      single call, and the critical path
 */
#ifndef HUD_SIM_REQUEST_H
#define HUD_SIM_REQUEST_H

#include "alg/alg.h"
#include "lab/sim/machine.h"

enum method {
    /* Each call from a common start with fresh data.  The time is the median over the calls, until
     * the slowest rank leaves. */
    METHOD_SINGLE,
    /* One call after the other.  The time is the mean of a call on the slowest rank. */
    METHOD_LOOP
};

enum placement { PLACEMENT_ON, PLACEMENT_OFF };

extern const char *const request_methods[];    /* "single", "loop"; NULL ends it */
extern const char *const request_placements[]; /* "on", "off"; NULL ends it */

struct request {
    struct sim_machine *machine;
    int kind;              /* the collective's kind */
    const struct alg *alg; /* NULL if the machine is only described */
    long param[ALG_PARAMS];
    size_t slot_bytes, bytes;
    int nodes;
    int ranks, root, method, repetitions, warmup; /* ranks of all nodes */
    const char *map, *levels_off;                 /* owned by the JSON object */
    int placement;
    double skew_ns; /* ranks enter up to this much later, at random */
    uint64_t seed;
    bool root_shift;
    bool shared;           /* whether it uses the team's window */
    struct request *other; /* call before each of these calls, or NULL */
    const char *drop_file; /* owned by the JSON object; NULL if nothing is dropped */
    int drop_line;
    bool trace;
};

/* Reads a request.  Returns false with a line in *error.  The JSON object must outlive the
 * request. */
bool request_read(const json_t *json, struct request *request, char *error, size_t error_bytes);
void request_free(struct request *request);

/* Returns the algorithm for a call on several nodes, or NULL.  request_preset() sets the parameters
 * that depend on the network, over their presets (nodes.c). */
const struct alg *request_between_nodes(const struct request *q, const char *coll);
void request_preset(const struct request *q, long *param);

/* Returns the number of ranks of a node. */
static inline int request_ranks_here(const struct request *q)
{
    return q->ranks / q->nodes;
}

#endif
