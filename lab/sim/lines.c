/* SPDX-License-Identifier: BSD-3-Clause */
/* lines.c - see lines.h. */
#include "lab/sim/lines.h"
#include "check/grow.h"
#include "lab/sim/sharers.h"
#include "lab/sim/writes.h"

#include <math.h>

/* The uses in progress of a core. */
struct core {
    double settled_ns;           /* time at which its stores have settled */
    struct sim_delays delays;    /* delays of settled_ns, by number of the store */
    const struct sim_line *last; /* line of its latest store */
    double *leaves_ns;           /* [entries] ring: when each entry is free; NULL if unlimited */
    int entry;                   /* entry of the next store */
    bool run;                    /* whether the next miss overlaps with the previous */
    double issued_ns, ended_ns;  /* times of the previous miss */
    int from;                    /* the core that its line came from */
};

struct sim_lines {
    const struct sim_machine *machine;
    struct core *core;                /* [machine->cores] */
    int entries;                      /* length of a store buffer; 0 if it is unlimited */
    double fetch_ns[MACHINE_CLASSES]; /* time to fetch a line for an addition, without add_ns */
};

static const struct sim_need NO_NEED = { .ns = -INFINITY };

static double later(double a, double b)
{
    return a > b ? a : b;
}

struct sim_lines *hud_lines_create(const struct sim_machine *machine)
{
    struct sim_lines *all = hud_must(calloc(1, sizeof *all));

    all->machine = machine;
    all->core = hud_must(calloc((size_t)machine->cores, sizeof *all->core));
    all->entries = (int)machine->lines.store_entries;
    for (int class = 1; class < machine->classes; class ++)
        all->fetch_ns[class] =
            machine->lines.fetch_add_ns[class] > 0
                ? later(machine->lines.fetch_add_ns[class] - machine->lines.add_ns, 0)
                : machine->lines.transfer_ns[class];
    for (int i = 0; all->entries > 0 && i < machine->cores; i++)
        all->core[i].leaves_ns = hud_must(calloc((size_t)all->entries, sizeof(double)));
    return all;
}

void hud_lines_free(struct sim_lines *all)
{
    if (!all)
        return;
    for (int i = 0; i < all->machine->cores; i++) {
        free(all->core[i].leaves_ns);
        hud_delays_free(&all->core[i].delays);
    }
    free(all->core);
    free(all);
}

/* ---- distances ---- */

/* Returns the extra time if the line's home is farther away than this class of cores. */
static double home_ns(const struct sim_lines *all, const struct sim_line *line, int core, int class)
{
    int away = machine_away(all->machine, core, line->home);

    return away > class ? all->machine->lines.home_ns[away] : 0;
}

/* Returns the transfer time of a line from a core to another core that asks for the line. */
static double cross_ns(const struct sim_lines *all, const struct sim_line *line, int from, int to)
{
    int class = machine_class(all->machine, from, to);

    return all->machine->lines.transfer_ns[class] +
           (class > machine_share_class(all->machine) ? home_ns(all, line, to, class) : 0);
}

/* The times for a core to own a line alone, which are all 0 if it does already. */
struct taking {
    bool asks;        /* whether it asks the home */
    double asked_ns;  /* time until the line has come */
    double own_ns;    /* time until the core has it alone */
    double revoke_ns; /* time until a stored value can be seen */
    double gap_ns;    /* time between two such uses */
};

/* Computes these times.  fetch_ns is the time to fetch a line, by class. */
static struct taking taking(const struct sim_lines *all, const struct sim_line *line, int core,
                            const double *fetch_ns)
{
    const struct machine_lines *cost = &all->machine->lines;
    int class = hud_sharers_farthest(line, core, all->machine);
    bool asks = class > machine_share_class(all->machine);

    if (class == MACHINE_OWN)
        return (struct taking){ 0 };
    int others = line->copies - (hud_sharers_has(line, core) ? 1 : 0);
    double asked_ns = fetch_ns[class] + (asks ? home_ns(all, line, core, class) : 0),
           each_ns = (others - 1) * cost->revoke_each_ns;
    return (struct taking){ asks, asked_ns, later(asked_ns, cost->revoke_ns[class]) + each_ns,
                            cost->revoke_ns[class] + each_ns,
                            hud_writes_gap_ns(all->machine, class, others) };
}

