/* SPDX-License-Identifier: BSD-3-Clause */
/* lines.c - as lines.h tells it. */
#include "sim/lines.h"
#include "sim/grow.h"

#include <math.h>
#include <string.h>

/* What a core has under way. */
struct core {
    double settled_ns;          /* its stores so far */
    double *leaves_ns;          /* [entries] of its store buffer, in a ring: when each is free; NULL: there is always one */
    int entry;                  /* that of its next store */
    bool run;                   /* a further miss overlaps with the one before: */
    double issued_ns, ended_ns; /* of that one */
};

struct sim_lines {
    const struct sim_machine *machine;
    struct core *core; /* [machine->cores] */
    int entries;       /* of a store buffer; 0: as many as are needed */
};

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
    for (int i = 0; all->entries > 0 && i < machine->cores; i++)
        all->core[i].leaves_ns = hud_must(calloc((size_t)all->entries, sizeof(double)));
    return all;
}

void hud_lines_free(struct sim_lines *all)
{
    if (!all)
        return;
    for (int i = 0; i < all->machine->cores; i++)
        free(all->core[i].leaves_ns);
    free(all->core);
    free(all);
}

/* ---- who holds a line ---- */

struct sim_line hud_line_first(int core, int home)
{
    return (struct sim_line){ .owner = core, .home = home, .copies = 1 };
}

void hud_line_clear(struct sim_line *line)
{
    free(line->held);
    free(line->share);
    line->held = NULL;
    line->share = NULL;
}

static size_t words(const struct sim_lines *all)
{
    return ((size_t)all->machine->cores + 63) / 64;
}

static bool holds(const struct sim_line *line, int core)
{
    return line->copies == 1 ? line->owner == core : line->held[core / 64] >> (core % 64) & 1;
}

static void give_copy(const struct sim_lines *all, struct sim_line *line, int core)
{
    if (!line->held)
        line->held = hud_must(calloc(words(all), sizeof *line->held));
    if (line->copies == 1) {
        memset(line->held, 0, words(all) * sizeof *line->held);
        line->held[line->owner / 64] |= UINT64_C(1) << (line->owner % 64);
    }
    line->held[core / 64] |= UINT64_C(1) << (core % 64);
    line->copies++;
}

/* ---- how far ---- */

/* From one core to another that has asked for it; within a shared cache that has it the home is not asked. */
static double cross_ns(const struct sim_lines *all, const struct sim_line *line, int from, int to, bool within)
{
    const struct machine_lines *cost = &all->machine->lines;
    int class = machine_class(all->machine, from, to), away = machine_away(all->machine, to, line->home);

    return cost->transfer_ns[class] + (!within && away > class ? cost->home_ns[away] : 0);
}

/* The class of the holder of a copy that is farthest from the core. */
static int farthest(const struct sim_lines *all, const struct sim_line *line, int core)
{
    int most = machine_class(all->machine, line->owner, core);

    for (size_t w = 0; line->copies > 1 && w < words(all); w++)
        for (uint64_t bits = line->held[w]; bits != 0; bits &= bits - 1) {
            int class = machine_class(all->machine, (int)(w * 64) + __builtin_ctzll(bits), core);
            most = class > most ? class : most;
        }
    return most;
}

/* What it takes a core to have a line alone: nothing, if it has. */
struct taking {
    double own_ns;    /* until it does */
    double revoke_ns; /* until what it stores can be seen */
    double gap_ns;    /* between two such */
};

static struct taking taking(const struct sim_lines *all, const struct sim_line *line, int core)
{
    const struct machine_lines *cost = &all->machine->lines;
    int class = farthest(all, line, core), away = machine_away(all->machine, core, line->home);

    if (class == MACHINE_OWN)
        return (struct taking){ 0 };
    double asked_ns = cost->transfer_ns[class] + (away > class ? cost->home_ns[away] : 0);
    return (struct taking){ later(asked_ns, cost->revoke_ns[class]), cost->revoke_ns[class], cost->gap_ns[class] };
}

/* ---- loads ---- */

/* The core misses now, unless it has issued this load before, in the shadow of another one. */
static double issue(struct core *c, double gap_ns, double now_ns)
{
    double issued = c->run ? c->issued_ns + gap_ns + (now_ns - c->ended_ns) : now_ns;

    c->run = true;
    c->issued_ns = issued;
    return issued;
}

static int unit_of(const struct sim_machine *m, int core)
{
    return m->caches.shared_level < 0 ? 0 : machine_unit(m, m->caches.shared_level, core);
}

/* The shared cache that serves the core instead of the line's owner; NULL: none does. */
static struct line_share *share_of(const struct sim_lines *all, const struct sim_line *line, int core)
{
    int unit = unit_of(all->machine, core);

    for (int i = 0; i < line->shares; i++)
        if (line->share[i].unit == unit)
            return &line->share[i];
    return NULL;
}

