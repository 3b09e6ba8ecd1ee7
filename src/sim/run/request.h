/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * request.h - a request of `huddle simulate`:
 *
 * {"machine": {...},                                   as in machines/NAME.toml, see sim/machine.h
 *  "collective": "bcast", "algorithm": "slots",        without a collective the machine is only
 *                                                      described
 *  "parameters": {"fragment": 8192, "tree": "chain"},  by name; others have their presets
 *  "slot_bytes": 1048576,                              maximum of a rank's slot
 *  "bytes": 65536,                                     of the message, or of a block
 *  "ranks": 128, "map": "numa", "levels_off": "l2",    bound to cores in turn over the units of a
 *                                                      level; groups ignore those levels
 *  "placement": "on",                                  off: all shared memory is on rank 0's node,
 *                                                      not each rank's on its own node
 *  "root": 0, "root_shift": false,                     true: each broadcast of a loop has the next
 *                                                      rank as its root, which sends from a buffer
 *                                                      of its own
 *  "method": "single", "repetitions": 5, "warmup": 1, "skew_ns": 0, "seed": 1,
 *  "drop": {"file": "bcast/banks.c", "line": 83},      the post or await there orders nothing, to
 *                                                      test the checker
 *  "shared": false,                                    its window is the team's, as is the other's:
 *  "alternate": {"collective": "allreduce", "algorithm": "slices", "parameters": {...},
 *                "slot_bytes": 1048576, "bytes": 65536, "shared": true},
 *                                                      before each call, one of these, which does
 *                                                      not count
 *  "nodes": 1,                                         so many of these machines, with as many
 *                                                      ranks each; with several, "algorithm" is one
 *                                                      of src/alg/nodes or src/alg/lanes, or that
 *                                                      which serves
 *  "trace": false}                                     record what each rank does in the last
 *                                                      single call, and the critical path
 */
#ifndef HUD_SIM_REQUEST_H
#define HUD_SIM_REQUEST_H

#include "alg/alg.h"
#include "sim/machine.h"

enum method {
    METHOD_SINGLE, /* from a common start, each time with fresh data: when the slowest leaves, the
                      median */
    METHOD_LOOP    /* one call after the other: what one of them takes the slowest rank, the mean */
};

enum placement { PLACEMENT_ON, PLACEMENT_OFF };

extern const char *const request_methods[];    /* "single", "loop"; ended by NULL */
extern const char *const request_placements[]; /* "on", "off"; ended by NULL */

struct request {
    struct sim_machine *machine;
    int kind;              /* of the collective */
    const struct alg *alg; /* NULL: the machine is only described */
    long param[ALG_PARAMS];
    size_t slot_bytes, bytes;
    int nodes;
    int ranks, root, method, repetitions, warmup; /* ranks: of all nodes */
    const char *map, *levels_off;                 /* of the JSON object */
    int placement;
    double skew_ns; /* ranks enter at random up to so late */
    uint64_t seed;
    bool root_shift;
    bool shared;           /* its window is the team's */
    struct request *other; /* before each of these calls, one of those; NULL: none */
    const char *drop_file; /* of the JSON object; NULL: nothing is dropped */
    int drop_line;
    bool trace;
};

/* False: *error is one line.  The object must outlive the request. */
bool request_read(const json_t *json, struct request *request, char *error, size_t error_bytes);
void request_free(struct request *request);

/* On several nodes (nodes.c): the algorithm that serves a call, NULL: none; and the parameters that
 * its network gives it, over their presets. */
const struct alg *request_between_nodes(const struct request *q, const char *coll);
void request_preset(const struct request *q, long *param);

/* Of one node. */
static inline int request_ranks_here(const struct request *q)
{
    return q->ranks / q->nodes;
}

#endif