/* ---- loads ---- */

/* Returns when the core issues a miss: now, or earlier, while it still waited for the previous
 * miss. */
static double issue(const struct machine_lines *cost, struct core *c, int from, int class,
                    double now_ns)
{
    bool measured = c->from != from && cost->scan_gap_ns[class] > 0;
    double gap_ns = measured ? cost->scan_gap_ns[class] : cost->gap_ns[class],
           issued = c->run ? c->issued_ns + gap_ns + (now_ns - c->ended_ns) : now_ns;

    c->run = true;
    c->issued_ns = issued;
    c->from = from;
    return issued;
}

/* Returns the copy that serves the core instead of the line's owner, or NULL if there is none. */
static struct line_share *share_of(const struct sim_lines *all, const struct sim_line *line,
                                   int core)
{
    int unit = machine_share(all->machine, core);

    for (int i = 0; i < line->shares; i++)
        if (line->share[i].unit == unit)
            return &line->share[i];
    return NULL;
}

/* Records a copy in the core's unit, if units share copies, which can be loaded from this time
 * on. */
static void share(const struct sim_lines *all, struct sim_line *line, int core, double ns)
{
    int unit = machine_share(all->machine, core);

    if (all->machine->lines.share == MACHINE_UNSHARED ||
        unit == machine_share(all->machine, line->owner))
        return;
    line->share = hud_grow(line->share, line->shares + 1, &line->room, sizeof *line->share);
    line->share[line->shares++] = (struct line_share){ .unit = unit, .core = core, .free_ns = ns };
}

struct sim_fetch hud_lines_load(struct sim_lines *all, struct sim_line *line, int core,
                                double now_ns)
{
    const struct machine_lines *cost = &all->machine->lines;
    struct core *c = &all->core[core];
    struct sim_fetch f = { LINES_LOAD,  now_ns,          now_ns + cost->hit_ns, .from = -1,
                           .agent = -1, .line = NO_NEED, .stores = NO_NEED };

    f.takers = hud_delays_open(&line->delays);
    if (hud_sharers_has(line, core)) {
        if (!line->claimed || core != line->owner)
            return f;
        f.line = (struct sim_need){ line->settled_ns, hud_delays_so_far(&line->delays) };
        f.begin_ns = later(now_ns, line->settled_ns);
        f.end_ns = later(f.end_ns, f.begin_ns);
        return f;
    }
    struct line_share *near = share_of(all, line, core);
    double *free_ns = near ? &near->free_ns : &line->free_ns;
    f.from = near ? near->core : line->owner;
    f.shared = near;
    f.line = (struct sim_need){ later(line->visible_ns, *free_ns),
                                near ? near->late_ns : hud_delays_so_far(&line->delays) };
    int class = machine_class(all->machine, f.from, core);
    f.agent = class > machine_share_class(all->machine) ? line->agent : -1;
    f.begin_ns = later(issue(cost, c, f.from, class, now_ns), f.line.ns);
    f.end_ns =
        later(f.end_ns, later(f.begin_ns + cross_ns(all, line, f.from, core), line->settled_ns));
    c->ended_ns = f.end_ns;
    *free_ns = f.begin_ns + cost->serve_ns[class];
    if (!near)
        share(all, line, core, f.end_ns);
    hud_sharers_add(line, core, all->machine);
    return f;
}

void hud_lines_pause(struct sim_lines *all, int core)
{
    all->core[core].run = false;
}

/* ---- stores ---- */

/* Makes the core the sole owner of the line.  Returns the number of this use in the line's
 * delays. */
static unsigned take(struct sim_line *line, int core)
{
    line->owner = core;
    line->copies = 1;
    line->shares = 0;
    line->claimed = false;
    return hud_delays_next(&line->delays);
}

