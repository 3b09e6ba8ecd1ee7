/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * fit.c - the program bench-fit: the four times of paper 01's model (lab/cost/queue.h), measured
 * one by one between processes of this machine, none of them by running a broadcast.
 *
 *   bench-fit [--ranks N] [--bind core|none] [--tree flat|chain|kary|knomial] [--degree K]
 *   [--trials N]
 *
 *   t     Rank 0 copies fresh data into a queue, then all others copy the data out at the same
 *         time.  t is the time per byte of the slower of the two copies.  Data that was just
 *         written is read more slowly, from the writer's nearest cache, than older data.  A root
 *         that runs ahead fills the queue, so the older data are measured.
 *   t_w   Rank 0 posts, and each rank that sees its parent's line posts its own.  The time until
 *         the last rank has seen the post.
 *   t_wo  Rank 0 reads, one after the other, the lines that all others wrote a while ago.
 *   t_a   A rank posts a line that rank 0 has read.
 *
 * Rank 0 writes one JSON object: "ranks", "line_ns" (between rank 0 and the last rank),
 * "notify_ns", "enter_ns", "leave_ns", and "copies", each with bytes, in_ns and out_ns.  Times are
 * medians of the trials, less the time of reading the clock.  Exit status: 0, 1 a process died, 2
 * bad arguments.
 */
#include "fork_team/fork_team.h"
#include "line.h"
#include "shape/shape.h"

#include <stdlib.h>
#include <string.h>

enum {
    RING_BYTES = 1 << 20,
    MIN_BYTES = 4096,
    MAX_BYTES = 1 << 20,
    MAX_TRIALS = 10000,
    PAUSE_NS = 3000,
    SPINS = 1024,
    LINE_NS = 100000000
};

/* A rank's lines and result. */
struct cell {
    _Alignas(128) _Atomic uint64_t round; /* the rank has reached this round */
    _Alignas(128) _Atomic uint64_t line;  /* the line whose transfer is measured */
    int64_t ns;                           /* the rank's result */
};

struct shared {
    struct line line;
    _Alignas(128) char ring[RING_BYTES];
    struct cell cell[];
};

struct fit {
    struct shared *shared;
    struct shape_tree tree;
    int trials;
    bool bind;
    /* this rank's: */
    int rank;
    uint64_t round, seen;
    char *own;
    int64_t clock_cost_ns;
    size_t bytes;
};

static void await(_Atomic uint64_t *line, uint64_t min)
{
    for (unsigned spin = 1; atomic_load_explicit(line, memory_order_acquire) < min; spin++)
        if (spin % SPINS == 0)
            sched_yield();
}

static void post(_Atomic uint64_t *line, uint64_t value)
{
    atomic_store_explicit(line, value, memory_order_release);
}

static void rest(void)
{
    for (int64_t until = clock_ns() + PAUSE_NS; clock_ns() < until;)
        ;
}

/* Runs a barrier, then pauses, so that no line is in flight any more. */
static void meet(struct fit *f)
{
    post(&f->shared->cell[f->rank].round, ++f->round);
    for (int r = 0; r < f->tree.ranks; r++)
        await(&f->shared->cell[r].round, f->round);
    rest();
}

static int64_t since(const struct fit *f, int64_t begin)
{
    return clock_ns() - begin - f->clock_cost_ns;
}

/* ---- measured functions: each returns this rank's ns ----------------------------------------- */

/* Returns the moment at which this rank has seen the post, or on rank 0 the moment of the post. */
static int64_t notify(struct fit *f)
{
    int parent = hud_shape_parent(&f->tree, f->rank);

    if (parent < 0)
        rest(); /* the others are already waiting */
    f->seen++;
    int64_t now = clock_ns();
    if (parent >= 0)
        await(&f->shared->cell[parent].line, f->seen);
    if (hud_shape_child(&f->tree, f->rank, 0) >= 0)
        post(&f->shared->cell[f->rank].line, f->seen);
    return parent >= 0 ? clock_ns() - f->clock_cost_ns : now;
}

static int64_t enter(struct fit *f)
{
    f->seen++;
    if (f->rank != 0)
        post(&f->shared->cell[f->rank].line, f->seen);
    meet(f);
    if (f->rank != 0)
        return 0;
    int64_t begin = clock_ns();
    for (int r = 1; r < f->tree.ranks; r++)
        await(&f->shared->cell[r].line, f->seen);
    return since(f, begin);
}

static int64_t leave(struct fit *f)
{
    f->seen++;
    if (f->rank == 0)
        return 0;
    int64_t begin = clock_ns();
    post(&f->shared->cell[f->rank].line, f->seen);
    return since(f, begin);
}

/* Returns the part of the ring for this trial.  Each trial uses the next part. */
static char *buffer(const struct fit *f)
{
    return f->shared->ring + f->seen * f->bytes % RING_BYTES;
}

static int64_t copy_in(struct fit *f)
{
    f->seen++;
    if (f->rank != 0)
        return 0;
    memset(f->own, (int)f->seen, f->bytes);
    int64_t begin = clock_ns();
    memcpy(buffer(f), f->own, f->bytes);
    return since(f, begin);
}

static int64_t copy_out(struct fit *f)
{
    if (f->rank == 0)
        return 0;
    int64_t begin = clock_ns();
    memcpy(f->own, buffer(f), f->bytes);
    return since(f, begin);
}

