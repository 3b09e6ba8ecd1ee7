/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * sequence.c - runs drawn sequences (draw.c), and verifies every byte that arrives.
 */
#include "sequence.h"

#include "check/grow.h"
#include "counters.h"
#include "drawn.h"

/* ---- one rank ---- */

static void run_step(struct sim *sim, struct sequence *q, const struct step *s, int rank)
{
    struct coll c = { .root = s->call.root,
                      .op = s->op,
                      .groups = &q->groups,
                      .param = s->param,
                      .place = &s->slot->place,
                      .cache_bytes = q->cache_bytes };

    call_prepare(&s->call, rank, q->user[rank], sim, &c);
    int status = hud_sim_call(hud_sim_team_mem(q->team, rank), call_alg(&s->call, rank), &c);
    call_verify(&s->call, rank, q->user[rank], sim, status);
}

/* Sets the counters of slots that pretend earlier calls. Gathers, so no rank makes a call before
 * all counters are set. */
static void start_counters(const struct sequence *q, struct mem *m)
{
    bool started = false;

    for (int i = 0; i < q->slots; i++)
        started =
            counters_start(m, q->slot[i].alg, &q->slot[i].place, q->slot[i].before) || started;
    hud_sim_region(m, 0, q->lease_bytes);
    if (started)
        hud_sim_gather(m);
}

/* Runs a sequence in a flight of a rank. The flight's number selects the sequence. */
static void body(struct sim *sim, int flight, void *arg)
{
    struct sequence *all = arg, *q = &all[flight / all->options->ranks];

    start_counters(q, hud_sim_team_mem(q->team, flight % all->options->ranks));
    for (int i = 0; i < q->count; i++)
        run_step(sim, q, &q->steps[i], flight % all->options->ranks);
}

static void report_slots(const struct sequence *q, FILE *to)
{
    for (int i = 0; i < q->slots; i++) {
        const struct alg *alg = q->slot[i].alg;
        for (int p = 0; alg_param_at(alg, p); p++)
            if (alg_param_at(alg, p)->per_call)
                fprintf(to, "  %s/%s %s changes from call to call\n", alg->coll, alg->name,
                        alg_param_at(alg, p)->name);
            else
                fprintf(to, "  %s/%s %s = %ld\n", alg->coll, alg->name, alg_param_at(alg, p)->name,
                        q->slot[i].param[p]);
    }
}

static void report(const struct sequence *all, const struct sim *sim, FILE *to)
{
    static const char *const names[STRUCTURES] = { "flat", "even", "ragged" };
    const struct sequence_options *o = all->options;

    fprintf(to, "%s", hud_sim_report(sim));
    fprintf(to, "  %s groups, %s scheduling; again with:\n", names[o->seed % STRUCTURES],
            hud_sim_strategies[o->seed / STRUCTURES % SIM_STRATEGIES]);
    fprintf(to, "  sim_check --algorithm %s%s%s --ranks %d --teams %d --seed %llu\n",
            o->only ? o->only->coll : "all", o->only ? "/" : "", o->only ? o->only->name : "",
            o->ranks, o->teams, (unsigned long long)o->seed);
    for (int t = 0; t < o->teams; t++) {
        fprintf(to, "  team of ranks from %d on: lease of %zu bytes, %d calls\n", t * o->ranks,
                all[t].lease_bytes, all[t].count);
        report_slots(&all[t], to);
    }
}

/* Makes the team of a sequence from flights of all ranks, and their buffers. */
static void join(struct sequence *q, struct sim *sim, int team)
{
    int ranks = q->options->ranks, *members = hud_must(calloc((size_t)ranks, sizeof *members));

    q->user = hud_must(calloc((size_t)ranks, sizeof *q->user));
    for (int r = 0; r < ranks; r++) {
        members[r] = team * ranks + r;
        q->user[r] = call_user_create(sim, ranks, q->max_bytes);
    }
    q->team = hud_sim_team_create(sim, ranks, members, q->lease_offset, q->lease_bytes);
    free(members);
}

struct sim_options sequence_sim(const struct sequence_options *o, uint64_t strategy,
                                size_t arena_bytes)
{
    return (struct sim_options){ .ranks = o->ranks,
                                 .arena_bytes = arena_bytes,
                                 .seed = o->seed,
                                 .strategy = (enum sim_strategy)(strategy % SIM_STRATEGIES),
                                 .mutate_file = o->mutate_file,
                                 .mutate_line = o->mutate_line,
                                 .mutate = o->mutate };
}

void sequence_count(struct sim *sim, struct sequence_sums *sums)
{
    sums->runs++;
    sums->events += hud_sim_events(sim);
    sums->mutated += hud_sim_mutated(sim);
    hud_sim_free(sim);
}

void sequence_report_core(const struct sim *sim, const char *part, const struct sequence_options *o,
                          FILE *to)
{
    fprintf(to,
            "%s  %s scheduling; again with:\n  sim_check --algorithm core/%s --ranks %d "
            "--seed %llu\n",
            hud_sim_report(sim), hud_sim_strategies[o->seed % SIM_STRATEGIES], part, o->ranks,
            (unsigned long long)o->seed);
}

static bool run(struct sequence *all, size_t arena_bytes, struct sequence_sums *sums, FILE *to)
{
    const struct sequence_options *o = all->options;
    struct sim_options options = sequence_sim(o, o->seed / STRUCTURES, arena_bytes);

    options.flights = o->teams;
    struct sim *sim = hud_sim_create(&options);
    for (int t = 0; t < o->teams; t++)
        join(&all[t], sim, t);
    bool clean = hud_sim_run(sim, body, all);
    if (!clean)
        report(all, sim, to);
    sequence_count(sim, sums);
    for (int t = 0; t < o->teams; t++) {
        for (int r = 0; r < o->ranks; r++)
            call_user_free(all[t].user[r]);
        free(all[t].user);
    }
    return clean;
}

bool sequence_run(const struct sequence_options *options, struct sequence_sums *sums, FILE *to)
{
    struct sequence *all = hud_must(calloc((size_t)options->teams, sizeof *all));
    size_t arena_bytes = 0;
    int calls = 0;

    for (int t = 0; t < options->teams; t++) {
        sequence_draw(&all[t], options, t, options->one_lease ? 0 : arena_bytes);
        arena_bytes += all[t].lease_bytes;
        calls += all[t].count;
    }
    bool clean = calls == 0 || run(all, arena_bytes, sums, to);
    for (int t = 0; t < options->teams; t++) {
        struct sequence *q = &all[t];
        for (int i = 0; i < q->count; i++)
            sums->truncated += q->steps[i].call.shorter >= 0;
        sums->calls += (unsigned long)q->count;
        sequence_free(q);
    }
    free(all);
    return clean;
}