double hud_lines_entry_ns(const struct sim_lines *all, int core)
{
    const struct core *c = &all->core[core];

    return c->leaves_ns ? c->leaves_ns[c->entry] : 0;
}

/* Uses an entry of the store buffer for the core's latest store, until it has settled.  Returns the
 * entry. */
static int use_entry(const struct sim_lines *all, struct core *c)
{
    int entry = c->entry;

    if (!c->leaves_ns)
        return 0;
    c->leaves_ns[entry] = c->settled_ns;
    c->entry = (entry + 1) % all->entries;
    return entry;
}

/* Begins a use that takes the line, as soon as the line is free and the core's stores allow. */
static struct sim_fetch begin(enum sim_use use, const struct sim_line *line, int core, bool asks,
                              double now_ns, struct sim_need stores)
{
    struct sim_fetch f = { use, .from = hud_sharers_has(line, core) ? -1 : line->owner,
                           .agent = asks ? line->agent : -1, .stores = stores };

    f.line = (struct sim_need){ line->free_ns, hud_delays_so_far(&line->delays) };
    f.begin_ns = later(now_ns, later(f.line.ns, stores.ns));
    return f;
}

struct sim_fetch hud_lines_store(struct sim_lines *all, struct sim_line *line, int core,
                                 double now_ns)
{
    struct core *c = &all->core[core];
    struct taking t = taking(all, line, core, all->machine->lines.transfer_ns);
    double early = later(t.own_ns - t.gap_ns, 0); /* the store buffer requests lines early */
    /* A second store to this line. */
    bool follows = line->owner == core && line->copies == 1 && c->last == line;
    struct sim_fetch f = begin(LINES_STORE, line, core, t.asks, now_ns,
                               (struct sim_need){ follows ? -INFINITY : c->settled_ns - early,
                                                  hud_delays_so_far(&c->delays) });

    f.end_ns = later(f.begin_ns + t.own_ns, line->settled_ns);
    f.number = hud_delays_next(&c->delays);
    f.takers = take(line, core);
    line->visible_ns = line->free_ns = f.from < 0 ? f.begin_ns + t.revoke_ns : f.end_ns;
    line->settled_ns = c->settled_ns = f.end_ns;
    c->last = line;
    f.entry = use_entry(all, c);
    return f;
}

struct sim_fetch hud_lines_claim(struct sim_lines *all, struct sim_line *line, int core,
                                 double now_ns)
{
    struct taking t = taking(all, line, core, all->machine->lines.transfer_ns);
    struct sim_fetch f = begin(LINES_CLAIM, line, core, t.asks, now_ns, NO_NEED);
    bool claimed = f.from >= 0 || (line->claimed && line->owner == core);

    f.end_ns = later(f.begin_ns + t.own_ns, line->settled_ns);
    f.takers = take(line, core);
    line->claimed = claimed;
    line->free_ns = f.from < 0 ? f.begin_ns + t.revoke_ns : f.end_ns;
    line->settled_ns = f.end_ns;
    all->core[core].last = NULL;
    return f;
}

/* Returns the time until the core owns a line for an addition.  A measured time for a line that
 * only its owner has includes the revocation of the owner's copy. */
static double add_own_ns(const struct sim_lines *all, const struct sim_line *line, int core,
                         const struct taking *t)
{
    int class = machine_class(all->machine, line->owner, core);
    bool measured = line->copies == 1 && all->machine->lines.fetch_add_ns[class] > 0;

    return measured ? t->asked_ns : t->own_ns;
}

