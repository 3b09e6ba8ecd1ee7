/* SPDX-License-Identifier: BSD-3-Clause */
/* contributions.c - the parameters and the memory of the family. */
#include "alg/queue/contributions.h"

static const struct alg_param params[] = {
    [CONTRIBUTIONS_FRAGMENT] = { "fragment", "B",
                                 "f, bytes of a fragment, the unit that is published; fewer at the "
                                 "end of a set",
                                 1, 1 << 24, 32 << 10, NULL, .per_call = true,
                                 .tune = "8K,16K,64K" },
    [CONTRIBUTIONS_SETS] = { "sets", "1",
                             "q, number of sets of buffers of a queue; each fragment is in a "
                             "single set",
                             1, 8, 3, NULL },
    [CONTRIBUTIONS_BUDGET] = { "budget", "B",
                               "b, bytes of each queue; 0: as much as the lease allows", 0, 1 << 24,
                               96 << 10, NULL, .tune = "24K,192K" },
    { .name = NULL },
};

static size_t window_bytes(const long *param, int ranks, size_t max_bytes)
{
    (void)ranks;
    return queue_budget_bytes(param[CONTRIBUTIONS_BUDGET], param[CONTRIBUTIONS_SETS], max_bytes);
}

const struct alg_family HUD_BACKEND(contributions_family) = {
    .params = params,
    .window_bytes = window_bytes,
    .lines_bytes = queue_lines_bytes,
};
