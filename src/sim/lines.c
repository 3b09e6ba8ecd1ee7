/* SPDX-License-Identifier: BSD-3-Clause */
/* lines.c - see lines.h. */
#include "sim/lines.h"
#include "sim/grow.h"
#include "sim/holders.h"

#include <math.h>

/* What a core has under way. */
struct core {
    double settled_ns;           /* its stores so far */
    struct sim_late late;        /* they are, by number */
    const struct sim_line *last; /* that it stored to */
    double *leaves_ns; /* [entries] of its store buffer, in a ring: when each is free; NULL: there
                          is always one */
    int entry;         /* that of its next store */
    bool run;          /* a further miss overlaps with the one before: */
    double issued_ns, ended_ns; /* of that one, */
    int from;                   /* and the core that its line came from */
};

struct sim_lines {
    const struct sim_machine *machine;
    struct core *core;                /* [machine->cores] */
    int entries;                      /* of a store buffer; 0: as many as are needed */
    double fetch_ns[MACHINE_CLASSES]; /* a line that comes to be added to, without add_ns */
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
        hud_late_free(&all->core[i].late);
    }
    free(all->core);
    free(all);
}

/* ---- how far ---- */

/* A class of cores, and what it takes longer as the home is farther away. */
static double home_ns(const struct sim_lines *all, const struct sim_line *line, int core, int class)
{
    int away = machine_away(all->machine, core, line->home);

    return away > class ? all->machine->lines.home_ns[away] : 0;
}

/* From one core to another that has asked for it. */
static double cross_ns(const struct sim_lines *all, const struct sim_line *line, int from, int to)
{
    int class = machine_class(all->machine, from, to);

    return all->machine->lines.transfer_ns[class] +
           (class > machine_share_class(all->machine) ? home_ns(all, line, to, class) : 0);
}

/* What it takes a core to have a line alone: nothing, if it has. */
struct taking {
    bool asks;        /* the home */
    double asked_ns;  /* until the line has come */
    double own_ns;    /* until the core has it alone */
    double revoke_ns; /* until what it stores can be seen */
    double gap_ns;    /* between two such */
};

/* fetch_ns: of a line, by class. */
static struct taking taking(const struct sim_lines *all, const struct sim_line *line, int core,
                            const double *fetch_ns)
{
    const struct machine_lines *cost = &all->machine->lines;
    int class = hud_holders_farthest(line, core, all->machine);
    bool asks = class > machine_share_class(all->machine);

    if (class == MACHINE_OWN)
        return (struct taking){ 0 };
    int others = line->copies - (hud_holders_has(line, core) ? 1 : 0);
    double asked_ns = fetch_ns[class] + (asks ? home_ns(all, line, core, class) : 0),
           each_ns = (others - 1) * cost->revoke_each_ns,
           gap_ns = cost->store_gap_ns[class] > 0 ? cost->store_gap_ns[class] : cost->gap_ns[class];
    return (struct taking){ asks, asked_ns, later(asked_ns, cost->revoke_ns[class]) + each_ns,
                            cost->revoke_ns[class] + each_ns, gap_ns };
}

/* ---- loads ---- */

/* The core misses now, unless it has issued this load before, in the shadow of another one. */
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

/* The copy that serves the core instead of the line's owner; NULL: none does. */
static struct line_share *share_of(const struct sim_lines *all, const struct sim_line *line,
                                   int core)
{
    int unit = machine_share(all->machine, core);

    for (int i = 0; i < line->shares; i++)
        if (line->share[i].unit == unit)
            return &line->share[i];
    return NULL;
}

/* The core has a copy from this time on; so have those that share it. */
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
    struct sim_fetch f = { LINES_LOAD,      now_ns,           now_ns + cost->hit_ns,
                           .from = -1,      .agent = -1,      .takers = hud_late_open(&line->late),
                           .line = NO_NEED, .stores = NO_NEED };

    if (hud_holders_has(line, core)) {
        if (!line->claimed || core != line->owner)
            return f;
        f.line = (struct sim_need){ line->settled_ns, hud_late_so_far(&line->late) };
        f.begin_ns = later(now_ns, line->settled_ns);
        f.end_ns = later(f.end_ns, f.begin_ns);
        return f;
    }
    struct line_share *near = share_of(all, line, core);
    double *free_ns = near ? &near->free_ns : &line->free_ns;
    f.from = near ? near->core : line->owner;
    f.shared = near;
    f.line = (struct sim_need){ later(line->visible_ns, *free_ns),
                                near ? near->late_ns : hud_late_so_far(&line->late) };
    int class = machine_class(all->machine, f.from, core);
    f.agent = class > machine_share_class(all->machine) ? line->agent : -1;
    f.begin_ns = later(issue(cost, c, f.from, class, now_ns), f.line.ns);
    f.end_ns =
        later(f.end_ns, later(f.begin_ns + cross_ns(all, line, f.from, core), line->settled_ns));
    c->ended_ns = f.end_ns;
    *free_ns = f.begin_ns + cost->serve_ns[class];
    if (!near)
        share(all, line, core, f.end_ns);
    hud_holders_add(line, core, all->machine);
    return f;
}

void hud_lines_pause(struct sim_lines *all, int core)
{
    all->core[core].run = false;
}

/* ---- stores ---- */

