/* SPDX-License-Identifier: BSD-3-Clause */
/* model.c - see model.h. */
#include "core/plan/model.h"

#include "alg/alg.h"
#include "cost/units.h"

#include <stdint.h>
#include <string.h>

static const struct known {
    const char *coll, *name;
    double fragment_bytes; /* typical size of a fragment in its window */
    double (*ns)(const struct cost_units *c, double bytes);
} known[] = {
    { "allreduce", "slices", 128 << 10, hud_cost_allreduce_slices_ns },
    { "allreduce", "levels", 128 << 10, hud_cost_allreduce_levels_ns },
};

static const struct known *find(int row)
{
    for (size_t i = 0; row >= 0 && i < sizeof known / sizeof *known; i++)
        if (strcmp(known[i].coll, hud_shm_algs[row]->coll) == 0 &&
            strcmp(known[i].name, hud_shm_algs[row]->name) == 0)
            return &known[i];
    return NULL;
}

bool hud_model_knows(int row)
{
    return find(row) != NULL;
}

static double cost_ns(const struct known *k, int ranks, size_t bytes)
{
    struct cost_units c = hud_cost_units_typical(ranks, k->fragment_bytes);

    return k->ns(&c, (double)bytes);
}

size_t hud_model_cheaper_from(int row, int than, int ranks)
{
    enum { LARGEST = 30 };
    const struct known *mine = find(row), *other = find(than);
    size_t from = SIZE_MAX;

    for (int e = LARGEST; mine && other && e >= 0; e--) {
        size_t bytes = (size_t)1 << e;
        if (cost_ns(mine, ranks, bytes) >= cost_ns(other, ranks, bytes))
            break;
        from = bytes;
    }
    return from;
}
