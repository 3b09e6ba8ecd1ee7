/* SPDX-License-Identifier: BSD-3-Clause */
/* plans.c - see plans.h. */
#include "plans.h"

#include <string.h>

struct plans plans;

/* Makes a new planner, because a planner caches results for its settings and rules. */
static void renew(void)
{
    hud_planner_free(plans.planner);
    plans.planner = hud_planner_create(&plans.config, &plans.tuning);
    assert_non_null(plans.planner);
}

void plans_settings(const char *const *settings)
{
    hud_config_read(settings, &plans.config);
    assert_string_equal(plans.config.error, "");
    if (strcmp(plans.config.origin[SET_WISDOM], "default") == 0)
        plans.config.number[SET_WISDOM] = WISDOM_OFF; /* most tests are of first choices */
    renew();
}

void plans_tune(const char *text)
{
    char error[512] = "";

    hud_rules_free(&plans.tuning);
    if (!hud_rules_read(&plans.tuning, "t", text, strlen(text), error, sizeof error))
        fail_msg("%s", error);
    renew();
}

void plans_make(int ranks, bool oversubscribed, const char *within, size_t bytes, bool windows)
{
    struct plan_facts facts = { .ranks = ranks,
                                .oversubscribed = oversubscribed,
                                .divided = plans.divided,
                                .direct = plans.direct };

    strncpy(facts.within, within, TOPO_NAME - 1);
    hud_plan_make(plans.planner, &facts, bytes, windows, &plans.plan);
}

const char *plans_taker(enum coll_kind kind, size_t bytes)
{
    const struct plan_entry *e = plan_find(&plans.plan, (int)kind, bytes);

    return e->slot < 0 ? "mpi" : hud_shm_algs[e->row]->name;
}

void plans_check(void)
{
    const struct plan *p = &plans.plan;
    size_t end = PLACE_OFFSET;

    for (int axis = 0; axis < PLAN_AXES; axis++)
        for (int class = 0; class < PLAN_CLASSES; class ++) {
            const struct plan_cell *cell = &p->cell[axis][class];
            assert_in_range(cell->count, 1, PLAN_CANDIDATES);
            for (int i = 0; i < cell->count; i++) {
                const struct plan_entry *e = &p->entry[cell->candidate[i]];
                assert_true(cell->candidate[i] < p->entries && e->slot < p->slots);
                assert_true(e->slot < 0 ||
                            hud_coll_kind(hud_shm_algs[e->row]->coll) == axis % COLL_KINDS);
            }
        }
    for (int s = 0; s < p->slots; s++) {
        const struct alg_place *place = &p->slot[s].place;
        size_t from = place->slot_offset, to = from + place->slot_bytes;
        assert_true(from >= PLACE_OFFSET && from % HUD_LINE == 0 && to > from);
        for (int o = 0; o < p->slots; o++) {
            const struct alg_place *other = &p->slot[o].place;
            size_t window = other->window_offset - (other->user != 0 ? HUD_LINE : 0),
                   window_end = other->window_offset + other->window_bytes;
            assert_true(o >= s || to <= other->slot_offset ||
                        from >= other->slot_offset + other->slot_bytes);
            assert_true(other->window_bytes == 0 || to <= window || from >= window_end);
            assert_true(o >= s || (place->user != 0 && other->user != 0) ||
                        place->window_bytes == 0 || other->window_bytes == 0 ||
                        place->window_offset >= window_end ||
                        place->window_offset + place->window_bytes <= window);
        }
        size_t last =
            place->window_bytes != 0 ? place->window_offset + mem_lines(place->window_bytes) : to;
        end = last > end ? last : end;
    }
    assert_true(p->slots == 0 || end <= p->max_bytes);
    assert_true(p->total_bytes == (p->slots ? end : 0));
}

int plans_reset(void **state)
{
    (void)state;
    hud_config_read((const char *const[]){ "HUDDLE_WISDOM=off", NULL }, &plans.config);
    hud_rules_free(&plans.tuning);
    renew();
    return 0;
}
