/* SPDX-License-Identifier: BSD-3-Clause */
/* network.c - see network.h. */
#include "core/plan/network.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MAX = 1000000000 };

static const struct {
    const char *key;
    size_t at;    /* offset in struct cost_network */
    double in_ns; /* the unit, in ns */
} values[] = { { "alpha_ns", offsetof(struct cost_network, alpha_ns), 1 },
               { "beta_ps", offsetof(struct cost_network, beta_ns), 1e-3 },
               { "overhead_ns", offsetof(struct cost_network, overhead_ns), 1 },
               { "send_ns", offsetof(struct cost_network, send_ns), 1 } };

void hud_network_begin(struct cost_network *network)
{
    *network = (struct cost_network){ .beta_ns = NAN, .overhead_ns = NAN, .send_ns = NAN };
}

bool hud_network_end(struct cost_network *network, char *why, size_t why_bytes)
{
    if (isnan(network->send_ns))
        network->send_ns = network->overhead_ns;
    if (hud_cost_network_valid(network))
        return true;
    snprintf(why, why_bytes,
             "network is not whole (accepted: alpha_ns above 0, beta_ps, overhead_ns up to "
             "alpha_ns, send_ns up to overhead_ns)");
    return false;
}

bool hud_network_take(struct cost_network *network, const char *key, const char *value, char *why,
                      size_t why_bytes)
{
    char *end;
    long number = strtol(value, &end, 10);
    size_t i = 0, count = sizeof values / sizeof *values;

    while (i < count && strcmp(values[i].key, key) != 0)
        i++;
    if (i == count) {
        snprintf(why, why_bytes,
                 "%.60s is not a value of network (accepted: alpha_ns, beta_ps, overhead_ns, "
                 "send_ns)",
                 key);
        return false;
    }
    if (value[0] < '0' || value[0] > '9' || *end != '\0' || number > MAX) {
        snprintf(why, why_bytes, "%s=%.60s is not understood (accepted: 0 to %d)", key, value, MAX);
        return false;
    }
    *(double *)(void *)((char *)network + values[i].at) = (double)number * values[i].in_ns;
    return true;
}
