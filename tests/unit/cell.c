/* SPDX-License-Identifier: BSD-3-Clause */
/* cell.c - see cell.h. */
#include "cell.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

enum { NEAR = 7 }; /* calls between two samples that confirm a change, at most */

static uint64_t constant(const struct cell *c, int candidate)
{
    return c->base[candidate];
}

unsigned cell_draw(uint32_t *random, unsigned below)
{
    *random = *random * 1103515245 + 12345;
    return (*random >> 16) % below;
}

uint64_t cell_best(const struct cell *c, bool known)
{
    uint64_t ns = UINT64_MAX;

    for (int i = 0; i < c->l.candidates; i++)
        if ((!known || c->known[i]) && c->cost(c, i) < ns)
            ns = c->cost(c, i);
    return ns;
}

void cell_begin(struct cell *c, int candidates, int present, int mpi, const uint64_t base[],
                const uint16_t percent[])
{
    static const uint16_t unknown[LEARNER_CANDIDATES];

    *c = (struct cell){ .cost = constant, .random = 1, .first = present, .choice = present };
    memcpy(c->base, base, (size_t)candidates * sizeof *base);
    c->known[present] = true;
    hud_learner_begin(&c->l, candidates, present, mpi, percent ? percent : unknown);
}

/* Adds a call to the test's own account of the budget.  The present choice may take 5 % more than
 * the best agreed candidate.  A slower call of a trial loses time, and so does a call of an open
 * cell that does not rest.  The warm-up loses before there is a budget. */
static void account(struct cell *c, int candidate, bool opened)
{
    uint64_t ns = c->cost(c, candidate), fastest = cell_best(c, true),
             present = fastest * 100 / 95 + 1, first = c->cost(c, c->first),
             lost = ns > present ? ns - present : 0;

    c->taken_ns += present;
    if (hud_learner_decided(&c->l)) {
        memset(c->known, 0, sizeof c->known);
        c->first = hud_learner_choice(&c->l);
        c->known[c->first] = true;
        c->saved_ns = 0;
        return;
    }
    c->saved_ns += first - fastest;
    c->opened += opened;
    c->rested += !opened;
    c->lost_ns += opened ? c->open_ns : 0;
    if ((lost == 0 && c->open_ns == 0) || c->noise_percent != 0 || c->unaccounted)
        return;
    c->lost_ns += lost;
    c->worst_turn_ns = 2 * lost > c->worst_turn_ns ? 2 * lost : c->worst_turn_ns;
    assert_true(c->lost_ns <= c->taken_ns * 3 / 100 + c->saved_ns + ALLOWANCE + c->worst_turn_ns +
                                  (LEARNER_WARM_UP + 2) * c->open_ns);
}

void cell_agree(struct cell *c)
{
    if (!hud_learner_decided(&c->l))
        c->ns[LEARNER_OPEN] = c->open_ns;
    hud_learner_agreed(&c->l, c->ns);
    c->agreements++;
    for (int i = 0; i < LEARNER_BATCH; i++)
        if (c->sampled_by[i] > 0)
            c->known[c->sampled_by[i] - 1] = true;
    memset(c->sampled_by, 0, sizeof c->sampled_by);
}

int cell_make(struct cell *c)
{
    struct learner_step step = { .candidate = hud_learner_choice(&c->l), .sample = -1 };

    bool opened = !hud_learner_rests(&c->l);

    if (opened || c->until_asked-- <= 0) {
        step = hud_learner_next(&c->l);
        if (step.agree) {
            cell_agree(c);
            step = hud_learner_next(&c->l);
            assert_false(step.agree);
        }
        c->until_asked = hud_learner_confirms(&c->l) ? 1 + (int)cell_draw(&c->random, NEAR)
                         : c->even                   ? LEARNER_EVERY - 1
                                   : LEARNER_EVERY / 2 + (int)cell_draw(&c->random, LEARNER_EVERY);
    }
    uint64_t ns = c->cost(c, step.candidate);
    assert_in_range(step.candidate, 0, c->l.candidates - 1);
    account(c, step.candidate, opened);
    c->best_ns += cell_best(c, false);
    c->changes += c->choice != hud_learner_choice(&c->l);
    c->choice = hud_learner_choice(&c->l);
    ns *= c->noise_percent != 0 && cell_draw(&c->random, 100) < c->noise_percent ? 10 : 1;
    c->total_ns += ns;
    c->calls++;
    c->made[step.candidate]++;
    if (step.sample >= 0) {
        assert_in_range(step.sample, 0, LEARNER_BATCH - 1);
        assert_int_equal(c->sampled_by[step.sample], 0);
        c->sampled_by[step.sample] = step.candidate + 1;
        c->ns[step.sample] = ns;
        c->sampled[step.candidate]++;
    }
    return step.candidate;
}

void cell_make_many(struct cell *c, uint64_t calls)
{
    for (uint64_t i = 0; i < calls; i++)
        cell_make(c);
}

uint64_t cell_decide_within(struct cell *c, uint64_t most)
{
    uint64_t calls = c->calls;

    for (; !hud_learner_decided(&c->l); cell_make(c))
        assert_true(c->calls - calls < most);
    return c->calls - calls;
}

uint64_t cell_decide(struct cell *c)
{
    return cell_decide_within(c, 1000000);
}
