/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * trials.c - the program bench-trials: several settings of huddle compared on one team of forked
 * processes, in turn (A B C A B C), without MPI.
 *
 *   bench-trials [--ranks N] [--bind core|none] SETTINGS...      SETTINGS is a candidate: lines of
 *                                                                NAME=VALUE; "": huddle's own
 *                                                                choice
 *
 * Every candidate has its own context and team in every process.  When all are set up, the first
 * line of output is:
 *   {"program": "huddle 0.1.0", "ranks": 2, "oversubscribed": false}
 * Then each line of input asks for a comparison, and a line of output answers:
 *   COLLECTIVE BYTES FIGURE_US MIN MAX LOOP LIMIT_US LINE CANDIDATE,CANDIDATE...
 *   {"line_before_ns": 90.1, "line_after_ns": 90.3, "figures": [{"candidate": 0, "refused": 0,
 *   "wrong": 0, "took_ns": [210.0, ...]}, ...]}
 * The times of a candidate that refused calls are meaningless.  struct shots_plan in shots.h
 * explains the numbers of a line; LINE 0: the line transfer is not measured.  The program ends at
 * the end of its input.  Exit status: 0, 1 a process died, 2 bad arguments.
 */
#include "fork_team/fork_team.h"
#include "teams.h"

#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { CANDIDATES = 256, LINE_BYTES = 2048, SETTINGS = 32 };
enum {
    /* Time until waiting ranks forget how busy the machine was during the set-up. */
    SETTLE_S = 1
};

/* The line that rank 0 has read, for all ranks. */
struct order {
    bool over;
    char line[LINE_BYTES];
};

struct job {
    struct shots_page *page;
    struct order *order;
    char **settings; /* the settings of each candidate */
    int candidates;
};

/* A candidate in a process. */
struct trial {
    struct teams_host of;
    char text[LINE_BYTES];
    const char *settings[SETTINGS + 1];
    hud_context *context;
    struct hud_exchange exchange;
};

struct comparison {
    const struct shots_coll *coll;
    struct shots_plan plan;
    size_t bytes;
    int which[CANDIDATES], count;
};

/* Opens a candidate.  Returns false after printing the reason. */
static bool open_trial(struct trial *t, struct fork_rank *self, const char *settings)
{
    struct hud_host host = fork_team_host(self);
    int count = 0;

    snprintf(t->text, sizeof t->text, "%s", settings);
    for (char *rest, *word = strtok_r(t->text, "\n", &rest); word && count < SETTINGS;
         word = strtok_r(NULL, "\n", &rest))
        t->settings[count++] = word;
    host.settings = t->settings;
    t->exchange = fork_team_exchange(self);
    if (hud_context_create(&host, &t->context) != HUD_OK ||
        hud_team_create(t->context, &t->exchange, &t->of.team) != HUD_OK)
        return fprintf(stderr, "huddle: bench-trials: out of memory\n"), false;
    return true;
}

static void close_trials(struct trial *trial, int count)
{
    for (int i = 0; i < count; i++) {
        hud_team_free(trial[i].of.team);
        hud_context_destroy(trial[i].context);
    }
    free(trial);
}

/* Opens all candidates of this process, and makes the first call of each.  Returns NULL after
 * printing the reason. */
static struct trial *open_trials(struct fork_rank *self, const struct job *job)
{
    struct trial *trial = calloc((size_t)job->candidates, sizeof *trial);

    for (int i = 0; trial && i < job->candidates; i++) {
        if (!open_trial(&trial[i], self, job->settings[i])) {
            close_trials(trial, i);
            return NULL;
        }
        hud_barrier(trial[i].of.team);
    }
    return trial;
}

/* ---- one comparison ---- */

static bool take_list(struct comparison *c, char *list, int candidates)
{
    c->count = 0;
    for (char *rest, *word = strtok_r(list, ",", &rest); word; word = strtok_r(NULL, ",", &rest)) {
        int i = atoi(word);
        if (i < 0 || i >= candidates || c->count == CANDIDATES)
            return false;
        c->which[c->count++] = i;
    }
    return c->count > 0;
}

static bool parse(const char *text, int candidates, struct comparison *c)
{
    char name[32], list[LINE_BYTES];
    long long figure_us, limit_us;
    int line;

    *c = (struct comparison){ .count = 0 };
    if (sscanf(text, "%31s %zu %lld %d %d %d %lld %d %2047s", name, &c->bytes, &figure_us,
               &c->plan.min, &c->plan.max, &c->plan.loop, &limit_us, &line, list) != 9)
        return false;
    for (c->coll = teams_colls(); c->coll->name && strcmp(c->coll->name, name) != 0;)
        c->coll++;
    c->plan.figure_ns = figure_us * 1000;
    c->plan.limit_ns = limit_us * 1000;
    c->plan.unlabelled = line == 0;
    return c->coll->name && c->bytes <= (size_t)1 << 31 && c->plan.max >= 1 &&
           c->plan.max <= SHOTS_MAX && c->plan.loop >= 0 && figure_us > 0 && limit_us >= 0 &&
           take_list(c, list, candidates);
}

