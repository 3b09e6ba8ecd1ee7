/* SPDX-License-Identifier: BSD-3-Clause */
/* info.c - huddle's facts as JSON, for the CLI, tests and documents. */
#include "core/choose/explain.h"
#include "core/team/adapt.h"
#include "core/team/team.h"
#include "late/late.h"

#include <jansson.h>
#include <stdlib.h>
#include <string.h>

/* As a context reads them: a tuning file is part of its setting. */
static void read_settings(struct config *config)
{
    struct rules rules;

    hud_config_read(NULL, config);
    if (config->error[0] != '\0')
        return;
    hud_rules_find(&rules, config->text[SET_TUNING], config->error, sizeof config->error);
    hud_rules_free(&rules);
}

/* The table with the effective values of this process's environment. */
static json_t *settings_json(void)
{
    int count;
    const struct setting *table = hud_settings(&count);
    json_t *list = json_array();
    struct config *config = malloc(sizeof *config);

    if (config)
        read_settings(config);
    for (int i = 0; config && i < count; i++) {
        json_array_append_new(list, json_pack("{s:s, s:s, s:s, s:s, s:s, s:s, s:s, s:s}", "name",
                                              table[i].name, "mca", table[i].mca, "value",
                                              config->text[i], "origin", config->origin[i],
                                              "default", table[i].preset, "unit", table[i].unit,
                                              "accepted", table[i].accepted, "doc", table[i].doc));
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
        json_array_append_new(list, json_pack("{s:s, s:s, s:s, s:s, s:b, s:b, s:o}", "collective",
                                              alg->coll, "name", alg->name, "doc", alg->doc,
                                              "source", alg->source, "baseline", alg->baseline,
                                              "direct", alg->family->direct, "parameters", params));
    }
    return list;
}

static size_t one_byte(const void *host, int from, int to)
{
    (void)host, (void)from, (void)to;
    return 1;
}

/* Whose entries the exit of a rank waits for; "before": those of the ranks before it. */
static const char *awaited(int kind)
{
    static const struct coll_args args = { .bytes = 1, .ranks = 2, .block = one_byte };
    const struct coll_meaning *meaning = hud_collectives[kind].meaning;

    if (coll_has(kind, COLL_ROOTED))
        return coll_has(kind, COLL_TO_ROOT) ? "all at root" : "root";
    return meaning->needs(&args, 1, 0) ? "all" : "before";
}

/* Its algorithms between nodes, in the order in which they are asked. */
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

static int give(json_t *json, char **out)
{
    *out = json ? json_dumps(json, JSON_INDENT(2)) : NULL;
    json_decref(json);
    return *out ? HUD_OK : HUD_ERR_MEMORY;
}

const char *hud_missing_library(void)
{
    const char *why = NULL;

    for (int i = 0; i < LATE_LIBRARIES && !why; i++)
        why = hud_late_trouble((enum late)i);
    return why;
}

/* What the numbers of hud_statistics_here count, in their order. */
static json_t *statistics_json(void)
{
    static const char *const memory[] = { "arena_bytes",     "leased_bytes",  "leased_peak_bytes",
                                          "leases",          "teams_refused", "pages_home",
                                          "pages_elsewhere", "messages",      "message_bytes",
                                          "tried",           "changed" };
    json_t *list = json_array(), *reasons = json_array();

    for (size_t i = 0; i < sizeof memory / sizeof *memory; i++)
        json_array_append_new(list, json_string(memory[i]));
    for (int r = 0; r < REASON_COUNT; r++)
        json_array_append_new(reasons, json_string(hud_reason_text[r]));
    return json_pack("{s:[s,s,s,s], s:o, s:o}", "counts", "calls", "bytes", "ns", "empty",
                     "reasons", reasons, "others", list);
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
            return give(topics[i].make(), json);
    return HUD_ERR_ARGUMENT;
}

static json_t *groups_json(const struct hud_team *team)
{
    json_t *levels = json_array();

    for (int l = 0; l < team->groups.levels; l++) {
        const struct shape_level *level = &team->groups.level[l];
        json_t *groups = json_array();
        for (int g = 0; g < level->groups; g++) {
            json_t *members = json_array();
            for (int i = level->first[g]; i < level->first[g + 1]; i++)
                json_array_append_new(members, json_integer(level->members[i]));
            json_array_append_new(groups, members);
        }
        const char *name =
            level->from >= 0 && level->from < team->levels ? team->place_name[level->from] : "team";
        json_array_append_new(levels, json_pack("{s:s, s:o}", "level", name, "groups", groups));
    }
    return levels;
}

/* Of the arena that are there as huge pages now. */
static size_t huge_bytes(const struct arena *a)
{
    return a->pages == PAGES_POOL          ? a->bytes
           : a->pages == PAGES_TRANSPARENT ? hud_file_joined_bytes(a->head, a->bytes)
                                           : 0;
}

