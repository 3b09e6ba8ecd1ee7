/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * model.c - the program `model`: predictions of the time models of src/cost, for `huddle lab model`
 * and `huddle lab reproduce`.  Reads one JSON object from standard input, writes one to standard
 * output.  Times in ns, sizes in bytes.
 *
 *   {"ask": "queue", "model": {"byte_ns", "notify_ns", "enter_ns", "leave_ns"}, "points":
 *   [{"bytes", "fragment", "buffers", "sets"}, ...]}
 *       {"ns": [...]}
 *   {"ask": "choose", "model": as above, "wishes": [{"message", "queue", "fragment", "buffers",
 *   "page"}, ...]}       unknown values are left out
 *       {"forms": [{"fragment", "buffers", "exact"}, ...]}     exact: f* for these bytes, before
 *                                                              rounding
 *   {"ask": "trees", "model": {"alpha_ns", "beta_ns"}, "points": [{"tree", "ranks", "degree",
 *   "bytes", "segment"}, ...]}
 *       {"points": [{"ns", "min_ns", "steps", "best_degree", "best_segment"}, ...]}
 *   {"ask": "description", "machine": as in lab/machines/NAME.toml}
 *       {"machine", "cores"}; nothing if a simulation would refuse the machine
 *   {"ask": "machine", "machine": as in lab/machines/NAME.toml, "collective", "ranks", "map",
 *   "trees": [{"tree", "degree"}, ...], "bytes": [...]}
 *       {"trees": [model of "queue", ...], "messages": model of "trees", "node": numbers behind the
 *       limits, "limits": [{"ns", "latency_ns", ...}, ...]}
 *
 * Exit status: 0, or 2 for bad input (a line names it).
 */
#include "model.h"

#include "lab/cost/hockney.h"
#include "lab/cost/queue.h"

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

/* Returns the answer for a point, or NULL for bad input. */
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

/* Answers each point of a list. */
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

static const struct ask {
    const char *name;
    json_t *(*answer)(const json_t *request); /* returns NULL after printing the error */
} asks[] = { { "queue", answer_queue },
             { "choose", answer_choose },
             { "trees", answer_trees },
             { "description", model_description },
             { "machine", model_machine } };

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
                "huddle: model: %s: not a question (accepted: queue, choose, trees, "
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
