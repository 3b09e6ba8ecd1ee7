/* SPDX-License-Identifier: BSD-3-Clause */
/* adapt.c - see adapt.h. */
#include "core/team/adapt.h"
#include "core/clock.h"
#include "core/config/log.h"
#include "core/team/carry_out.h"

#include <stdio.h>
#include <stdlib.h>

enum {
    GAIN = 20
}; /* the second candidate is kept if it takes less by 1 / GAIN of the first's time */

/* The candidate of each sample.  It is the sequence of Thue and Morse, which has no period, cut
 * where both candidates have as many. */
static const unsigned char order[TRIAL_SAMPLES] = { 0, 1, 1, 0, 1, 0, 0, 1, 1, 0, 0, 1, 0, 1 };

int hud_trial_candidate(int call)
{
    return order[call / 2];
}

int hud_trial_sample(int call)
{
    return call % 2 == 1 ? call / 2 : -1;
}

/* The lower quartile of the samples of one candidate: one that is too short does not move it, nor
 * do five that are too long. */
static uint64_t quartile(const struct trial_times *times, int candidate)
{
    uint64_t sorted[TRIAL_OF_EACH];
    int count = 0;

    for (int s = 0; s < TRIAL_SAMPLES; s++) {
        if (order[s] != candidate)
            continue;
        uint64_t begin = times->begin_ns[s], end = times->end_ns[s],
                 ns = end > begin ? end - begin : 0;
        int at = count++;
        for (; at > 0 && sorted[at - 1] > ns; at--)
            sorted[at] = sorted[at - 1];
        sorted[at] = ns;
    }
    return sorted[TRIAL_OF_EACH / 4];
}

struct trial_verdict hud_trial_decide(const struct trial_times *times)
{
    struct trial_verdict v = { .first_ns = quartile(times, 0), .second_ns = quartile(times, 1) };

    v.mixed = times->max_bytes / 2 > UINT64_MAX - times->inverse_min_bytes;
    v.second = v.second_ns < v.first_ns - v.first_ns / GAIN;
    return v;
}

/* ---- the team's ---- */

bool hud_adapt_create(struct hud_team *team)
{
    if (team->context->config.number[SET_ADAPT] != SWITCH_ON)
        return true;
    if (!team->adapt) /* else there was an early round */
        team->adapt = calloc(1, sizeof *team->adapt);
    return team->adapt != NULL;
}

void hud_adapt_free(struct hud_team *team)
{
    free(team->adapt);
    team->adapt = NULL;
}

void hud_adapt_start(struct hud_team *team)
{
    struct adapt *a = team->adapt;
    const struct plan *plan = team->plan;

    team->apart = team->check || a;
    if (!a)
        return;
    a->clock_ns = clock_ns;
    a->agree = plan_find(plan, plan_axis(COLL_ALLREDUCE, false), sizeof(struct trial_times));
    bool has_op = hud_op_find(HUD_MAX, HUD_UINT64, &a->max) == HUD_OK;
    if (plan->entries > plan->first[PLAN_AXES] && a->agree->slot >= 0 && has_op)
        return;
    if (team->rank == 0)
        hud_log(&team->context->config, LOG_INFO, "adapt: a team of %d ranks tries nothing: %s",
                team->size,
                a->agree->slot < 0 ? "no algorithm for a small allreduce"
                                   : "memory has no room for a second algorithm, or none is known");
    hud_adapt_free(team);
    team->apart = team->check != NULL;
}

void hud_adapt_name(const struct plan_entry *entry, const struct plan_entry *other, char *text,
                    size_t bytes)
{
    const struct alg *alg = hud_shm_algs[entry->row];
    int used = snprintf(text, bytes, "%s", alg->name);

    for (int p = 0; entry->row == other->row && alg_param_at(alg, p); p++) {
        const struct alg_param *param = alg_param_at(alg, p);
        long value = entry->param[p];
        if (value == other->param[p] || used < 0 || (size_t)used >= bytes)
            continue;
        used += param->words
                    ? snprintf(text + used, bytes - (size_t)used, " %s=%s", param->name,
                               param->words[value - param->min])
                    : snprintf(text + used, bytes - (size_t)used, " %s=%ld", param->name, value);
    }
}

