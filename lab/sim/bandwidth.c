/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * bandwidth.c - flows in classes of equal paths.  A class counts the bytes that each of its flows
 * would have moved if the flow had been there from the beginning (`served`).  A flow ends when that
 * count reaches its value at the flow's start plus the flow's bytes.  So time advances per class,
 * not per flow.
 */
#include "lab/sim/bandwidth.h"
#include "check/grow.h"

#include <math.h>
#include <stdbool.h>
#include <stdint.h>
#include <string.h>

struct flow {
    double mark; /* value of `served` of the class at which the flow ends */
    uint64_t order;
    int who;
};

struct class
{
    struct flow_path path;
    struct flow *heap; /* flows, lowest mark first */
    int count, room;
    double served, rate; /* bytes and bytes per ns of one flow */
    bool held;           /* the rate is final, while rates are computed */
};

struct resource {
    double capacity, carried;
    /* Total rate of 1..max flows.  NULL if only the capacity limits them. */
    const double *of_flows;
    int max;
    int flows;        /* flows of all classes, while rates are computed */
    double allocated; /* rate of the held classes, while rates are computed */
    double weight;    /* total weight of the other classes */
};

struct sim_bandwidth {
    struct resource *resources;
    int resources_count;
    struct class *classes; /* each with at least one flow */
    int count, room;
    double now, next;
    int ends;    /* the class whose flow ends at `next` */
    bool solved; /* rates, next and ends belong to the current flows */
    /* Not solved, but another flow of the class `ends` ends now, whatever the rates are. */
    bool due;
    uint64_t began;
};

void hud_flow_use(struct flow_path *path, int resource, double weight)
{
    int i = 0;

    if (weight == 0)
        return;
    while (i < path->uses && path->use[i].resource != resource)
        i++;
    if (i == path->uses) {
        path->use = hud_grow(path->use, i + 1, &path->room, sizeof *path->use);
        path->use[path->uses].weight = 0;
        path->use[path->uses++].resource = resource;
    }
    path->use[i].weight += weight;
}

void hud_flow_free(struct flow_path *path)
{
    free(path->use);
    *path = (struct flow_path){ 0 };
}

static void copy_path(struct flow_path *to, const struct flow_path *from)
{
    to->use = hud_grow(to->use, from->uses, &to->room, sizeof *to->use);
    for (int u = 0; u < from->uses; u++)
        to->use[u] = from->use[u];
    to->uses = from->uses;
    to->max_gbps = from->max_gbps;
}

struct sim_bandwidth *hud_bandwidth_create(const double *capacity_gbps, int resources)
{
    struct sim_bandwidth *f = hud_must(calloc(1, sizeof *f));

    f->resources = hud_must(calloc((size_t)resources + 1, sizeof *f->resources));
    f->resources_count = resources;
    for (int i = 0; i < resources; i++)
        f->resources[i].capacity = capacity_gbps[i];
    return f;
}

void hud_bandwidth_limit(struct sim_bandwidth *f, int resource, const double *of_flows, int max)
{
    f->resources[resource].of_flows = of_flows;
    f->resources[resource].max = max;
}

void hud_bandwidth_free(struct sim_bandwidth *f)
{
    if (!f)
        return;
    for (int i = 0; i < f->room; i++) {
        free(f->classes[i].heap);
        hud_flow_free(&f->classes[i].path);
    }
    free(f->classes);
    free(f->resources);
    free(f);
}

/* ---- the flows of a class ---- */

static bool sooner(const struct flow *a, const struct flow *b)
{
    return a->mark != b->mark ? a->mark < b->mark : a->order < b->order;
}

static void swap(struct flow *a, struct flow *b)
{
    struct flow kept = *a;

    *a = *b;
    *b = kept;
}

static void heap_add(struct class *c, const struct flow *flow)
{
    c->heap = hud_grow(c->heap, c->count + 1, &c->room, sizeof *c->heap);
    int i = c->count++;
    c->heap[i] = *flow;
    for (; i > 0 && sooner(&c->heap[i], &c->heap[(i - 1) / 2]); i = (i - 1) / 2)
        swap(&c->heap[i], &c->heap[(i - 1) / 2]);
}

static struct flow heap_take(struct class *c)
{
    struct flow first = c->heap[0];

    c->heap[0] = c->heap[--c->count];
    for (int i = 0, child; (child = 2 * i + 1) < c->count; i = child) {
        if (child + 1 < c->count && sooner(&c->heap[child + 1], &c->heap[child]))
            child++;
        if (!sooner(&c->heap[child], &c->heap[i]))
            break;
        swap(&c->heap[child], &c->heap[i]);
    }
    return first;
}

/* ---- rates ---- */

static double capacity_of(const struct resource *r)
{
    double capacity = r->of_flows && r->flows <= r->max ? r->of_flows[r->flows] : r->capacity;

    return capacity < r->capacity ? capacity : r->capacity;
}

/* Returns the rate at which an open class reaches its own limit or fills one of its resources, if
 * all open classes grow equally. */
static double class_limit(const struct sim_bandwidth *f, const struct class *c)
{
    double min = c->path.max_gbps;

    for (int u = 0; u < c->path.uses; u++) {
        const struct resource *r = &f->resources[c->path.use[u].resource];
        double share = (capacity_of(r) - r->allocated) / r->weight;
        min = share < min ? share : min;
    }
    return min > 0 ? min : 0;
}

static void add_weight(struct sim_bandwidth *f, const struct class *c, double sign)
{
    for (int u = 0; u < c->path.uses; u++)
        f->resources[c->path.use[u].resource].weight += sign * c->count * c->path.use[u].weight;
}

