/* SPDX-License-Identifier: BSD-3-Clause */
/* team.c - a team as JSON: its places, memory, choices, and what it has learned. */
#include "core/team/team.h"
#include "core/call/learn.h"
#include "tools/query/answers.h"
#include "tools/query/pieces.h"

#include <stdlib.h>

int hud_json_give(json_t *json, char **out)
{
    *out = json ? json_dumps(json, JSON_INDENT(2)) : NULL;
    json_decref(json);
    return *out ? HUD_OK : HUD_ERR_MEMORY;
}

static json_t *groups_json(const struct hud_team *team)
{
    json_t *levels = json_array();

    for (int l = 0; l < team->places.groups.levels; l++) {
        const struct shape_level *level = &team->places.groups.level[l];
        json_t *groups = json_array();
        for (int g = 0; g < level->groups; g++) {
            json_t *members = json_array();
            for (int i = level->first[g]; i < level->first[g + 1]; i++)
                json_array_append_new(members, json_integer(level->members[i]));
            json_array_append_new(groups, members);
        }
        const char *name = level->from >= 0 && level->from < team->places.levels
                               ? team->places.name[level->from]
                               : "team";
        json_array_append_new(levels, json_pack("{s:s, s:o}", "level", name, "groups", groups));
    }
    return levels;
}

/* Returns the bytes of the arena that are huge pages now. */
static size_t huge_bytes(const struct arena *a)
{
    return a->pages == PAGES_POOL          ? a->bytes
           : a->pages == PAGES_TRANSPARENT ? hud_file_joined_bytes(a->head, a->bytes)
                                           : 0;
}

static json_t *pages_json(const struct hud_team *team)
{
    const struct arena *a = &team->context->memory.arena;
    size_t pages = (team->shm.bytes + a->page_bytes - 1) / a->page_bytes;
    int *nodes = malloc(pages * sizeof *nodes), elsewhere = 0;
    json_t *list = json_array();

    if (nodes && hud_arena_pages(a, team->shm.offset, pages * a->page_bytes, nodes) == 0)
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
                            hud_pieces_json(team->plan.shared, &team->context->config, kind));
    return choices;
}

/* Describes what a team has learned of a cell.  "ns" is null before the first agreement. */
static json_t *learned_json(const struct hud_team *team, const struct learn_cell *cell)
{
    const struct learner *l = &cell->learner;
    int class = cell->at % PLAN_CLASSES;
    json_t *list = json_array();

    for (int i = 0; i < l->candidates; i++) {
        char name[PLAN_ENTRY_NAME];
        hud_plan_entry_name(learn_candidate(team, cell->at, i), name);
        json_array_append_new(list, json_pack("{s:s, s:I}", "algorithm", name, "ns",
                                              (json_int_t)hud_learner_ns(l, i)));
    }
    return json_pack("{s:s, s:o, s:I, s:b, s:i, s:o}", "collective",
                     coll_name(cell->at / PLAN_CLASSES % COLL_KINDS), "max_bytes",
                     class == PLAN_CLASSES - 1 ? json_null()
                                               : json_integer((json_int_t)plan_class_bytes(class)),
                     "axis", (json_int_t)(cell->at / PLAN_CLASSES / COLL_KINDS), "decided",
                     hud_learner_decided(l), "choice", hud_learner_choice(l), "candidates", list);
}

static json_t *all_learned_json(const struct hud_team *team)
{
    json_t *list = json_array();

    for (int i = 0; team->hooks.learn && i < team->hooks.learn->cells; i++)
        json_array_append_new(list, learned_json(team, &team->hooks.learn->cell[i]));
    return list;
}

int hud_team_json(hud_team *team, char **json)
{
    static const char *const states[] = {
        [TEAM_NEW] = "new",       [TEAM_EARLY] = "early",     [TEAM_READY] = "ready",
        [TEAM_ENDING] = "broken", [TEAM_REFUSED] = "refused", [TEAM_BROKEN] = "broken"
    };
    json_t *out;

    if (!team || !json)
        return HUD_ERR_ARGUMENT;
    out = json_pack("{s:i, s:i, s:s}", "rank", team->id.rank, "ranks", team->id.size, "state",
                    states[team->state.now]);
    if (team->state.now != TEAM_NEW && team->state.now != TEAM_READY)
        json_object_set_new(out, "reason", json_string(hud_reason_text[team->state.reason]));
    if (team->state.now == TEAM_READY) {
        json_object_set_new(out, "waits",
                            json_string(team->shm.policy.polls != 0         ? "poll"
                                        : team->shm.policy.way == MEM_SLEEP ? "sleep"
                                                                            : "yield"));
        json_object_set_new(out, "oversubscribed",
                            json_boolean(team->plan.shared->facts.oversubscribed));
        json_object_set_new(out, "direct", json_boolean(team->plan.shared->facts.direct));
        json_object_set_new(out, "single_copy",
                            json_string(team->shm.mem_team.mapped  ? "mapped by XPMEM"
                                        : team->shm.mem_team.peers ? "by the kernel"
                                                                   : "no"));
        json_object_set_new(out, "quick", json_boolean(team->plan.shared->facts.quick));
        json_object_set_new(out, "divided", json_boolean(team->plan.shared->facts.divided));
        json_object_set_new(out, "within", json_string(team->plan.shared->facts.within));
        json_object_set_new(out, "levels", groups_json(team));
        json_object_set_new(out, "lease",
                            json_pack("{s:I, s:I, s:I, s:o}", "offset",
                                      (json_int_t)team->shm.offset, "bytes",
                                      (json_int_t)team->shm.bytes, "arena_bytes",
                                      (json_int_t)team->context->memory.arena.bytes, "regions",
                                      regions_json(team->plan.shared)));
        json_object_set_new(out, "pages", pages_json(team));
        json_object_set_new(out, "choices", choices_json(team));
        json_object_set_new(out, "learned", all_learned_json(team));
    }
    return hud_json_give(out, json);
}