/* ---- trials ---------------------------------------------------------------------------------- */

static int by_value(const void *a, const void *b)
{
    int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;

    return (x > y) - (x < y);
}

/* Returns the median over the trials of the slowest rank's time.  All ranks must call this function
 * with the same arguments.  from_start: the functions return moments, and rank 0's moment is the
 * start. */
static double median(struct fit *f, int64_t (*measured)(struct fit *f),
                     int64_t (*then)(struct fit *f), bool from_start, double *second)
{
    static int64_t took[2][MAX_TRIALS];

    for (int t = 0; t < f->trials; t++)
        for (int part = 0; part < (then ? 2 : 1); part++) {
            meet(f);
            f->shared->cell[f->rank].ns = (part == 0 ? measured : then)(f);
            meet(f);
            int64_t max = 0;
            for (int r = from_start; r < f->tree.ranks; r++)
                max = f->shared->cell[r].ns > max ? f->shared->cell[r].ns : max;
            took[part][t] = from_start ? max - f->shared->cell[0].ns : max;
        }
    for (int part = 0; part < 2; part++)
        qsort(took[part], (size_t)f->trials, sizeof **took, by_value);
    if (second)
        *second = (double)took[1][f->trials / 2];
    return (double)took[0][f->trials / 2];
}

static int64_t clock_cost(void)
{
    int64_t min = INT64_MAX;

    for (int i = 0; i < 1000; i++) {
        int64_t begin = clock_ns(), now = clock_ns();
        min = now - begin < min ? now - begin : min;
    }
    return min;
}

static double line_ns(struct fit *f)
{
    uint64_t count = 0;
    double ns = -1;

    meet(f);
    if (f->rank == 0 || f->rank == f->tree.ranks - 1)
        ns = line_measure(&f->shared->line, f->rank != 0, &count, clock_ns() + LINE_NS);
    meet(f);
    return ns;
}

/* Runs all measurements on every rank; rank 0 prints the results. */
static int measure(struct fork_rank *self, void *arg)
{
    struct fit f = *(struct fit *)arg;

    f.rank = self->rank;
    f.own = aligned_alloc(MIN_BYTES, MAX_BYTES);
    f.clock_cost_ns = clock_cost();
    if (!f.own)
        return 1;
    memset(f.own, 0, MAX_BYTES);
    memset(f.shared->ring, 0, RING_BYTES); /* no first touch of a page is measured */
    double line = f.tree.ranks > 1 ? line_ns(&f) : 0;
    double notify_ns = median(&f, notify, NULL, true, NULL),
           enter_ns = median(&f, enter, NULL, false, NULL);
    double leave_ns = median(&f, leave, NULL, false, NULL);
    if (f.rank == 0)
        printf("{\"ranks\": %d, \"line_ns\": %.1f, \"notify_ns\": %.1f, \"enter_ns\": %.1f, "
               "\"leave_ns\": %.1f, \"copies\": [",
               f.tree.ranks, line, notify_ns, enter_ns, leave_ns);
    for (f.bytes = MIN_BYTES; f.bytes <= MAX_BYTES; f.bytes *= 4) {
        double out, in = median(&f, copy_in, copy_out, false, &out);
        if (f.rank == 0)
            printf("%s{\"bytes\": %zu, \"in_ns\": %.1f, \"out_ns\": %.1f}",
                   f.bytes > MIN_BYTES ? ", " : "", f.bytes, in, out);
    }
    if (f.rank == 0)
        printf("]}\n");
    free(f.own);
    return 0;
}

static bool parse_tree(const char *name, struct shape_tree *tree)
{
    int kind = 0;

    while (hud_shape_names[kind] && strcmp(hud_shape_names[kind], name) != 0)
        kind++;
    tree->kind = (enum shape_kind)kind;
    return hud_shape_names[kind] && !shape_by_groups(tree->kind);
}

static bool parse_option(struct fit *f, const char *option, const char *value)
{
    if (!strcmp(option, "--ranks"))
        return (f->tree.ranks = atoi(value)) >= 2 && f->tree.ranks <= FORK_TEAM_MAX;
    if (!strcmp(option, "--bind"))
        return (f->bind = !strcmp(value, "core")) || !strcmp(value, "none");
    if (!strcmp(option, "--tree"))
        return parse_tree(value, &f->tree);
    if (!strcmp(option, "--degree"))
        return (f->tree.degree = atoi(value)) >= 2;
    return !strcmp(option, "--trials") && (f->trials = atoi(value)) >= 1 && f->trials <= MAX_TRIALS;
}

int main(int argc, char **argv)
{
    struct fit fit = { .tree = { .kind = SHAPE_FLAT, .degree = 2, .ranks = 2 },
                       .trials = 400,
                       .bind = true };

    for (int i = 1; i < argc; i += 2)
        if (i + 1 == argc || !parse_option(&fit, argv[i], argv[i + 1]))
            return fprintf(stderr, "huddle: bench-fit: %s: not an option, or not a valid value\n",
                           argv[i]),
                   2;
    fit.shared =
        fork_team_shared(sizeof *fit.shared + (size_t)fit.tree.ranks * sizeof *fit.shared->cell);
    if (!fit.shared)
        return fprintf(stderr, "huddle: bench-fit: out of memory\n"), 1;
    return fork_team_run(&(struct fork_team){
        .ranks = fit.tree.ranks, .bind = fit.bind, .body = measure, .arg = &fit });
}