static json_t *pages_json(const struct hud_team *team)
{
    const struct arena *a = &team->context->arena;
    size_t pages = (team->bytes + a->page_bytes - 1) / a->page_bytes;
    int *nodes = malloc(pages * sizeof *nodes), elsewhere = 0;
    json_t *list = json_array();

    if (nodes && hud_arena_pages(a, team->offset, pages * a->page_bytes, nodes) == 0)
        for (size_t i = 0; i < pages; i++) {
            json_array_append_new(list, json_integer(nodes[i]));
            elsewhere += a->node >= 0 && nodes[i] >= 0 && nodes[i] != a->node;
        }
    free(nodes);
    return json_pack("{s:i, s:I, s:o, s:i, s:s, s:I}", "own_node", a->node, "page_bytes",
                     (json_int_t)a->page_bytes, "nodes", list, "elsewhere", elsewhere, "kind",
                     hud_file_pages[a->pages], "huge_bytes", (json_int_t)huge_bytes(a));
}

static json_t *regions_json(const struct plan *plan)
{
    json_t *list = json_array();

    for (int i = 0; i < plan->slots; i++) {
        const struct alg *alg = hud_shm_algs[plan->slot[i].row];
        const struct alg_place *place = &plan->slot[i].place;
        json_array_append_new(
            list, json_pack("{s:s, s:s, s:I, s:I, s:I, s:I, s:b}", "collective", alg->coll,
                            "algorithm", alg->name, "offset", (json_int_t)place->slot_offset,
                            "bytes", (json_int_t)place->slot_bytes, "window_offset",
                            (json_int_t)place->window_offset, "window_bytes",
                            (json_int_t)place->window_bytes, "shared", place->user != 0));
    }
    return list;
}

static json_t *choices_json(const struct hud_team *team)
{
    json_t *choices = json_object();

    for (int kind = 0; kind < COLL_KINDS; kind++)
        json_object_set_new(choices, coll_name(kind),
                            hud_pieces_json(team->plan, &team->context->config, kind));
    return choices;
}

/* A trial that has begun; the sizes are those so far.  "kept" null: not decided yet. */
static json_t *trial_json(const struct plan *plan, const struct trial *t)
{
    const struct plan_entry *first = t->first, *second = &plan->entry[first->second];
    char names[2][96];

    hud_adapt_name(first, second, names[0], sizeof names[0]);
    hud_adapt_name(second, first, names[1], sizeof names[1]);
    return json_pack("{s:s, s:I, s:I, s:i, s:[s, s], s:s?}", "collective",
                     hud_shm_algs[first->row]->coll, "min_bytes",
                     (json_int_t)(UINT64_MAX - t->times.inverse_min_bytes), "max_bytes",
                     (json_int_t)t->times.max_bytes, "calls", t->calls, "candidates", names[0],
                     names[1], "kept", t->kept ? names[t->kept == second] : NULL);
}

static json_t *trials_json(const struct hud_team *team)
{
    json_t *list = json_array();

    for (int i = 0; team->adapt && i < TRIALS; i++)
        if (team->adapt->trial[i].calls > 1) /* a size has been noted */
            json_array_append_new(list, trial_json(team->plan, &team->adapt->trial[i]));
    return list;
}

int hud_team_json(hud_team *team, char **json)
{
    static const char *const states[] = { [TEAM_NEW] = "new",
                                          [TEAM_EARLY] = "early",
                                          [TEAM_READY] = "ready",
                                          [TEAM_REFUSED] = "refused",
                                          [TEAM_BROKEN] = "broken" };
    json_t *out;

    if (!team || !json)
        return HUD_ERR_ARGUMENT;
    out = json_pack("{s:i, s:i, s:s}", "rank", team->rank, "ranks", team->size, "state",
                    states[team->state]);
    if (team->state != TEAM_NEW && team->state != TEAM_READY)
        json_object_set_new(out, "reason", json_string(hud_reason_text[team->reason]));
    if (team->state == TEAM_READY) {
        json_object_set_new(out, "waits",
                            json_string(team->policy.polls != 0         ? "poll"
                                        : team->policy.way == MEM_SLEEP ? "sleep"
                                                                        : "yield"));
        json_object_set_new(out, "oversubscribed", json_boolean(team->plan->facts.oversubscribed));
        json_object_set_new(out, "direct", json_boolean(team->plan->facts.direct));
        json_object_set_new(out, "single_copy",
                            json_string(team->mem_team.mapped  ? "mapped by XPMEM"
                                        : team->mem_team.peers ? "by the kernel"
                                                               : "no"));
        json_object_set_new(out, "quick", json_boolean(team->plan->facts.quick));
        json_object_set_new(out, "intel", json_boolean(team->plan->facts.intel));
        json_object_set_new(out, "divided", json_boolean(team->plan->facts.divided));
        json_object_set_new(out, "within", json_string(team->plan->facts.within));
        json_object_set_new(out, "levels", groups_json(team));
        json_object_set_new(out, "lease",
                            json_pack("{s:I, s:I, s:I, s:o}", "offset", (json_int_t)team->offset,
                                      "bytes", (json_int_t)team->bytes, "arena_bytes",
                                      (json_int_t)team->context->arena.bytes, "regions",
                                      regions_json(team->plan)));
        json_object_set_new(out, "pages", pages_json(team));
        json_object_set_new(out, "choices", choices_json(team));
        json_object_set_new(out, "trials", trials_json(team));
    }
    return give(out, json);
}
