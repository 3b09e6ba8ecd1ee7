/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * network.c - the program `network`: predictions of the model of messages between nodes
 * (src/cost/network.h), for `huddle explain --nodes`.  Reads one JSON object from standard input,
 * writes one to standard output.  Times in ns, sizes in bytes.
 *
 *   {"model": {"alpha_ns", "beta_ns", "overhead_ns", "send_ns"}, "points": [{"nodes", "bytes",
 *   "largest"}, ...]}       largest: maximum bytes of a segment
 *       {"points": [{"tree", "degree", "segment", "ns", "mpi_ns", "min_ns", "gains",
 *       "fills"}, ...]}     fills: these bytes, round a ring of nodes, fill the network
 *
 * Exit status: 0, or 2 for bad input (a line names it).
 */
#include "cost/network.h"

#include <jansson.h>

enum { MAX_NODES = 1 << 20 };

static double number(const json_t *object, const char *key)
{
    return json_number_value(json_object_get(object, key));
}

/* Returns the answer for a point, or NULL for bad input. */
static json_t *answer_point(const json_t *model, const json_t *point)
{
    const struct cost_network c = { number(model, "alpha_ns"), number(model, "beta_ns"),
                                    number(model, "overhead_ns"), number(model, "send_ns") };
    double nodes = number(point, "nodes"), bytes = number(point, "bytes"),
           largest = number(point, "largest");

    if (!hud_cost_network_valid(&c) || nodes < 2 || nodes > MAX_NODES || bytes < 1 ||
        largest < COST_NETWORK_MIN_BYTES)
        return NULL;
    const struct cost_spread s =
        hud_cost_spread_choose(&c, (int)nodes, bytes, COST_NETWORK_MIN_BYTES, largest);
    return json_pack(
        "{s:s, s:i, s:f, s:f, s:f, s:f, s:b, s:b}", "tree", hud_cost_spread_kinds[s.kind], "degree",
        s.degree, "segment", s.segment_bytes, "ns", hud_cost_spread_ns(&c, (int)nodes, bytes, &s),
        "mpi_ns", hud_cost_mpi_broadcast_ns(&c, (int)nodes, bytes), "min_ns",
        c.alpha_ns + bytes * c.beta_ns, "gains", hud_cost_spread_gains(&c, (int)nodes, bytes, &s),
        "fills", hud_cost_ring_fills(&c, (int)nodes, bytes));
}

/* Returns the answers, or NULL after printing the point that was not understood. */
static json_t *answer(const json_t *request)
{
    const json_t *points = json_object_get(request, "points"),
                 *model = json_object_get(request, "model");
    json_t *list = json_array(), *one;

    for (size_t i = 0; i < json_array_size(points); i++) {
        if (!(one = answer_point(model, json_array_get(points, i)))) {
            fprintf(stderr, "huddle: network: points[%zu]: not understood\n", i);
            json_decref(list);
            return NULL;
        }
        json_array_append_new(list, one);
    }
    return json_pack("{s:o}", "points", list);
}

int main(void)
{
    json_error_t error;
    json_t *request = json_loadf(stdin, 0, &error), *answered = request ? answer(request) : NULL;

    if (!request)
        fprintf(stderr, "huddle: network: %s\n", error.text);
    if (answered)
        json_dumpf(answered, stdout, JSON_COMPACT);
    json_decref(request);
    json_decref(answered);
    return answered ? 0 : 2;
}
