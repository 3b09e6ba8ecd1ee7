/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * sequence.c - makes a sequence from its seed, runs it, checks every byte that arrives.
 *
 * Sizes and parameters lie at corners: one byte around a flag's payload, pages, fragments, slots and wraps of the whole region.
 */
#include "sequence.h"

#include "sim/grow.h"
#include "views.h"

#include <string.h>

enum {
    ALGS = 32,            /* most algorithms in alg.def */
    CALLS = 88,           /* of each algorithm: more than two rounds of any ring */
    MOST_BYTES = 1 << 20, /* of a message */
    WORK_BYTES = 8 << 20, /* of messages in one run, times ranks */
    TEXTS = 1 << 16       /* messages begin at one of so many places of a text */
};

struct step {
    const struct alg *alg; /* NULL: end */
    const long *param;
    size_t offset_bytes, slot_bytes, bytes;
    uint64_t op;
    int root;
    int shorter; /* a rank whose view holds shorter_bytes only, -1: none */
    size_t shorter_bytes;
};

struct sequence {
    const struct sequence_options *options;
    uint64_t random;
    uint64_t usual, constant; /* root; it is the root of so many eighths of the calls */
    size_t lease_bytes, most_bytes, work_bytes;
    long param[ALGS][ALG_PARAMS];
    size_t offset_bytes[ALGS], slot_bytes[ALGS];
    uint64_t op[ALGS];
    struct shape_groups groups;
    struct step *steps;
    int count;
    unsigned char *text;
    struct user_buffer **user; /* [ranks] */
    struct sim_team *team;
};

static uint64_t below(struct sequence *q, uint64_t end)
{
    q->random = q->random * 6364136223846793005u + 1442695040888963407u;
    return (q->random >> 33) % end;
}

/* ---- groups ---- */

static int unit_flat(struct sequence *q, int level, int rank, int below_unit)
{
    (void)q, (void)level, (void)rank, (void)below_unit;
    return -1;
}

static int unit_even(struct sequence *q, int level, int rank, int below_unit)
{
    (void)q, (void)below_unit;
    return rank / (level == 0 ? 2 : 8);
}

/* Any two ranks may meet; some ranks span units. */
static int unit_ragged(struct sequence *q, int level, int rank, int below_unit)
{
    (void)rank;
    if (level != 0 && below_unit >= 0)
        return below_unit % 2;
    return below(q, 8) == 0 ? -1 : (int)below(q, 1 + (uint64_t)q->options->ranks / (level == 0 ? 2 : 5));
}

static int (*const units[])(struct sequence *q, int level, int rank, int below_unit) = { unit_flat, unit_even, unit_ragged };
enum { STRUCTURES = sizeof units / sizeof *units };

static void make_groups(struct sequence *q)
{
    enum { LEVELS = 2 };
    int ranks = q->options->ranks;
    int *unit = hud_must(calloc((size_t)(LEVELS * ranks), sizeof *unit));

    for (int level = 0; level < LEVELS; level++)
        for (int r = 0; r < ranks; r++)
            unit[level * ranks + r] = units[q->options->seed % STRUCTURES](q, level, r, level == 0 ? -1 : unit[(level - 1) * ranks + r]);
    struct shape_place place = { .ranks = ranks, .levels = LEVELS, .unit = unit };
    if (hud_shape_groups_build(&place, &q->groups) != 0)
        hud_must(NULL);
    free(unit);
}

/* ---- the lease ---- */

static long corner(struct sequence *q, const struct alg_param *p)
{
    const long corners[] = { p->preset, p->least, p->most, p->least + (long)below(q, (uint64_t)(p->most - p->least) + 1) };

    return corners[below(q, sizeof corners / sizeof *corners)];
}

static void make_layout(struct sequence *q)
{
    static const size_t leases[] = { 256 << 10, 64 << 10, 24 << 10, 1 << 20 };
    size_t at = HUD_LINE; /* struct slice_head */
    int windows = 0;      /* still without their share of what is left */

    for (int a = 0; hud_sim_algs[a]; a++)
        windows += hud_sim_algs[a]->slot_bytes && (!q->options->only || q->options->only == hud_sim_algs[a]);
    q->lease_bytes = leases[below(q, sizeof leases / sizeof *leases)];
    for (int a = 0; hud_sim_algs[a]; a++) {
        const struct alg *alg = hud_sim_algs[a];
        for (int p = 0; alg->params && alg->params[p].name; p++)
            q->param[a][p] = corner(q, &alg->params[p]);
        if (q->options->only && q->options->only != alg)
            continue;
        size_t most = (q->lease_bytes - at) / (alg->slot_bytes && windows > 0 ? (size_t)windows-- : 1);
        q->offset_bytes[a] = at;
        q->slot_bytes[a] = alg_slot_bytes(alg, q->param[a], q->options->ranks, most);
        at += q->slot_bytes[a];
    }
}

