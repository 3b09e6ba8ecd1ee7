/* SPDX-License-Identifier: BSD-3-Clause */
/* model_machine.c - see model.h: ranks on a described machine, inputs of the models, limits. */
#include "model.h"

#include "check/grow.h"
#include "coll/coll.h"
#include "lab/sim/machine_rules.h"
#include "lab/sim/predict.h"

#include <string.h>

struct place {
    struct predict_ranks ranks;
    struct sim_machine *machine;
    struct shape_groups groups;
    int *core;
};

static json_t *refuse(const char *what, const char *value, const char *accepted)
{
    fprintf(stderr, "huddle: model: %s: %s (accepted: %s)\n", what, value ? value : "missing",
            accepted);
    return NULL;
}

static int index_of(const char *const *names, const char *name)
{
    int i = 0;

    while (names[i] && !(name && strcmp(names[i], name) == 0))
        i++;
    return names[i] ? i : -1;
}

/* Assigns ranks to cores as a launcher would bind them. */
static void place_ranks(struct place *p, const char *map, int ranks)
{
    const struct sim_machine *m = p->machine;
    struct topo_cpus all, *cpus = hud_must(calloc((size_t)ranks, sizeof *cpus));
    struct shape_place place;

    p->core = hud_must(calloc((size_t)ranks, sizeof *p->core));
    hud_topo_all(m->topo, &all);
    hud_must(hud_topo_bind(m->topo, &all, map, ranks, cpus) ? cpus : NULL);
    for (int r = 0; r < ranks; r++)
        while (!(cpus[r].word[m->cpu[p->core[r]] / 64] >> (m->cpu[p->core[r]] % 64) & 1))
            p->core[r]++;
    if (hud_topo_place(m->topo, cpus, ranks, "", &place) != 0 ||
        hud_shape_groups_build(&place, &p->groups) != 0)
        hud_must(NULL);
    free((void *)(uintptr_t)place.unit);
    free(cpus);
    p->ranks = (struct predict_ranks){ m, ranks, p->core, &p->groups };
}

/* ---- in JSON ---- */

static json_t *queue_json(const struct place *p, const json_t *tree)
{
    int kind = index_of(hud_shape_names, json_string_value(json_object_get(tree, "tree")));
    json_int_t degree = json_integer_value(json_object_get(tree, "degree"));
    struct cost_queue c;

    if (kind < 0)
        return refuse("tree", json_string_value(json_object_get(tree, "tree")),
                      "flat, chain, kary, balanced, knomial, grouped, nested, leaders");
    hud_predict_queue(&p->ranks, (enum shape_kind)kind, degree < 2 ? 2 : (int)degree, &c);
    return json_pack("{s:f, s:f, s:f, s:f}", "byte_ns", c.byte_ns, "notify_ns", c.notify_ns,
                     "enter_ns", c.enter_ns, "leave_ns", c.leave_ns);
}

static json_t *trees_json(const struct place *p, const json_t *trees)
{
    json_t *list = json_array(), *one;

    for (size_t i = 0; i < json_array_size(trees); i++) {
        if (!(one = queue_json(p, json_array_get(trees, i)))) {
            json_decref(list);
            return NULL;
        }
        json_array_append_new(list, one);
    }
    return list;
}

static json_t *node_json(const struct place *p, const struct cost_node *node)
{
    json_t *levels = json_array();

    for (int l = 0; l < node->levels; l++) {
        int from = p->groups.level[l].from;
        json_array_append_new(
            levels,
            json_pack("{s:s, s:i, s:i, s:f, s:f}", "level",
                      from < 0 ? "team" : hud_topo_level_name(p->machine->topo, from), "groups",
                      p->groups.level[l].groups, "members", node->level[l].members, "line_ns",
                      node->level[l].line_ns, "gap_ns", node->level[l].gap_ns));
    }
    return json_pack("{s:o, s:i, s:f, s:f, s:f, s:f, s:f, s:f, s:f}", "levels", levels, "sockets",
                     node->sockets, "core_gbps", node->core_gbps, "memory_gbps", node->memory_gbps,
                     "link_gbps", node->link_gbps, "cache_bytes", node->cache_bytes, "gather_ns",
                     hud_cost_gather_ns(node), "release_ns", hud_cost_release_ns(node),
                     "doubling_ns", hud_cost_doubling_ns(node));
}

