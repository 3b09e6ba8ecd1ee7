/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * model.c - the program `model`: predictions of the time models of src/cost, for `huddle model` and
 * `huddle reproduce`.  Reads one JSON object from standard input, writes one to standard output.
 * Times in ns, sizes in bytes.
 *
 *   {"ask": "queue", "model": {"byte_ns", "notify_ns", "enter_ns", "leave_ns"}, "points":
 *   [{"bytes", "fragment", "buffers", "sets"}, ...]}
 *       {"ns": [...]}
 *   {"ask": "choose", "model": as above, "wishes": [{"message", "queue", "fragment", "buffers",
 *   "page"}, ...]}       unknown values are left out
 *       {"forms": [{"fragment", "buffers", "exact"}, ...]}     exact: f* of those bytes before it
 *                                                              is rounded
 *   {"ask": "trees", "model": {"alpha_ns", "beta_ns"}, "points": [{"tree", "ranks", "degree",
 *   "bytes", "segment"}, ...]}
 *       {"points": [{"ns", "min_ns", "steps", "best_degree", "best_segment"}, ...]}
 *   {"ask": "nodes", "model": {"alpha_ns", "beta_ns", "overhead_ns", "send_ns"}, "points":
 *   [{"nodes", "bytes", "largest"}, ...]}       largest: of a segment
 *       {"points": [{"tree", "degree", "segment", "ns", "mpi_ns", "min_ns", "gains",
 *       "fills"}, ...]}         fills: so do as many bytes round a ring of nodes
 *   {"ask": "description", "machine": as in machines/NAME.toml}
 *       {"machine", "cores", "known": {"intel", "direct", "quick"}}, known as in struct
 *       hud_described; nothing if a simulation would refuse it
 *   {"ask": "machine", "machine": as in machines/NAME.toml, "collective", "ranks", "map", "trees":
 *   [{"tree", "degree"}, ...], "bytes": [...]}
 *       {"trees": [model of "queue", ...], "messages": model of "trees", "node": numbers behind the
 *       limits, "limits": [{"ns", "latency_ns", ...}, ...]}
 *
 * Exit status: 0, 2 bad input (a line names it).
 */
#include "model.h"

#include "cost/hockney.h"
#include "cost/network.h"
#include "cost/queue.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

enum { MAX_DEGREE = 64, MAX_RANKS = 1 << 20 };

static double number(const json_t *object, const char *key)
{
    return json_number_value(json_object_get(object, key));
}

static struct cost_queue queue_of(const json_t *model)
{
    return (struct cost_queue){ .byte_ns = number(model, "byte_ns"),
                                .notify_ns = number(model, "notify_ns"),
                                .enter_ns = number(model, "enter_ns"),
                                .leave_ns = number(model, "leave_ns") };
}

/* The answer for one point; NULL: bad input. */
static json_t *queue_point(const json_t *model, const json_t *point)
{
    const struct cost_queue c = queue_of(model);
    const struct cost_queue_form form = { number(point, "fragment"), number(point, "buffers"),
                                          (int)number(point, "sets") };

    return form.fragment_bytes > 0 && form.buffers >= 1
               ? json_real(hud_cost_queue_ns(&c, &form, number(point, "bytes")))
               : NULL;
}

static json_t *choose_point(const json_t *model, const json_t *point)
{
    const struct cost_queue c = queue_of(model);
    const struct cost_queue_wish wish = { .message_bytes = number(point, "message"),
                                          .queue_bytes = number(point, "queue"),
                                          .fragment_bytes = number(point, "fragment"),
                                          .buffers = number(point, "buffers"),
                                          .page_bytes = number(point, "page") };
    double bytes = wish.queue_bytes > 0 && wish.queue_bytes < wish.message_bytes
                       ? wish.queue_bytes
                       : wish.message_bytes;

    if (c.byte_ns <= 0 || (wish.message_bytes <= 0 && wish.queue_bytes <= 0))
        return NULL;
    struct cost_queue_form form = hud_cost_queue_choose(&c, &wish);
    return json_pack("{s:f, s:f, s:f}", "fragment", form.fragment_bytes, "buffers", form.buffers,
                     "exact", hud_cost_queue_fragment(&c, bytes > 0 ? bytes : wish.queue_bytes));
}