/* The core has a copy from this time on; so has its shared cache. */
static void share(const struct sim_lines *all, struct sim_line *line, int core, double ns)
{
    int unit = unit_of(all->machine, core);

    if (unit == unit_of(all->machine, line->owner))
        return;
    line->share = hud_grow(line->share, line->shares + 1, &line->room, sizeof *line->share);
    line->share[line->shares++] = (struct line_share){ .unit = unit, .core = core, .free_ns = ns };
}

struct sim_fetch hud_lines_load(struct sim_lines *all, struct sim_line *line, int core, double now_ns)
{
    const struct machine_lines *cost = &all->machine->lines;
    struct core *c = &all->core[core];
    struct sim_fetch f = { .begin_ns = now_ns, .end_ns = now_ns + cost->hit_ns, .from = -1 };

    if (holds(line, core)) {
        if (line->claimed && core == line->owner)
            f.end_ns = later(f.end_ns, line->settled_ns);
        return f;
    }
    struct line_share *near = share_of(all, line, core);
    double *free_ns = near ? &near->free_ns : &line->free_ns;
    f.from = near ? near->core : line->owner;
    int class = machine_class(all->machine, f.from, core);
    f.begin_ns = later(issue(c, cost->gap_ns[class], now_ns), later(line->visible_ns, *free_ns));
    f.end_ns = later(f.end_ns, later(f.begin_ns + cross_ns(all, line, f.from, core, near), line->settled_ns));
    c->ended_ns = f.end_ns;
    *free_ns = f.begin_ns + cost->serve_ns[class];
    if (!near)
        share(all, line, core, f.end_ns);
    give_copy(all, line, core);
    return f;
}

void hud_lines_pause(struct sim_lines *all, int core)
{
    all->core[core].run = false;
}

/* ---- stores ---- */

static void take(struct sim_line *line, int core)
{
    line->owner = core;
    line->copies = 1;
    line->shares = 0;
    line->claimed = false;
}

double hud_lines_entry_ns(const struct sim_lines *all, int core)
{
    const struct core *c = &all->core[core];

    return c->leaves_ns ? c->leaves_ns[c->entry] : 0;
}

/* Its latest store leaves the buffer when it has settled. */
static void use_entry(const struct sim_lines *all, struct core *c)
{
    if (!c->leaves_ns)
        return;
    c->leaves_ns[c->entry] = c->settled_ns;
    c->entry = (c->entry + 1) % all->entries;
}

struct sim_fetch hud_lines_store(struct sim_lines *all, struct sim_line *line, int core, double now_ns)
{
    struct core *c = &all->core[core];
    struct taking t = taking(all, line, core);
    struct sim_fetch f = { .from = holds(line, core) ? -1 : line->owner };
    double early = later(t.own_ns - t.gap_ns, 0); /* the store buffer asks before the store's turn has come */

    if (line->owner == core && line->copies == 1 && line->settled_ns == c->settled_ns)
        early = INFINITY; /* it follows a store to this very line */
    f.begin_ns = later(now_ns, later(line->free_ns, c->settled_ns - early));
    f.end_ns = later(f.begin_ns + t.own_ns, line->settled_ns);
    take(line, core);
    line->visible_ns = line->free_ns = f.from < 0 ? f.begin_ns + t.revoke_ns : f.end_ns;
    line->settled_ns = c->settled_ns = f.end_ns;
    use_entry(all, c);
    return f;
}

struct sim_fetch hud_lines_claim(struct sim_lines *all, struct sim_line *line, int core, double now_ns)
{
    struct taking t = taking(all, line, core);
    struct sim_fetch f = { .begin_ns = later(now_ns, line->free_ns), .from = holds(line, core) ? -1 : line->owner };
    bool claimed = f.from >= 0 || (line->claimed && line->owner == core);

    f.end_ns = later(f.begin_ns + t.own_ns, line->settled_ns);
    take(line, core);
    line->claimed = claimed;
    line->free_ns = f.from < 0 ? f.begin_ns + t.revoke_ns : f.end_ns;
    line->settled_ns = f.end_ns;
    return f;
}

struct sim_fetch hud_lines_add(struct sim_lines *all, struct sim_line *line, int core, double now_ns)
{
    struct core *c = &all->core[core];
    struct sim_fetch f = { .from = holds(line, core) ? -1 : line->owner, .late_ns = line->late_ns };

    f.begin_ns = later(now_ns, later(line->free_ns, c->settled_ns));
    f.end_ns = later(f.begin_ns + taking(all, line, core).own_ns, line->settled_ns) + all->machine->lines.add_ns;
    take(line, core);
    line->visible_ns = line->free_ns = line->settled_ns = c->settled_ns = f.end_ns;
    return f;
}

void hud_lines_delay(struct sim_lines *all, struct sim_line *line, int core, double delay_ns)
{
    line->late_ns += delay_ns;
    line->visible_ns += delay_ns;
    line->free_ns += delay_ns;
    line->settled_ns += delay_ns;
    if (core < 0)
        return;
    struct core *c = &all->core[core];
    c->settled_ns += delay_ns;
    if (c->leaves_ns)
        c->leaves_ns[(c->entry + all->entries - 1) % all->entries] += delay_ns; /* after an addition: of one that is free already */
}
