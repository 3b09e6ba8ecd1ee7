/* SPDX-License-Identifier: BSD-3-Clause */
/* predict.c - see predict.h. */
#include "lab/sim/predict.h"

#include "check/grow.h"

#include <math.h>

static int class_of(const struct predict_ranks *r, int a, int b)
{
    return machine_class(r->machine, r->core[a], r->core[b]);
}

/* Returns the class of the rank farthest from rank 0, or MACHINE_OWN for a single rank. */
static int farthest(const struct predict_ranks *r)
{
    int class = MACHINE_OWN;

    for (int other = 1; other < r->ranks; other++)
        class = class_of(r, 0, other) > class ? class_of(r, 0, other) : class;
    return class;
}

/* ---- a broadcast through a queue ------------------------------------------------------------- */

static int unit_of(const struct predict_ranks *r, int level, int rank)
{
    /* Level -1 is the machine. */
    return level < 0 ? 0 : machine_unit(r->machine, level, r->core[rank]);
}

/* Returns the number of units of a level that have ranks. */
static int count_units(const struct predict_ranks *r, int level)
{
    int count = 0;

    for (int rank = 0; rank < r->ranks; rank++) {
        bool first = true;
        for (int before = 0; before < rank && first; before++)
            first = unit_of(r, level, before) != unit_of(r, level, rank);
        count += first;
    }
    return count;
}

static int count_sockets(const struct predict_ranks *r)
{
    return count_units(r, hud_topo_level_of(r->machine->topo, "socket"));
}

static double byte_ns(const struct predict_ranks *r)
{
    const struct sim_machine *m = r->machine;
    int level = m->caches.shared_level, units = count_units(r, level), sockets = count_sockets(r),
        readers = units - 1;
    double slowest = m->copy.cached_gbps[farthest(r)];

    for (int rank = 1; rank < r->ranks; rank++)
        readers += unit_of(r, level, rank) == unit_of(r, level, 0);
    slowest = fmin(slowest, m->caches.shared_gbps / fmax(1, readers));
    if (sockets > 1)
        slowest = fmin(slowest, m->links.socket_gbps * sockets / units);
    return 1 / slowest;
}

/* ---- along a tree: as lines.h has it ---- */

/* A rank that has the posted line, and serves the ranks that ask for it, one after the other. */
struct holder {
    int rank; /* -1 if no rank here has it yet */
    double free_ns;
};

/* The times along a tree, for each rank but the root, from its parent's knowledge to its own. */
struct notifying {
    const struct predict_ranks *ranks;
    struct shape_tree tree;
    double *edge_ns;       /* [ranks] */
    struct holder *holder; /* one per unit that fetches a line once */
};

static struct holder *holder_of(const struct notifying *t, int rank)
{
    return &t->holder[machine_share(t->ranks->machine, t->ranks->core[rank])];
}

/* Computes the time of a rank's post, given the copies of its line in the children, of which the
 * farthest counts: seen_ns until the value can be seen, and settled_ns until any rank has it. */
static void post(const struct notifying *t, int rank, double *seen_ns, double *settled_ns)
{
    const struct machine_lines *lines = &t->ranks->machine->lines;
    int class = MACHINE_OWN;

    for (int i = 0, child; (child = hud_shape_child(&t->tree, rank, i)) >= 0; i++)
        class = class_of(t->ranks, rank, child) > class ? class_of(t->ranks, rank, child) : class;
    *seen_ns = lines->post_ns + lines->revoke_ns[class];
    *settled_ns = lines->post_ns + fmax(lines->revoke_ns[class], lines->transfer_ns[class]);
}

/* Computes the times of a rank's children, which all poll.  The rank serves the children in its own
 * unit and one in each other unit, which serves the rest there.  Elder children come first. */
static void notify(const struct notifying *t, int rank)
{
    const struct machine_lines *lines = &t->ranks->machine->lines;
    struct holder *own = holder_of(t, rank);
    double seen_ns, settled_ns;

    for (int i = 0, child; (child = hud_shape_child(&t->tree, rank, i)) >= 0; i++)
        holder_of(t, child)->rank = -1;
    post(t, rank, &seen_ns, &settled_ns);
    *own = (struct holder){ rank, seen_ns };
    for (int i = 0, child; (child = hud_shape_child(&t->tree, rank, i)) >= 0; i++) {
        struct holder *near = holder_of(t, child), *from = near->rank < 0 ? own : near;
        int class = class_of(t->ranks, from->rank, child);
        t->edge_ns[child] = fmax(from->free_ns + lines->transfer_ns[class], settled_ns);
        from->free_ns += lines->serve_ns[class];
        if (from != near)
            *near = (struct holder){ child, t->edge_ns[child] };
    }
}

