/* SPDX-License-Identifier: BSD-3-Clause */
/* nodes.c - for several nodes: the parameters that a job would choose by its network
 * (core/span/span_choose.c). */
#include "alg/nodes/nodes.h"
#include "alg/aggregated/aggregated.h"
#include "alg/rings/rings.h"
#include "coll/coll.h"
#include "cost/network.h"
#include "lab/sim/run/request.h"

#include <string.h>

static struct cost_network network_of(const struct machine_network *n)
{
    return (struct cost_network){ .alpha_ns = n->latency_ns,
                                  .beta_ns = n->gbps > 0 ? 1 / n->gbps : 0,
                                  .overhead_ns = n->message_ns,
                                  .send_ns = n->message_ns };
}

static void choose_tree(const struct request *q, long *param)
{
    const struct cost_network c = network_of(&q->machine->network);
    size_t bytes = q->bytes > 0 ? q->bytes : 1;
    struct cost_spread spread =
        hud_cost_spread_choose(&c, q->nodes, (double)bytes, NODES_FRAGMENT_MIN, NODES_BUFFER_BYTES);

    param[NODES_TREE] = hud_cost_spread_shape(&spread);
    param[NODES_DEGREE] = spread.degree;
    param[NODES_FRAGMENT] = hud_cost_spread_fragment(bytes, &spread);
}

void request_preset(const struct request *q, long *param)
{
    bool rings = q->alg->family == &hud_sim_rings_family, blocks = coll_has(q->kind, COLL_BLOCKS);
    size_t bytes = q->bytes * (blocks ? (size_t)q->ranks : 1);
    int count = hud_cost_rings(bytes, q->nodes, RINGS_SET_BYTES);

    if (rings)
        param[RINGS_COUNT] = count > 1 ? count : 1;
    else if (q->alg->family == &hud_sim_nodes_family)
        choose_tree(q, param);
}

const struct alg *request_between_nodes(const struct request *q, const char *coll)
{
    int kind = coll ? hud_coll_kind(coll) : -1;
    bool blocks = kind >= 0 && coll_has(kind, COLL_BLOCKS);
    bool large = blocks ? q->bytes * (size_t)q->ranks > AGGREGATED_WINDOW_BYTES / AGGREGATED_SETS
                        : q->bytes > NODES_SUM_BYTES;
    const struct alg *found = NULL;

    for (int a = 0; coll && hud_sim_nodes_algs[a]; a++) {
        const struct alg *alg = hud_sim_nodes_algs[a];
        if (strcmp(alg->coll, coll) == 0 && !alg->ordered && !alg->baseline && (!found || large))
            found = alg;
    }
    return found;
}
