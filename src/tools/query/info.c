/* SPDX-License-Identifier: BSD-3-Clause */
/* info.c - settings, collectives, algorithms, counters and the machine, as JSON. */
#include "base/reason.h"
#include "core/plan/rules.h"
#include "tools/query/answers.h"
#include "tools/query/pieces.h"

#include <stdlib.h>
#include <string.h>

/* Reads the settings as a context does: a tuning file is part of its setting. */
static void read_settings(struct config *config)
{
    struct rules rules;

    hud_config_read(NULL, config);
    if (config->error[0] != '\0')
        return;
    hud_rules_find(&rules, config->text[SET_TUNING], config->error, sizeof config->error);
    hud_rules_free(&rules);
}

/* Lists the table of settings with the effective values of this process's environment. */
static json_t *settings_json(void)
{
    int count;
    const struct setting *table = hud_settings(&count);
    json_t *list = json_array();
    struct config *config = malloc(sizeof *config);

    if (config)
        read_settings(config);
    for (int i = 0; config && i < count; i++) {
        json_array_append_new(list, json_pack("{s:s, s:s, s:s, s:s, s:s, s:s, s:s, s:s, s:b}",
                                              "name", table[i].name, "mca", table[i].mca, "value",
                                              config->text[i], "origin", config->origin[i],
                                              "default", table[i].preset, "unit", table[i].unit,
                                              "accepted", table[i].accepted, "doc", table[i].doc,
                                              "lab", table[i].lab));
    }
    json_t *error = config && config->error[0] != '\0' ? json_string(config->error) : json_null();
    json_t *more = json_array();
    for (int i = 0; config && i < config->more_count; i++)
        json_array_append_new(more, json_string(config->more[i]));
    free(config);
    return json_pack("{s:o, s:o, s:o}", "settings", list, "error", error, "more_errors", more);
}

static json_t *algorithms_json(void)
{
    json_t *list = json_array();

    for (int a = 0; hud_shm_algs[a]; a++) {
        const struct alg *alg = hud_shm_algs[a];
        json_t *params = json_array();
        for (const struct alg_param *p = alg->family->params; p && p->name; p++) {
            json_t *words = json_array();
            for (int w = 0; p->words && p->words[w]; w++)
                json_array_append_new(words, json_string(p->words[w]));
            json_array_append_new(
                params, json_pack("{s:s, s:s, s:s, s:I, s:I, s:I, s:o, s:s, s:s}", "name", p->name,
                                  "unit", p->unit, "doc", p->doc, "min", (json_int_t)p->min, "max",
                                  (json_int_t)p->max, "default", (json_int_t)p->preset, "words",
                                  words, "tune", p->tune ? p->tune : "", "tune_with",
                                  p->tune_with ? p->tune_with : ""));
        }
        json_array_append_new(list, json_pack("{s:s, s:s, s:s, s:s, s:b, s:b, s:b, s:o}",
                                              "collective", alg->coll, "name", alg->name, "doc",
                                              alg->doc, "source", alg->source, "baseline",
                                              alg->baseline, "lab", a >= SET_PRODUCT_ALGS, "direct",
                                              alg->family->direct, "parameters", params));
    }
    return list;
}

static size_t one_byte(const void *host, int from, int to)
{
    (void)host, (void)from, (void)to;
    return 1;
}

/* Lists the ranks whose entries the exit of a rank waits for; "before" means the ranks with lower
 * numbers. */
static const char *awaited(int kind)
{
    static const struct coll_args args = { .bytes = 1, .ranks = 2, .block = one_byte };
    const struct coll_meaning *meaning = hud_collectives[kind].meaning;

    if (coll_has(kind, COLL_ROOTED))
        return coll_has(kind, COLL_TO_ROOT) ? "all at root" : "root";
    return meaning->needs(&args, 1, 0) ? "all" : "before";
}