struct sim_fetch hud_lines_add(struct sim_lines *all, struct sim_line *line, int core,
                               double now_ns)
{
    struct core *c = &all->core[core];
    struct taking t = taking(all, line, core, all->fetch_ns);
    struct sim_fetch f = begin(LINES_ADD, line, core, t.asks, now_ns,
                               (struct sim_need){ c->settled_ns, hud_delays_so_far(&c->delays) });

    f.end_ns = later(f.begin_ns + add_own_ns(all, line, core, &t), line->settled_ns) +
               all->machine->lines.add_ns;
    f.number = hud_delays_next(&c->delays);
    f.takers = take(line, core);
    line->visible_ns = line->free_ns = line->settled_ns = c->settled_ns = f.end_ns;
    c->last = line;
    return f;
}

/* ---- delays ---- */

/* Reports whether a use has a number in its core's delays. */
static bool is_store(const struct sim_fetch *f)
{
    return f->use == LINES_STORE || f->use == LINES_ADD;
}

/* Returns the time of a need under its current delay. */
static double there_ns(const struct sim_need *need, double late_ns)
{
    return need->ns + (late_ns - need->late_ns);
}

/* Moves a use's need by the delays of earlier uses.  Records the rest of delay_ns as the use's own
 * delay, and returns it; the rest is smaller if the need was not the reason for the wait. */
static double rest_ns(struct sim_need *need, struct sim_delays *delays, unsigned number,
                      double delay_ns)
{
    double moved_ns = hud_delays_seen(delays, number) - need->late_ns, rest = delay_ns - moved_ns;

    hud_delays_note(delays, number, rest);
    *need = (struct sim_need){ need->ns + moved_ns, hud_delays_seen(delays, number) };
    return rest;
}

static void move_line(struct sim_line *line, double ns)
{
    line->visible_ns += ns;
    line->free_ns += ns;
    line->settled_ns += ns;
}

/* Delays the core's stores from this store on. */
static void move_stores(struct sim_lines *all, struct core *c, const struct sim_fetch *f, double ns)
{
    c->settled_ns += ns;
    if (f->use != LINES_STORE || !c->leaves_ns)
        return;
    int entry = f->entry;
    do {
        c->leaves_ns[entry] += ns;
        entry = (entry + 1) % all->entries;
    } while (entry != c->entry);
}

/* Delays the copy of a unit's shared cache, if this core has brought it there. */
static void move_share(const struct sim_lines *all, struct sim_line *line, int core, double ns)
{
    struct line_share *brought = share_of(all, line, core);

    if (!brought || brought->core != core)
        return;
    brought->free_ns += ns;
    brought->late_ns += ns;
}

void hud_lines_delay(struct sim_lines *all, struct sim_line *line, int core, struct sim_fetch *f,
                     double delay_ns)
{
    struct core *c = &all->core[core];

    f->end_ns += delay_ns;
    if (f->use != LINES_LOAD)
        move_line(line, rest_ns(&f->line, &line->delays, f->takers, delay_ns));
    else if (f->takers == line->delays.latest)
        move_share(all, line, core, delay_ns);
    if (is_store(f))
        move_stores(all, c, f, rest_ns(&f->stores, &c->delays, f->number, delay_ns));
}

double hud_lines_begin(struct sim_lines *all, struct sim_line *line, int core, struct sim_fetch *f)
{
    const struct line_share *near = f->shared ? share_of(all, line, core) : NULL;
    double begin_ns = f->begin_ns;

    if (is_store(f))
        begin_ns = later(begin_ns,
                         there_ns(&f->stores, hud_delays_seen(&all->core[core].delays, f->number)));
    if (!f->shared)
        begin_ns = later(begin_ns, there_ns(&f->line, hud_delays_seen(&line->delays, f->takers)));
    else if (near && f->takers == line->delays.latest)
        begin_ns = later(begin_ns, there_ns(&f->line, near->late_ns));
    double late_ns = begin_ns - f->begin_ns;
    f->begin_ns = begin_ns;
    hud_lines_delay(all, line, core, f, late_ns);
    return begin_ns;
}

void hud_lines_close(struct sim_lines *all, struct sim_line *line, int core,
                     const struct sim_fetch *f)
{
    hud_delays_close(&line->delays, f->takers);
    if (is_store(f))
        hud_delays_close(&all->core[core].delays, f->number);
}