/* Returns the use's number among those that take the line. */
static unsigned take(struct sim_line *line, int core)
{
    line->owner = core;
    line->copies = 1;
    line->shares = 0;
    line->claimed = false;
    return hud_late_next(&line->late);
}

double hud_lines_entry_ns(const struct sim_lines *all, int core)
{
    const struct core *c = &all->core[core];

    return c->leaves_ns ? c->leaves_ns[c->entry] : 0;
}

/* Its latest store leaves the buffer when it has settled. */
static int use_entry(const struct sim_lines *all, struct core *c)
{
    int entry = c->entry;

    if (!c->leaves_ns)
        return 0;
    c->leaves_ns[entry] = c->settled_ns;
    c->entry = (entry + 1) % all->entries;
    return entry;
}

/* A use that takes the line begins when it is free, and no sooner than the core's stores allow. */
static struct sim_fetch begin(enum sim_use use, const struct sim_line *line, int core, bool asks,
                              double now_ns, struct sim_need stores)
{
    struct sim_fetch f = { use, .from = hud_holders_has(line, core) ? -1 : line->owner,
                           .agent = asks ? line->agent : -1, .stores = stores };

    f.line = (struct sim_need){ line->free_ns, hud_late_so_far(&line->late) };
    f.begin_ns = later(now_ns, later(f.line.ns, stores.ns));
    return f;
}

struct sim_fetch hud_lines_store(struct sim_lines *all, struct sim_line *line, int core,
                                 double now_ns)
{
    struct core *c = &all->core[core];
    struct taking t = taking(all, line, core, all->machine->lines.transfer_ns);
    double early =
        later(t.own_ns - t.gap_ns, 0); /* the store buffer asks before the store's turn has come */
    bool follows =
        line->owner == core && line->copies == 1 && c->last == line; /* a store to this very line */
    struct sim_fetch f = begin(LINES_STORE, line, core, t.asks, now_ns,
                               (struct sim_need){ follows ? -INFINITY : c->settled_ns - early,
                                                  hud_late_so_far(&c->late) });

    f.end_ns = later(f.begin_ns + t.own_ns, line->settled_ns);
    f.number = hud_late_next(&c->late);
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

/* Until a line is its core's, to be added to.  A measured time of a line that only its owner has
 * includes that the owner gives it up. */
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
                               (struct sim_need){ c->settled_ns, hud_late_so_far(&c->late) });

    f.end_ns = later(f.begin_ns + add_own_ns(all, line, core, &t), line->settled_ns) +
               all->machine->lines.add_ns;
    f.number = hud_late_next(&c->late);
    f.takers = take(line, core);
    line->visible_ns = line->free_ns = line->settled_ns = c->settled_ns = f.end_ns;
    c->last = line;
    return f;
}

/* ---- what comes later than was known ---- */

/* It has a number among its core's. */
static bool is_store(const struct sim_fetch *f)
{
    return f->use == LINES_STORE || f->use == LINES_ADD;
}

/* When a need is there, be it late by now. */
static double there_ns(const struct sim_need *need, double late_ns)
{
    return need->ns + (late_ns - need->late_ns);
}

/* How late a use is that counts on it, and has moved with it: it has moved by the rest itself.  Not
 * by more, if it was not the need that it waited for. */
static double rest_ns(struct sim_need *need, struct sim_late *late, unsigned number,
                      double delay_ns)
{
    double moved_ns = hud_late_seen(late, number) - need->late_ns, rest = delay_ns - moved_ns;

    hud_late_note(late, number, rest);
    *need = (struct sim_need){ need->ns + moved_ns, hud_late_seen(late, number) };
    return rest;
}

static void move_line(struct sim_line *line, double ns)
{
    line->visible_ns += ns;
    line->free_ns += ns;
    line->settled_ns += ns;
}

/* The core's stores from this one on. */
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

/* A core that takes it from the shared cache waits for the core that has brought it there. */
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
        move_line(line, rest_ns(&f->line, &line->late, f->takers, delay_ns));
    else if (f->takers == line->late.latest)
        move_share(all, line, core, delay_ns);
    if (is_store(f))
        move_stores(all, c, f, rest_ns(&f->stores, &c->late, f->number, delay_ns));
}

double hud_lines_begin(struct sim_lines *all, struct sim_line *line, int core, struct sim_fetch *f)
{
    const struct line_share *near = f->shared ? share_of(all, line, core) : NULL;
    double begin_ns = f->begin_ns;

    if (is_store(f))
        begin_ns =
            later(begin_ns, there_ns(&f->stores, hud_late_seen(&all->core[core].late, f->number)));
    if (!f->shared)
        begin_ns = later(begin_ns, there_ns(&f->line, hud_late_seen(&line->late, f->takers)));
    else if (near && f->takers == line->late.latest)
        begin_ns = later(begin_ns, there_ns(&f->line, near->late_ns));
    double late_ns = begin_ns - f->begin_ns;
    f->begin_ns = begin_ns;
    hud_lines_delay(all, line, core, f, late_ns);
    return begin_ns;
}

void hud_lines_close(struct sim_lines *all, struct sim_line *line, int core,
                     const struct sim_fetch *f)
{
    hud_late_close(&line->late, f->takers);
    if (is_store(f))
        hud_late_close(&all->core[core].late, f->number);
}
