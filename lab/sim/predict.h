/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * predict.h - inputs of the time models of src/cost, from a modelled machine and the places of the
 * ranks on it: the parameters of paper 01's broadcast through a queue, the parameters of messages
 * between ranks, and the numbers for the limits.  Nothing is simulated; data that is passed on is
 * assumed to be in caches.
 */
#ifndef HUD_SIM_PREDICT_H
#define HUD_SIM_PREDICT_H

#include "lab/cost/hockney.h"
#include "lab/cost/limits.h"
#include "lab/cost/queue.h"
#include "lab/sim/machine.h"
#include "shape/shape.h"

/* The core of each rank, core[rank], and the groups that huddle forms. */
struct predict_ranks {
    const struct sim_machine *machine;
    int ranks;
    const int *core;
    const struct shape_groups *groups;
};

/*
 * Computes the parameters of a broadcast through rank 0's queue, announced along a tree:
 *   t    copy of a byte by the slowest reader: from the root's cache at its distance; or its share
 *        of the root's shared cache, which serves the readers of the root's unit and a reader of
 *        each other unit; or its unit's share of the link between sockets
 *   t_w  time along the tree until the last rank knows.  Each edge takes a post to a line that
 *        others had, its transfer, and serve_ns for each elder sibling served by the same holder.
 *        As in lines.h, the poster serves its own shared cache and a rank in each other, which
 *        serves the ranks there.
 *   t_wo reads of all ranks' lines in turn, whose misses overlap: a transfer from the farthest
 *        rank, then a gap for each other line
 *   t_a  a store
 */
void hud_predict_queue(const struct predict_ranks *ranks, enum shape_kind tree, int degree,
                       struct cost_queue *c);

/* Computes the parameters of messages between any two ranks through a queue of the pair, copied in
 * and out.  alpha is two posts and line transfers, for arrival and removal, between the farthest
 * two ranks. */
void hud_predict_messages(const struct predict_ranks *ranks, struct cost_hockney *c);

/* Computes the numbers for the limits.  A level's line and gap are between its groups' leaders and
 * their farthest members; b is the fastest speed of a copy between two ranks. */
void hud_predict_node(const struct predict_ranks *ranks, struct cost_node *node);

#endif