static void clear_uses(struct sim_bandwidth *f, const struct class *c)
{
    for (int u = 0; u < c->path.uses; u++) {
        struct resource *r = &f->resources[c->path.use[u].resource];
        r->allocated = r->weight = 0;
        r->flows = 0;
    }
}

static void count_flows(struct sim_bandwidth *f, const struct class *c)
{
    for (int u = 0; u < c->path.uses; u++)
        f->resources[c->path.use[u].resource].flows += c->count;
}

static void hold(struct sim_bandwidth *f, struct class *c, double rate)
{
    c->held = true;
    c->rate = rate;
    add_weight(f, c, -1);
    for (int u = 0; u < c->path.uses; u++)
        f->resources[c->path.use[u].resource].allocated += rate * c->count * c->path.use[u].weight;
}

/* Computes all rates by progressive filling.  Each round holds all classes whose limit equals the
 * lowest of all limits, except for rounding. */
static void find_rates(struct sim_bandwidth *f)
{
    const double alike = 1 + 1e-9;

    for (int i = 0; i < f->count; i++) {
        f->classes[i].held = false;
        clear_uses(f, &f->classes[i]);
    }
    for (int i = 0; i < f->count; i++) {
        add_weight(f, &f->classes[i], 1);
        count_flows(f, &f->classes[i]);
    }
    for (int open = f->count; open > 0;) {
        double min = INFINITY;
        for (int i = 0; i < f->count; i++)
            if (!f->classes[i].held)
                min = fmin(min, f->classes[i].rate = class_limit(f, &f->classes[i]));
        for (int i = 0; i < f->count; i++)
            if (!f->classes[i].held && f->classes[i].rate <= min * alike) {
                hold(f, &f->classes[i], min);
                open--;
            }
    }
}

static void solve(struct sim_bandwidth *f)
{
    if (f->solved)
        return;
    find_rates(f);
    f->next = INFINITY;
    f->ends = -1;
    for (int i = 0; i < f->count; i++) {
        const struct class *c = &f->classes[i];
        double left = c->heap[0].mark - c->served, end = f->now + (left > 0 ? left / c->rate : 0);
        if (f->ends < 0 || end < f->next ||
            (end == f->next && c->heap[0].order < f->classes[f->ends].heap[0].order)) {
            f->next = end;
            f->ends = i;
        }
    }
    f->solved = true;
    f->due = false;
}

/* ---- time ---- */

static void pass(struct sim_bandwidth *f, double now)
{
    double passed = now - f->now;

    if (passed <= 0)
        return;
    for (int i = 0; i < f->count; i++) {
        struct class *c = &f->classes[i];
        c->served += passed * c->rate;
        for (int u = 0; u < c->path.uses; u++)
            f->resources[c->path.use[u].resource].carried +=
                passed * c->rate * c->count * c->path.use[u].weight;
    }
    f->now = now;
}

static bool same_path(const struct flow_path *a, const struct flow_path *b)
{
    if (a->uses != b->uses || a->max_gbps != b->max_gbps)
        return false;
    for (int u = 0; u < a->uses; u++)
        if (a->use[u].resource != b->use[u].resource || a->use[u].weight != b->use[u].weight)
            return false;
    return true;
}

static struct class *class_of(struct sim_bandwidth *f, const struct flow_path *path)
{
    for (int i = 0; i < f->count; i++)
        if (same_path(&f->classes[i].path, path))
            return &f->classes[i];
    return NULL;
}

static struct class *open_class(struct sim_bandwidth *f, const struct flow_path *path)
{
    int room = f->room;

    f->classes = hud_grow(f->classes, f->count + 1, &f->room, sizeof *f->classes);
    memset(f->classes + room, 0, (size_t)(f->room - room) * sizeof *f->classes);
    struct class *c = &f->classes[f->count++];
    copy_path(&c->path, path);
    c->served = c->rate = 0;
    return c;
}

/* Removes a class.  The last class moves to its place, and the closed class's memory is kept behind
 * the open classes for reuse. */
static void close_class(struct sim_bandwidth *f, int i)
{
    struct class closed = f->classes[i];

    f->classes[i] = f->classes[--f->count];
    f->classes[f->count] = closed;
}

void hud_bandwidth_begin(struct sim_bandwidth *f, const struct flow_path *path, double bytes,
                         double now_ns, int who)
{
    if (now_ns > f->now) {
        solve(f);
        pass(f, now_ns);
    }
    struct class *c = class_of(f, path);
    if (!c)
        c = open_class(f, path);
    heap_add(c, &(struct flow){ .mark = c->served + bytes, .order = f->began++, .who = who });
    f->solved = false;
}

double hud_bandwidth_next(struct sim_bandwidth *f)
{
    if (f->due)
        return f->now;
    solve(f);
    return f->next;
}

int hud_bandwidth_end(struct sim_bandwidth *f)
{
    pass(f, hud_bandwidth_next(f));
    struct class *c = &f->classes[f->ends];
    struct flow flow = heap_take(c);
    if (c->served < flow.mark)
        c->served = flow.mark; /* equal except for rounding */
    f->due = c->count > 0 && c->heap[0].mark <= c->served;
    if (c->count == 0)
        close_class(f, f->ends);
    f->solved = false;
    return flow.who;
}

double hud_bandwidth_rate(struct sim_bandwidth *f, const struct flow_path *path)
{
    solve(f);
    const struct class *c = class_of(f, path);

    return c ? c->rate : 0;
}

double hud_bandwidth_carried(const struct sim_bandwidth *f, int resource)
{
    return f->resources[resource].carried;
}

void hud_bandwidth_forget(struct sim_bandwidth *f)
{
    for (int i = 0; i < f->resources_count; i++)
        f->resources[i].carried = 0;
}