/* ---- the calls ---- */

static bool accepts(const struct sequence *q, const struct step *s, size_t bytes)
{
    struct coll c = { .buf = { .bytes = bytes }, .root = s->root, .op = s->op, .groups = &q->groups };

    c.param = s->param;
    c.slot_bytes = s->slot_bytes;
    return alg_accepts(s->alg, &c, q->options->ranks);
}

/* A size at one of the corners, or any. */
static size_t any_size(struct sequence *q, const struct step *s)
{
    static const size_t fixed[] = { 1, 2, 7, 8, 9, 12, 13, 64, 104, 112, 120, 128, 256, 1000, 4096, 8192, 65536 };
    size_t corners[2 * ALG_PARAMS + 6], count = 0;

    for (int p = 0; s->alg->params && s->alg->params[p].name; p++)
        if (s->param[p] > 0) {
            corners[count++] = (size_t)s->param[p];
            corners[count++] = 2 * (size_t)s->param[p];
        }
    for (size_t k = 1; k <= 4; k++)
        corners[count++] = s->slot_bytes / k;
    corners[count++] = 1 + below(q, 2 * s->slot_bytes);
    corners[count++] = 1 + below(q, 128);
    size_t i = below(q, count + sizeof fixed / sizeof *fixed);
    size_t bytes = i < count ? corners[i] : fixed[i - count];
    return bytes + 1 - below(q, 3);
}

static size_t good_size(struct sequence *q, const struct step *s, size_t most_bytes)
{
    for (int tries = 0; tries < 64; tries++) {
        size_t bytes = any_size(q, s);
        if (bytes > 0 && bytes <= most_bytes && accepts(q, s, bytes))
            return bytes;
    }
    return accepts(q, s, 1) ? 1 : 0;
}

/* False: the algorithm has no room in this lease, or takes no size. */
static bool make_step(struct sequence *q, int a, struct step *s)
{
    size_t ranks = (size_t)q->options->ranks;

    *s = (struct step){ .alg = hud_sim_algs[a], .param = q->param[a], .op = q->op[a] + 1, .shorter = -1 };
    s->offset_bytes = q->offset_bytes[a];
    s->slot_bytes = q->slot_bytes[a];
    s->root = (int)(below(q, 8) < q->constant ? q->usual : below(q, ranks));
    if (strcmp(s->alg->coll, "barrier") == 0)
        return s->slot_bytes != 0 && accepts(q, s, 0);
    size_t most = q->work_bytes / ranks < MOST_BYTES ? q->work_bytes / ranks : MOST_BYTES;
    s->bytes = s->slot_bytes != 0 ? good_size(q, s, most) : 0;
    if (s->bytes == 0)
        return false;
    q->work_bytes -= s->bytes * ranks < q->work_bytes ? s->bytes * ranks : q->work_bytes;
    s->shorter_bytes = 1 + below(q, s->bytes);
    int rank = (int)below(q, ranks);
    if (below(q, 6) == 0 && rank != s->root && s->shorter_bytes < s->bytes && accepts(q, s, s->shorter_bytes))
        s->shorter = rank;
    if (s->bytes > q->most_bytes)
        q->most_bytes = s->bytes;
    return true;
}

static void make_steps(struct sequence *q)
{
    int algs = 0;

    while (hud_sim_algs[algs])
        algs++;
    int most = q->options->only ? CALLS : CALLS * algs;
    q->work_bytes = WORK_BYTES;
    q->usual = below(q, (uint64_t)q->options->ranks);
    q->constant = 4 * below(q, 3);
    q->steps = hud_must(calloc((size_t)most, sizeof *q->steps));
    for (int i = 0; i < most; i++) {
        int a = (int)below(q, (uint64_t)algs);
        for (int try = 0; try < algs && q->options->only && hud_sim_algs[a] != q->options->only; try++)
            a = (a + 1) % algs;
        if (make_step(q, a, &q->steps[q->count])) {
            q->op[a]++;
            q->count++;
        }
    }
}

/* Bytes 0..127: never what an empty buffer holds. */
static void make_text(struct sequence *q)
{
    uint32_t x = 1;

    q->text = hud_must(malloc(q->most_bytes + TEXTS));
    for (size_t i = 0; i < q->most_bytes + TEXTS; i++) {
        x = x * 1664525u + 1013904223u;
        q->text[i] = (unsigned char)(x >> 25);
    }
}

/* ---- one rank ---- */

static const unsigned char *message(const struct sequence *q, const struct step *s)
{
    return q->text + (uint32_t)s->op * 40503u % TEXTS;
}

