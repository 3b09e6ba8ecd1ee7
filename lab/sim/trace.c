/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * trace.c - records steps as they end; the critical path is followed backwards and then reversed.
 */
#include "lab/sim/trace.h"
#include "check/grow.h"

struct sim_trace hud_trace_create(int ranks)
{
    return (struct sim_trace){ .ranks = ranks,
                               .of = hud_must(calloc((size_t)ranks, sizeof(struct sim_steps))) };
}

void hud_trace_free(struct sim_trace *t)
{
    for (int r = 0; r < t->ranks; r++)
        free(t->of[r].step);
    free(t->of);
}

void hud_trace_restart(struct sim_trace *t, bool on)
{
    t->on = on;
    for (int r = 0; r < t->ranks; r++)
        t->of[r].count = 0;
}

void hud_trace_note(struct sim_trace *t, int rank, const struct sim_step *step)
{
    struct sim_steps *of = &t->of[rank];

    if (!t->on)
        return;
    of->step = hud_grow(of->step, of->count + 1, &of->room, sizeof *of->step);
    of->step[of->count++] = *step;
}

/* ---- the critical path ---- */

struct path {
    struct sim_leg *leg;
    int count, room;
};

static void add(struct path *p, int rank, const struct sim_step *step, double begin_ns,
                double end_ns)
{
    p->leg = hud_grow(p->leg, p->count + 1, &p->room, sizeof *p->leg);
    p->leg[p->count++] = (struct sim_leg){ rank, step, begin_ns, end_ns };
}

/* Returns the rank's last step that began at this time or before, or -1 if there is none. */
static int last_step(const struct sim_steps *of, double ns)
{
    int low = 0, high = of->count;

    while (low < high) {
        int middle = low + (high - low) / 2;
        if (of->step[middle].begin_ns <= ns)
            low = middle + 1;
        else
            high = middle;
    }
    return low - 1;
}

/* Returns the step of the awaited post, by its time and line. */
static int post_step(const struct sim_steps *of, const struct sim_step *waits)
{
    int i = last_step(of, waits->by_ns);

    while (i >= 0 && (of->step[i].begin_ns != waits->by_ns || of->step[i].line != waits->by_line ||
                      of->step[i].file != waits->by_file))
        i--;
    return i;
}

static void turn_round(struct path *p)
{
    for (int i = 0, j = p->count - 1; i < j; i++, j--) {
        struct sim_leg aside = p->leg[i];
        p->leg[i] = p->leg[j];
        p->leg[j] = aside;
    }
}

int hud_trace_path(const struct sim_trace *t, int rank, struct sim_leg **legs)
{
    struct path p = { NULL, 0, 0 };

    for (int i = t->of[rank].count - 1; i >= 0;) {
        const struct sim_step *s = &t->of[rank].step[i];
        int post = s->by >= 0 ? post_step(&t->of[s->by], s) : -1;
        if (post < 0) { /* the trace does not have the post: the path begins here, or
                           continues with the rank's previous step */
            add(&p, rank, s, s->begin_ns, s->end_ns);
            i--;
            continue;
        }
        add(&p, rank, s, s->ready_ns, s->end_ns);
        rank = s->by;
        /* The time from the post until the value is visible. */
        add(&p, rank, &t->of[rank].step[post], s->by_ns, s->ready_ns);
        i = post - 1;
    }
    turn_round(&p);
    *legs = p.leg;
    return p.count;
}