static json_t *limits_json(const struct cost_node *node, int coll, const json_t *sizes)
{
    json_t *list = json_array();

    for (size_t i = 0; i < json_array_size(sizes); i++) {
        struct cost_limit limit;
        hud_cost_limit(node, coll, json_number_value(json_array_get(sizes, i)), &limit);
        json_array_append_new(
            list, json_pack("{s:f, s:f, s:f, s:f, s:f}", "ns", hud_cost_limit_ns(&limit),
                            "latency_ns", limit.latency_ns, "cores_ns", limit.cores_ns, "memory_ns",
                            limit.memory_ns, "links_ns", limit.links_ns));
    }
    return list;
}

static json_t *answer(const struct place *p, const json_t *request, int coll)
{
    json_t *trees = trees_json(p, json_object_get(request, "trees"));
    struct cost_hockney messages;
    struct cost_node node;

    if (!trees)
        return NULL;
    hud_predict_messages(&p->ranks, &messages);
    hud_predict_node(&p->ranks, &node);
    return json_pack("{s:s, s:i, s:o, s:{s:f, s:f}, s:o, s:o}", "machine", p->machine->name,
                     "cores", p->machine->cores, "trees", trees, "messages", "alpha_ns",
                     messages.alpha_ns, "beta_ns", messages.beta_ns, "node", node_json(p, &node),
                     "limits", limits_json(&node, coll, json_object_get(request, "bytes")));
}

static struct sim_machine *read_machine(const json_t *request)
{
    char error[256] = "";
    struct sim_machine *m =
        hud_machine_read(json_object_get(request, "machine"), error, sizeof error);

    if (!m)
        fprintf(stderr, "huddle: model: machine: %s\n", error);
    return m;
}

/* Answers a request for a description. */
json_t *model_description(const json_t *request)
{
    struct sim_machine *m = read_machine(request);
    json_t *said = m ? json_pack("{s:s, s:i}", "machine", m->name, "cores", m->cores) : NULL;

    hud_machine_free(m);
    return said;
}

/* Returns "barrier, bcast, ...": the collectives with known limits. */
static const char *known_collectives(void)
{
    static char text[256];

    text[0] = '\0';
    for (int kind = 0; kind < COLL_KINDS; kind++)
        if (hud_collectives[kind].meaning->cost)
            snprintf(text + strlen(text), sizeof text - strlen(text), "%s%s",
                     text[0] != '\0' ? ", " : "", coll_name(kind));
    return text;
}

json_t *model_machine(const json_t *request)
{
    const char *name = json_string_value(json_object_get(request, "collective")),
               *map = json_string_value(json_object_get(request, "map"));
    json_int_t ranks = json_integer_value(json_object_get(request, "ranks"));
    int coll = name ? hud_coll_kind(name) : -1;
    struct place p = { .machine = NULL };

    if (coll < 0 || !hud_collectives[coll].meaning->cost)
        return refuse("collective", name, known_collectives());
    if (!(p.machine = read_machine(request)))
        return NULL;
    json_t *said = NULL;
    if (ranks == 0)
        ranks = p.machine->cores;
    if (ranks < 2 || ranks > p.machine->cores) {
        fprintf(stderr,
                "huddle: model: ranks: %lld (accepted: 2 to %d, each on a core of its own)\n",
                (long long)ranks, p.machine->cores);
    } else {
        place_ranks(&p, map ? map : "core", (int)ranks);
        said = answer(&p, request, coll);
        hud_shape_groups_free(&p.groups);
    }
    free(p.core);
    hud_machine_free(p.machine);
    return said;
}
