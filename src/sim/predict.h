/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * predict.h - inputs of the time models of src/cost, from a modelled machine and the places of the
 * ranks on it: the parameters of paper 01's broadcast through a queue, those of messages between
 * ranks, and the numbers behind the limits.  Nothing is simulated; data that is passed on is
 * assumed to be in caches.
 */
#ifndef HUD_SIM_PREDICT_H
#define HUD_SIM_PREDICT_H

#include "cost/hockney.h"
#include "cost/limits.h"
#include "cost/queue.h"
#include "shape/shape.h"
#include "sim/machine.h"

/* core[rank], and what huddle groups them into. */
struct predict_ranks {
    const struct sim_machine *machine;
    int ranks;
    const int *core;
    const struct shape_groups *groups;
};

/*
 * A broadcast through the queue of rank 0 that is announced along a tree:
 *   t    a byte's copy by the slowest reader: from the root's cache at its distance; or its share
 *        of the root's shared cache, which serves the readers of the root's unit and one for each
 *        other unit; or its unit's share of the link between sockets
 *   t_w  along the tree: for each edge a post, whose line others had, its transfer, and serve_ns
 *        for each elder sibling served by the same holder, as lines.h shares it: the poster serves
 *        its own shared cache and one rank in each other, which serves the others there; until the
 *        last rank knows
 *   t_wo a look at all ranks' lines one after the other, whose misses overlap: one transfer, from
 *   the farthest, then a gap each
 *   t_a  a store
 */
void hud_predict_queue(const struct predict_ranks *ranks, enum shape_kind tree, int degree,
                       struct cost_queue *c);

/* Messages between any two ranks through a queue of the pair, copied in and out: alpha is two posts
 * and transfers of a line (it is there; it is taken), of the farthest two. */
void hud_predict_messages(const struct predict_ranks *ranks, struct cost_hockney *c);

/* A level's line and gap are those between its groups' leaders and their farthest members; b is the
 * fastest that one rank copies from another. */
void hud_predict_node(const struct predict_ranks *ranks, struct cost_node *node);

#endif