/* Lists the algorithms of a collective between nodes, in the order in which they are asked. */
static json_t *spans_json(const char *collective)
{
    json_t *list = json_array();

    for (int a = 0; hud_shm_nodes_algs[a]; a++)
        if (strcmp(hud_shm_nodes_algs[a]->coll, collective) == 0 &&
            !hud_shm_nodes_algs[a]->baseline)
            json_array_append_new(list, json_string(hud_shm_nodes_algs[a]->name));
    return list;
}

static json_t *collective_json(int kind)
{
    const struct hud_collective *c = &hud_collectives[kind];

    return json_pack("{s:s, s:s, s:s?, s:s, s:b, s:b, s:b, s:b, s:b, s:b, s:b, s:b, s:b, s:s, s:o}",
                     "name", c->name, "mpi", c->mpi_name, "also", c->also, "doc", c->doc, "rooted",
                     coll_has(kind, COLL_ROOTED), "reduces", coll_has(kind, COLL_REDUCES), "sized",
                     !coll_has(kind, COLL_UNSIZED), "moves",
                     coll_has(kind, COLL_BLOCKS) || !coll_has(kind, COLL_UNSIZED), "blocks",
                     coll_has(kind, COLL_BLOCKS), "same_to_all", coll_has(kind, COLL_SAME_TO_ALL),
                     "counts", coll_has(kind, COLL_COUNTS), "views", coll_has(kind, COLL_VIEWS),
                     "limits", c->meaning->cost != NULL, "awaits", awaited(kind), "spans",
                     spans_json(c->name));
}

static json_t *collectives_json(void)
{
    json_t *list = json_array();

    for (int kind = 0; kind < COLL_KINDS; kind++)
        json_array_append_new(list, collective_json(kind));
    return list;
}

static json_t *machine_json(void)
{
    struct topo *t = hud_topo_load();
    char *text = t ? hud_topo_json(t) : NULL;
    json_t *json = text ? json_loads(text, 0, NULL) : json_null();
    char cpu[256];

    hud_topo_cpu_name(cpu, sizeof cpu);
    json_object_set_new(json, "cpu", json_string(cpu));
    free(text);
    hud_topo_free(t);
    return json;
}

/* Lists the names of the numbers of hud_statistics_here, in their order, and the remedies for calls
 * that fell back because of several nodes. */
static json_t *statistics_json(void)
{
    static const char *const memory[] = { "arena_bytes",     "leased_bytes",  "leased_peak_bytes",
                                          "leases",          "teams_refused", "pages_home",
                                          "pages_elsewhere", "messages",      "message_bytes",
                                          "decided",         "changed",       "known",
                                          "learned",         "tried" };
    json_t *list = json_array(), *reasons = json_array();

    for (size_t i = 0; i < sizeof memory / sizeof *memory; i++)
        json_array_append_new(list, json_string(memory[i]));
    for (int r = 0; r < REASON_COUNT; r++)
        json_array_append_new(reasons, json_string(hud_reason_text[r]));
    return json_pack("{s:[s,s,s,s], s:o, s:o, s:{s:s, s:s, s:s}}", "counts", "calls", "bytes", "ns",
                     "empty", "reasons", reasons, "others", list, "nodes_remedy", "off",
                     hud_nodes_remedy_off, "auto", hud_nodes_remedy_auto, "on",
                     hud_nodes_remedy_on);
}

int hud_info_json(const char *topic, char **json)
{
    static const struct {
        const char *topic;
        json_t *(*make)(void);
    } topics[] = { { "settings", settings_json },
                   { "collectives", collectives_json },
                   { "statistics", statistics_json },
                   { "algorithms", algorithms_json },
                   { "machine", machine_json } };

    if (!topic || !json)
        return HUD_ERR_ARGUMENT;
    *json = NULL;
    for (size_t i = 0; i < sizeof topics / sizeof topics[0]; i++)
        if (strcmp(topics[i].topic, topic) == 0)
            return hud_json_give(topics[i].make(), json);
    return HUD_ERR_ARGUMENT;
}