static json_t *tree_point(const json_t *model, const json_t *point)
{
    const struct cost_hockney c = { number(model, "alpha_ns"), number(model, "beta_ns") };
    const char *name = json_string_value(json_object_get(point, "tree"));
    double ranks = number(point, "ranks"), degree = number(point, "degree");
    int tree = 0;

    while (tree < COST_TREES && !(name && strcmp(hud_cost_trees[tree], name) == 0))
        tree++;
    if (tree == COST_TREES || ranks < 2 || ranks > MAX_RANKS || degree < 0 || degree > MAX_RANKS ||
        c.beta_ns <= 0)
        return NULL;
    const struct cost_broadcast b = { .tree = (enum cost_tree)tree,
                                      .ranks = (int)ranks,
                                      .degree = degree < 2 ? 2 : (int)degree,
                                      .message_bytes = number(point, "bytes"),
                                      .segment_bytes = number(point, "segment") };
    return json_pack("{s:f, s:f, s:i, s:i, s:f}", "ns", hud_cost_broadcast_ns(&c, &b), "min_ns",
                     hud_cost_broadcast_min_ns(&c, b.ranks, b.message_bytes), "steps",
                     hud_cost_broadcast_steps(b.tree, b.ranks, b.degree), "best_degree",
                     hud_cost_broadcast_degree(b.tree, MAX_DEGREE), "best_segment",
                     hud_cost_broadcast_segment(&c, b.tree, b.ranks, b.message_bytes));
}

static json_t *nodes_point(const json_t *model, const json_t *point)
{
    const struct cost_network c = { number(model, "alpha_ns"), number(model, "beta_ns"),
                                    number(model, "overhead_ns"), number(model, "send_ns") };
    double nodes = number(point, "nodes"), bytes = number(point, "bytes"),
           largest = number(point, "largest");

    if (!hud_cost_network_valid(&c) || nodes < 2 || nodes > MAX_RANKS || bytes < 1 ||
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

/* Each of a list. */
static json_t *answer_list(const json_t *request, const char *asked, const char *answered,
                           json_t *(*point)(const json_t *model, const json_t *point))
{
    const json_t *points = json_object_get(request, asked),
                 *model = json_object_get(request, "model");
    json_t *list = json_array(), *one;

    for (size_t i = 0; i < json_array_size(points); i++) {
        if (!(one = point(model, json_array_get(points, i)))) {
            fprintf(stderr, "huddle: model: %s[%zu]: not understood\n", asked, i);
            json_decref(list);
            return NULL;
        }
        json_array_append_new(list, one);
    }
    return json_pack("{s:o}", answered, list);
}

static json_t *answer_queue(const json_t *request)
{
    return answer_list(request, "points", "ns", queue_point);
}

static json_t *answer_choose(const json_t *request)
{
    return answer_list(request, "wishes", "forms", choose_point);
}

static json_t *answer_trees(const json_t *request)
{
    return answer_list(request, "points", "points", tree_point);
}

static json_t *answer_nodes(const json_t *request)
{
    return answer_list(request, "points", "points", nodes_point);
}

static const struct ask {
    const char *name;
    json_t *(*answer)(const json_t *request); /* NULL: a line has said what is wrong */
} asks[] = {
    { "queue", answer_queue }, { "choose", answer_choose },          { "trees", answer_trees },
    { "nodes", answer_nodes }, { "description", model_description }, { "machine", model_machine }
};

int main(void)
{
    json_error_t error;
    json_t *request = json_loadf(stdin, 0, &error), *answer = NULL;
    const char *name = json_string_value(json_object_get(request, "ask"));
    size_t i = 0, count = sizeof asks / sizeof *asks;

    while (i < count && !(name && strcmp(asks[i].name, name) == 0))
        i++;
    if (i < count)
        answer = asks[i].answer(request);
    else
        fprintf(stderr,
                "huddle: model: %s: not a question (accepted: queue, choose, trees, nodes, "
                "description, machine)\n",
                name      ? name
                : request ? "(none)"
                          : error.text);
    if (answer)
        json_dumpf(answer, stdout, JSON_COMPACT);
    json_decref(request);
    json_decref(answer);
    return answer ? 0 : 2;
}