static void print_figures(const struct comparison *c, const struct shots_figure *f)
{
    printf("{\"line_before_ns\": %.1f, \"line_after_ns\": %.1f, \"figures\": [", f->line_before_ns,
           f->line_after_ns);
    for (int i = 0; i < c->count; i++) {
        printf("%s{\"candidate\": %d, \"refused\": %ld, \"wrong\": %ld, \"took_ns\": [",
               i ? ", " : "", c->which[i], f[i].refused, f[i].wrong);
        for (int shot = 0; shot < f[i].shots; shot++)
            printf("%s%.1f", shot ? ", " : "", f[i].took_ns[shot]);
        printf("]}");
    }
    printf("]}\n");
    fflush(stdout);
}

/* Allocates the buffers.  They are kept, and only grow, because new pages would be part of the
 * first shots.  Returns false if out of memory. */
static bool have_buffers(const struct comparison *c, struct shots_call *call, size_t *have_bytes)
{
    enum { PAGE = 4096 };
    size_t bytes = (shots_buffer_bytes(c->coll, c->bytes, call->ranks) / PAGE + 1) * PAGE;

    if (bytes <= *have_bytes)
        return true;
    free(call->in);
    free(call->out);
    call->in = aligned_alloc(PAGE, bytes);
    call->out = aligned_alloc(PAGE, bytes);
    *have_bytes = bytes;
    if (!call->in || !call->out)
        return false;
    memset(call->in, 0, bytes);
    memset(call->out, 0, bytes);
    return true;
}

/* Makes a comparison.  Returns 0, or an exit status after rank 0 has printed the reason. */
static int compare(const struct comparison *c, struct shots *s, struct shots_call *call,
                   size_t *have_bytes, struct trial *trial)
{
    size_t shots = (size_t)c->count * (size_t)c->plan.max;
    double *took_ns = calloc(shots, sizeof *took_ns);
    struct shots_figure *f = calloc((size_t)c->count, sizeof *f);
    void *host[CANDIDATES];

    call->bytes = c->bytes;
    if (!took_ns || !f || !have_buffers(c, call, have_bytes))
        return fprintf(stderr, "huddle: bench-trials: out of memory\n"),
               1; /* the process ends, so nothing is freed */
    for (int i = 0; i < c->count; i++) {
        f[i].took_ns = took_ns + (size_t)i * (size_t)c->plan.max;
        host[i] = &trial[c->which[i]];
    }
    shots_compare(s, &c->plan, c->coll, call, host, c->count, f);
    if (s->rank == 0)
        print_figures(c, f);
    free(f);
    free(took_ns);
    return 0;
}

/* ---- the processes ---- */

/* Reads a line on rank 0, for all ranks.  Returns false at the end of the input. */
static bool next_order(const struct fork_rank *self, struct order *order)
{
    fork_team_meet(self); /* all ranks have finished the previous line */
    if (self->rank == 0)
        order->over = !fgets(order->line, sizeof order->line, stdin);
    fork_team_meet(self);
    return !order->over;
}

static int work(struct fork_rank *self, void *arg)
{
    const struct job *job = arg;
    struct shots_call call = { .ranks = self->ranks };
    size_t have_bytes = 0;
    struct trial *trial = open_trials(self, job);
    struct comparison c;
    struct shots shots;
    int status = 0;

    if (!trial)
        return 1;
    nanosleep(&(struct timespec){ .tv_sec = SETTLE_S }, NULL);
    shots_join(&shots, job->page, self->rank, self->ranks, NULL);
    if (self->rank == 0)
        printf("{\"program\": \"huddle %s\", \"ranks\": %d, \"oversubscribed\": %s}\n",
               hud_version(), shots.ranks, shots.oversubscribed ? "true" : "false");
    fflush(stdout);
    while (status == 0 && next_order(self, job->order)) {
        bool understood = parse(job->order->line, job->candidates, &c);
        if (!understood && self->rank == 0)
            fprintf(stderr, "huddle: bench-trials: not understood: %s", job->order->line);
        status = understood ? compare(&c, &shots, &call, &have_bytes, trial) : 2;
    }
    fork_team_meet(self);
    close_trials(trial, job->candidates);
    free(call.in);
    free(call.out);
    return status;
}

int main(int argc, char **argv)
{
    int ranks = 2, at = 1;
    bool bind = true;

    for (; at + 1 < argc && !strncmp(argv[at], "--", 2); at += 2) {
        bool fine = !strcmp(argv[at], "--ranks") && (ranks = atoi(argv[at + 1])) >= 2 &&
                    ranks <= FORK_TEAM_MAX;
        if (!strcmp(argv[at], "--bind"))
            fine = (bind = !strcmp(argv[at + 1], "core")) || !strcmp(argv[at + 1], "none");
        if (!fine)
            return fprintf(stderr, "huddle: bench-trials: %s %s: not understood\n", argv[at],
                           argv[at + 1]),
                   2;
    }
    struct job job = { .settings = argv + at, .candidates = argc - at };
    if (job.candidates < 1 || job.candidates > CANDIDATES)
        return fprintf(stderr, "huddle: bench-trials: %d candidates (accepted: 1 to %d)\n",
                       job.candidates, CANDIDATES),
               2;
    job.page = fork_team_shared(shots_page_bytes(ranks));
    job.order = fork_team_shared(sizeof *job.order);
    if (!job.page || !job.order)
        return fprintf(stderr, "huddle: bench-trials: out of memory\n"), 1;
    return fork_team_run(
        &(struct fork_team){ .ranks = ranks, .bind = bind, .body = work, .arg = &job });
}