/* One line and the counts of a decision, by the team's rank 0. */
static void tell(struct hud_team *team, enum coll_kind kind, const struct plan_entry *first,
                 const struct trial_times *times, const struct trial_verdict *v)
{
    struct hud_context *c = team->context;
    const struct plan_entry *second = &team->plan->entry[first->second];
    struct stats *stats = context_stats(c);
    char names[2][96], sizes[64] = "";
    bool kept = v->second && !v->mixed;

    if (team->rank != 0)
        return;
    mem_count(&stats->tried, 1, c->host.threads != 0);
    mem_count(&stats->changed, kept, c->host.threads != 0);
    hud_adapt_name(first, second, names[0], sizeof names[0]);
    hud_adapt_name(second, first, names[1], sizeof names[1]);
    if (times->max_bytes != 0)
        snprintf(sizes, sizeof sizes, " of %llu to %llu bytes",
                 (unsigned long long)(UINT64_MAX - times->inverse_min_bytes),
                 (unsigned long long)times->max_bytes);
    hud_log(&c->config, LOG_INFO,
            "adapt: %s%s, %d ranks: keeps %s%s; %s takes %.2f us, %s takes %.2f us",
            coll_name((int)kind), sizes, team->size, names[kept],
            v->mixed ? ", as sizes are mixed" : "", names[0], (double)v->first_ns * 1e-3, names[1],
            (double)v->second_ns * 1e-3);
}

/* All ranks get the times of the last one.  Returns HUD_OK, or the status of a call that failed. */
static int agree(struct hud_team *team, struct trial_times *times)
{
    struct adapt *a = team->adapt;
    struct trial_times mine = *times;
    const struct hud_view in = { .base = &mine, .bytes = sizeof mine },
                          out = { .base = times, .bytes = sizeof *times };
    struct coll call = { .bytes = sizeof mine, .in = &in, .out = &out, .reduction = &a->max };

    return carry_out(team, a->agree, &call, sizeof mine, &(bool){ false });
}

/* A trial has made its calls.  Returns as agree() does. */
static int decide(struct hud_team *team, enum coll_kind kind, const struct plan_entry *first,
                  struct trial *t)
{
    int status = agree(team, &t->times);
    struct trial_verdict v = hud_trial_decide(&t->times);

    if (status != HUD_OK)
        return status;
    if (v.mixed && ++t->held < TRIAL_HELD) {
        t->calls = 0;
        t->times = (struct trial_times){ .max_bytes = 0 };
        return HUD_OK;
    }
    t->kept = v.second && !v.mixed ? &team->plan->entry[first->second] : first;
    tell(team, kind, first, &t->times, &v);
    return HUD_OK;
}

static void begin_sample(struct adapt *a, struct trial_times *times, int sample, uint64_t bytes)
{
    uint64_t inverse = UINT64_MAX - bytes;

    times->max_bytes = bytes > times->max_bytes ? bytes : times->max_bytes;
    times->inverse_min_bytes =
        inverse > times->inverse_min_bytes ? inverse : times->inverse_min_bytes;
    a->end_ns = &times->end_ns[sample];
    times->begin_ns[sample] = a->clock_ns();
}

int hud_adapt_enter(struct hud_team *team, enum coll_kind kind, const struct coll *call,
                    const struct plan_entry **entry)
{
    const struct plan *plan = team->plan;
    const struct plan_entry *first = *entry, *second = &plan->entry[first->second];
    struct adapt *a = team->adapt;
    int axis = plan_axis(kind, call->reduction && !call->reduction->commutative),
        class = coll_has((int)kind, COLL_ONE_BUFFER) ? 0 : trial_class(call->bytes);
    struct trial *t = &a->trial[trial_index(axis, (int)(first - plan->entry), class)];

    a->end_ns = NULL;
    if (first->second == 0)
        return HUD_OK;
    if (!t->kept && t->calls == TRIAL_CALLS) {
        int status = decide(team, kind, first, t);
        if (status != HUD_OK)
            return status;
    }
    if (t->kept) {
        *entry = t->kept;
        return HUD_OK;
    }
    t->first = first;
    int number = t->calls++, sample = hud_trial_sample(number);
    *entry = hud_trial_candidate(number) != 0 ? second : first;
    if (sample >= 0)
        begin_sample(a, &t->times, sample, call->bytes);
    return HUD_OK;
}
