/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * topo.c - a machine as JSON, for users and tools.  Processors are lists in the kernel's format:
 * "0-3,8".
 *
 * {"sockets": 2, "cores": 128, "processors": "0-127",
 *  "numa_nodes": [{"node": 0, "bytes": 135291469824, "processors": "0-31"}, ...],
 *  "levels": [{"name": "numa", "also": ["l3"], "units": ["0-31", ...]}, ...]}
 *
 * Levels are listed from the lowest up.
 */
#include "tools/query/answers.h"
#include "topo/machine.h"

#include <jansson.h>
#include <stdlib.h>

/* Appends an item to a list, and always consumes the item.  As in jansson, NULL means out of memory
 * and is passed on. */
static json_t *append(json_t *list, json_t *item)
{
    if (!json_array_append_new(list, item))
        return list;
    json_decref(list);
    return NULL;
}

static json_t *list_cpus(const struct topo_cpus *cpus)
{
    char *text = hud_topo_list_write(cpus);
    json_t *list = text ? json_string(text) : NULL;

    free(text);
    return list;
}

static json_t *list_units(const struct topo_units *units)
{
    json_t *list = json_array();

    for (int u = 0; u < units->count; u++) {
        struct topo_cpus cpus = { { 0 } };

        for (int c = 0; c < TOPO_CPUS; c++)
            if (units->of[c] == u)
                topo_add(&cpus, c);
        list = append(list, list_cpus(&cpus));
    }
    return list;
}

static json_t *list_names(unsigned kinds)
{
    json_t *list = json_array();

    for (int kind = 0; kind < TOPO_KINDS; kind++)
        if (kinds >> kind & 1)
            list = append(list, json_string(hud_topo_kinds[kind]));
    return list;
}

static json_t *list_levels(const struct topo *t)
{
    json_t *list = json_array();

    for (int l = 0; l < t->levels; l++)
        list = append(list, json_pack("{s:s, s:o, s:o}", "name", hud_topo_level_name(t, l), "also",
                                      list_names(t->level[l].also), "units",
                                      list_units(&t->level[l].units)));
    return list;
}

static json_t *list_nodes(const struct topo *t)
{
    json_t *list = json_array();

    for (int n = 0; n < t->nodes; n++)
        list = append(list, json_pack("{s:i, s:I, s:o}", "node", t->node[n].os, "bytes",
                                      (json_int_t)t->node[n].bytes, "processors",
                                      list_cpus(&t->node[n].cpus)));
    return list;
}

char *hud_topo_json(const struct topo *t)
{
    json_t *machine = json_pack("{s:i, s:i, s:o, s:o, s:o}", "sockets", t->sockets, "cores",
                                t->cores, "processors", list_cpus(&t->cpus), "numa_nodes",
                                list_nodes(t), "levels", list_levels(t));
    char *text = machine ? json_dumps(machine, 0) : NULL;

    json_decref(machine);
    return text;
}