/* Returns when the last rank knows. */
static double notify_ns(const struct predict_ranks *r, enum shape_kind tree, int degree)
{
    struct notifying t = { .ranks = r, .tree = { tree, degree, r->ranks, 0, r->groups } };
    double last_ns = 0;

    t.edge_ns = hud_must(calloc((size_t)r->ranks, sizeof *t.edge_ns));
    t.holder = hud_must(calloc((size_t)r->machine->cores, sizeof *t.holder));
    for (int rank = 0; rank < r->ranks; rank++)
        notify(&t, rank);
    for (int rank = 0; rank < r->ranks; rank++) {
        double ns = 0;
        for (int below = rank; below > 0; below = hud_shape_parent(&t.tree, below))
            ns += t.edge_ns[below];
        last_ns = fmax(last_ns, ns);
    }
    free(t.edge_ns);
    free(t.holder);
    return last_ns;
}

void hud_predict_queue(const struct predict_ranks *ranks, enum shape_kind tree, int degree,
                       struct cost_queue *c)
{
    const struct machine_lines *lines = &ranks->machine->lines;

    *c = (struct cost_queue){ .byte_ns = byte_ns(ranks),
                              .notify_ns = notify_ns(ranks, tree, degree),
                              .leave_ns = lines->post_ns };
    for (int rank = 1; rank < ranks->ranks; rank++)
        c->enter_ns += lines->gap_ns[class_of(ranks, 0, rank)];
    if (ranks->ranks > 1)
        c->enter_ns += lines->transfer_ns[farthest(ranks)] - lines->gap_ns[farthest(ranks)];
}

/* ---- messages -------------------------------------------------------------------------------- */

void hud_predict_messages(const struct predict_ranks *ranks, struct cost_hockney *c)
{
    const struct sim_machine *m = ranks->machine;
    int class = farthest(ranks);

    c->alpha_ns = 2 * (m->lines.revoke_ns[class] + m->lines.transfer_ns[class]);
    c->beta_ns = 1 / m->copy.cached_gbps[MACHINE_OWN] + 1 / m->copy.cached_gbps[class];
}

/* ---- limits ---------------------------------------------------------------------------------- */

static void fill_level(const struct predict_ranks *r, int level, struct cost_level *of)
{
    int class = MACHINE_OWN;

    of->members = 1;
    for (int rank = 0; rank < r->ranks; rank++) {
        int count;
        if (r->groups->top[rank] < level)
            continue;
        const int *members = shape_members(r->groups, level, rank, &count);
        of->members = count > of->members ? count : of->members;
        class = class_of(r, members[0], rank) > class ? class_of(r, members[0], rank) : class;
    }
    of->line_ns = r->machine->lines.transfer_ns[class];
    of->gap_ns = r->machine->lines.gap_ns[class];
}

/* Returns the highest speed of a copy of bytes that another rank has written, out of the rank's
 * caches, a shared cache, memory, or by the kernel. */
static double best_gbps(const struct predict_ranks *r)
{
    const struct machine_copy *copy = &r->machine->copy;
    double best = fmax(fmax(copy->shared_gbps, copy->memory_gbps[MACHINE_OWN]), copy->kernel_gbps);

    for (int rank = 1; rank < r->ranks; rank++) {
        int class = class_of(r, 0, rank);
        best = fmax(best, fmax(copy->cached_gbps[class], copy->nearest_gbps[class]));
    }
    return best;
}

/* Returns the highest speed if the core adds bytes as they come.  Only the end outside of its own
 * cache takes extra time (copies.h), and no sum is faster than in the core's own cache. */
static double adding_gbps(const struct predict_ranks *r, double best)
{
    double own = r->machine->copy.cached_gbps[MACHINE_OWN],
           sum_ns = 1 / r->machine->reduce.core_gbps;

    return 1 / fmax(sum_ns, 1 / best - 1 / own + fmin(1 / (2 * own), 2 * sum_ns));
}

void hud_predict_node(const struct predict_ranks *ranks, struct cost_node *node)
{
    const struct sim_machine *m = ranks->machine;

    *node = (struct cost_node){ .ranks = ranks->ranks,
                                .levels = ranks->groups->levels,
                                .link_gbps = m->links.socket_gbps };
    for (int l = 0; l < node->levels; l++)
        fill_level(ranks, l, &node->level[l]);
    node->core_gbps = best_gbps(ranks);
    node->reduce_gbps = adding_gbps(ranks, node->core_gbps);
    node->sockets = count_sockets(ranks);
    node->memory_gbps =
        m->memory.node_gbps * count_units(ranks, hud_topo_level_of(m->topo, "numa"));
    node->cache_bytes = m->caches.private_bytes * ranks->ranks +
                        m->caches.shared_bytes * count_units(ranks, m->caches.shared_level);
}