static void check_message(struct sim *sim, const struct sequence *q, const struct step *s, int rank)
{
    const struct user_buffer *b = q->user[rank];
    size_t wrong = user_buffer_differs(b, message(q, s));

    if (wrong < b->view.bytes)
        hud_sim_fail(sim, "wrong result: byte %zu of %zu at rank %d after %s/%s, operation %llu, root %d\n", wrong, b->view.bytes, rank,
                     s->alg->coll, s->alg->name, (unsigned long long)s->op, s->root);
}

static void run_step(struct sim *sim, struct sequence *q, const struct step *s, int rank)
{
    struct user_buffer *b = q->user[rank];
    bool data = s->bytes != 0, shorter = s->shorter == rank;
    struct coll c = { .root = s->root, .op = s->op, .groups = &q->groups, .param = s->param, .slot_bytes = s->slot_bytes };

    if (data) {
        user_buffer_reset(b, shorter ? s->shorter_bytes : s->bytes, hud_sim_random(sim, 2) == 0);
        c.buf = b->view;
        if (rank == s->root)
            user_buffer_fill(b, message(q, s));
    }
    int status = hud_sim_call(hud_sim_team_mem(q->team, rank), s->alg, &c, s->offset_bytes);
    if (status != (shorter ? HUD_ERR_TRUNCATE : HUD_OK))
        hud_sim_fail(sim, "wrong status: %d at rank %d after %s/%s, its view holds %zu of %zu bytes\n", status, rank, s->alg->coll,
                     s->alg->name, c.buf.bytes, s->bytes);
    if (data)
        check_message(sim, q, s, rank);
}

static void body(struct sim *sim, int rank, void *arg)
{
    struct sequence *q = arg;

    for (int i = 0; i < q->count; i++)
        run_step(sim, q, &q->steps[i], rank);
}

/* ---- */

static void report(const struct sequence *q, const struct sim *sim, FILE *to)
{
    static const char *const names[STRUCTURES] = { "flat", "even", "ragged" };
    const struct sequence_options *o = q->options;

    fprintf(to, "%s", hud_sim_report(sim));
    fprintf(to, "  %s groups, %s scheduling, lease of %zu bytes, %d calls; again with:\n", names[o->seed % STRUCTURES],
            hud_sim_strategies[o->seed / STRUCTURES % SIM_STRATEGIES], q->lease_bytes, q->count);
    fprintf(to, "  sim_check --algorithm %s%s%s --ranks %d --seed %llu\n", o->only ? o->only->coll : "all", o->only ? "/" : "",
            o->only ? o->only->name : "", o->ranks, (unsigned long long)o->seed);
    for (int a = 0; hud_sim_algs[a]; a++)
        for (int p = 0; hud_sim_algs[a]->params && hud_sim_algs[a]->params[p].name; p++)
            fprintf(to, "  %s/%s %s = %ld\n", hud_sim_algs[a]->coll, hud_sim_algs[a]->name, hud_sim_algs[a]->params[p].name,
                    q->param[a][p]);
}

static bool run(struct sequence *q, struct sequence_sums *sums, FILE *to)
{
    const struct sequence_options *o = q->options;
    const struct sim_options options = { .ranks = o->ranks,
                                         .arena_bytes = q->lease_bytes,
                                         .seed = o->seed,
                                         .strategy = (enum sim_strategy)(o->seed / STRUCTURES % SIM_STRATEGIES),
                                         .mutate_file = o->mutate_file,
                                         .mutate_line = o->mutate_line,
                                         .mutate = o->mutate };
    struct sim *sim = hud_sim_create(&options);
    int *members = hud_must(calloc((size_t)o->ranks, sizeof *members));

    q->user = hud_must(calloc((size_t)o->ranks, sizeof *q->user));
    for (int r = 0; r < o->ranks; r++) {
        members[r] = r;
        q->user[r] = user_buffer_create(sim, q->most_bytes);
    }
    q->team = hud_sim_team_create(sim, o->ranks, members, 0, q->lease_bytes);
    bool clean = hud_sim_run(sim, body, q);
    if (!clean)
        report(q, sim, to);
    sums->runs++;
    sums->events += hud_sim_events(sim);
    sums->mutated += hud_sim_mutated(sim);
    hud_sim_free(sim);
    for (int r = 0; r < o->ranks; r++)
        free(q->user[r]);
    free(q->user);
    free(members);
    return clean;
}

bool sequence_run(const struct sequence_options *options, struct sequence_sums *sums, FILE *to)
{
    struct sequence q = { .options = options, .random = options->seed * 1000003 + (uint64_t)options->ranks };

    make_groups(&q);
    make_layout(&q);
    make_steps(&q);
    make_text(&q);
    bool clean = q.count == 0 || run(&q, sums, to);
    for (int i = 0; i < q.count; i++) {
        sums->calls++;
        sums->truncated += q.steps[i].shorter >= 0;
    }
    hud_shape_groups_free(&q.groups);
    free(q.steps);
    free(q.text);
    return clean;
}
