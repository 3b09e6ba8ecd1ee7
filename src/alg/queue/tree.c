/* SPDX-License-Identifier: BSD-3-Clause */
/* tree.c - the parameters and the memory of the family. */
#include "alg/queue/tree.h"

static const struct alg_param params[] = {
    [TREE_FRAGMENT] = { "fragment", "B",
                        "f, bytes of a fragment, the unit that is published; fewer at the end of a "
                        "set",
                        1, 1 << 24, 16 << 10, NULL, .per_call = true, .tune = "4K,8K,32K" },
    [TREE_SETS] = { "sets", "1",
                    "q, number of sets of buffers of a queue; each fragment is in a single set", 1,
                    8, 3, NULL },
    [TREE_BUDGET] = { "budget", "B", "b, bytes of each queue; 0: as much as the lease allows", 0,
                      1 << 24, 96 << 10, NULL },
    [TREE_KIND] = { "tree", "", "tree of ranks; each rank reads its children's partial results", 0,
                    SHAPE_KINDS - 1, SHAPE_GROUPED, hud_shape_names, .per_call = true,
                    .tune = "nested,flat,knomial,balanced" },
    [TREE_DEGREE] = { "degree", "1", SHAPE_DEGREE_DOC, 2, 64, 4, NULL, .per_call = true,
                      .tune = "2,8" },
    { .name = NULL },
};

static size_t window_bytes(const long *param, int ranks, size_t max_bytes)
{
    (void)ranks;
    return queue_budget_bytes(param[TREE_BUDGET], param[TREE_SETS], max_bytes);
}

const struct alg_family HUD_BACKEND(tree_family) = {
    .params = params,
    .window_bytes = window_bytes,
    .lines_bytes = queue_lines_bytes,
};
