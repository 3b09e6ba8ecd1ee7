/* SPDX-License-Identifier: BSD-3-Clause */
/* links.c - links by class and unit: meshes, ports out of units, ports into units; then a link for
 * each ordered pair of sockets. */
#include "lab/sim/links.h"
#include "check/grow.h"

#include <string.h>

struct sim_links {
    const struct sim_machine *machine;
    int mesh[MACHINE_CLASSES], out[MACHINE_CLASSES],
        in[MACHINE_CLASSES]; /* index of the first link of a class; -1 without links */
    /* Index of the first link between sockets, which is from socket 0 to itself; -1 without such
     * links.  Links from a socket to itself are never used. */
    int socket;
    int count, room;
    struct sim_link *link;
    double *agent_free_ns;                /* [nodes * agents] */
    int agents;                           /* number per node */
    double now_ns;                        /* time of the latest crossing */
    unsigned long lines[MACHINE_CLASSES]; /* lines that came from a core of this class */
};

static void add(struct sim_links *all, double gbps, int class, int from, int to)
{
    all->link = hud_grow(all->link, all->count + 1, &all->room, sizeof *all->link);
    all->link[all->count++] =
        (struct sim_link){ .class = class, .from = from, .to = to, .gbps = gbps };
}

/* Returns the core's unit of a class; the last class is the machine. */
static int unit_of(const struct sim_machine *m, int class, int core)
{
    return class <= m->levels ? machine_unit(m, class - 1, core) : 0;
}

static int units(const struct sim_machine *m, int class)
{
    int max = 0;

    for (int core = 0; core < m->cores; core++)
        max = unit_of(m, class, core) > max ? unit_of(m, class, core) : max;
    return max + 1;
}

enum direction { WITHIN, OUT, IN };

/* Adds a link for each unit of each class that has such links.  Sets first[class] to its first
 * link. */
static void add_class_links(struct sim_links *all, const double *gbps, enum direction direction,
                            int *first)
{
    const struct sim_machine *m = all->machine;

    for (int k = 0; k < m->classes; k++) {
        bool there = k != MACHINE_OWN && gbps[k] > 0;
        first[k] = there ? all->count : -1;
        for (int unit = 0; there && unit < units(m, k); unit++)
            add(all, gbps[k], k, direction == IN ? LINKS_OUTSIDE : unit,
                direction == OUT ? LINKS_OUTSIDE : unit);
    }
}

static void add_sockets(struct sim_links *all)
{
    const struct sim_machine *m = all->machine;

    all->socket = m->sockets > 1 && m->links.socket_gbps > 0 ? all->count : -1;
    for (int from = 0; all->socket >= 0 && from < m->sockets; from++)
        for (int to = 0; to < m->sockets; to++)
            add(all, m->links.socket_gbps, -1, from, to);
}

struct sim_links *hud_links_create(const struct sim_machine *machine)
{
    struct sim_links *all = hud_must(calloc(1, sizeof *all));
    double out[MACHINE_CLASSES];

    all->machine = machine;
    add_class_links(all, machine->links.mesh_gbps, WITHIN, all->mesh);
    for (int k = 0; k < machine->classes; k++)
        out[k] = machine->links.port_out_gbps[k] > 0 ? machine->links.port_out_gbps[k]
                                                     : machine->links.port_gbps[k];
    add_class_links(all, out, OUT, all->out);
    add_class_links(all, machine->links.port_gbps, IN, all->in);
    add_sockets(all);
    all->agents = machine->lines.home_agents > 0 ? (int)machine->lines.home_agents : 1;
    all->agent_free_ns =
        hud_must(calloc((size_t)(machine->nodes * all->agents) + 1, sizeof *all->agent_free_ns));
    return all;
}

void hud_links_free(struct sim_links *all)
{
    if (!all)
        return;
    free(all->link);
    free(all->agent_free_ns);
    free(all);
}

static void cross_unit(int first, int unit, int way[LINKS_WAY], int *count)
{
    if (first >= 0)
        way[(*count)++] = first + unit;
}

int hud_links_between(const struct sim_links *all, struct links_end from, struct links_end to,
                      int way[LINKS_WAY])
{
    const struct sim_machine *m = all->machine;
    int count = 0;

    for (int k = 1; k < m->classes; k++) {
        int a = unit_of(m, k, from.core), b = unit_of(m, k, to.core);
        bool met = a == b && k >= from.lowest && k >= to.lowest;
        if (k >= from.lowest)
            cross_unit(all->mesh[k], a, way, &count);
        if (met)
            break;
        if (k >= from.lowest)
            cross_unit(all->out[k], a, way, &count);
        if (k >= to.lowest) {
            cross_unit(all->in[k], b, way, &count);
            cross_unit(all->mesh[k], b, way, &count);
        }
    }
    if (all->socket >= 0 && m->socket[from.core] != m->socket[to.core])
        way[count++] = all->socket + m->socket[from.core] * m->sockets + m->socket[to.core];
    return count;
}

int hud_links_way(const struct sim_links *all, int from, int to, int way[LINKS_WAY])
{
    return from == to ? 0
                      : hud_links_between(all, (struct links_end){ from, 0 },
                                          (struct links_end){ to, 0 }, way);
}

double hud_links_cross(struct sim_links *all, int from, int to, double now_ns)
{
    double delay_ns = 0;
    int way[LINKS_WAY], count = hud_links_way(all, from, to, way);

    if (now_ns < all->now_ns)
        return -1;
    all->now_ns = now_ns;
    all->lines[machine_class(all->machine, from, to)]++;
    for (int i = 0; i < count; i++) {
        struct sim_link *link = &all->link[way[i]];
        double wait_ns = link->free_ns > now_ns ? link->free_ns - now_ns : 0;
        link->free_ns = now_ns + wait_ns + all->machine->lines.size_bytes / link->gbps;
        link->bytes += all->machine->lines.size_bytes;
        delay_ns = wait_ns > delay_ns ? wait_ns : delay_ns;
    }
    return delay_ns;
}

int hud_links_agent(const struct sim_links *all, int node, size_t index)
{
    return all->machine->lines.home_busy_ns > 0
               ? node * all->agents + (int)(index % (size_t)all->agents)
               : -1;
}

double hud_links_ask(struct sim_links *all, int agent, double now_ns)
{
    double *free_ns = &all->agent_free_ns[agent];
    double wait_ns = *free_ns > now_ns ? *free_ns - now_ns : 0;

    if (now_ns < all->now_ns)
        return -1;
    all->now_ns = now_ns;
    *free_ns = now_ns + wait_ns + all->machine->lines.home_busy_ns;
    return wait_ns;
}

int hud_links_count(const struct sim_links *all)
{
    return all->count;
}

const struct sim_link *hud_links_get(const struct sim_links *all, int link)
{
    return &all->link[link];
}

void hud_links_name(const struct sim_links *all, int link, char name[LINKS_NAME])
{
    const struct sim_link *l = &all->link[link];

    if (l->class < 0)
        snprintf(name, LINKS_NAME, "socket %d to %d", l->from, l->to);
    else
        snprintf(name, LINKS_NAME, "%s %d%s", hud_machine_class_name(all->machine, l->class),
                 l->from < 0 ? l->to : l->from,
                 l->from < 0 ? " in"
                 : l->to < 0 ? " out"
                             : "");
}

unsigned long hud_links_lines(const struct sim_links *all, int class)
{
    return all->lines[class];
}

void hud_links_forget(struct sim_links *all)
{
    memset(all->lines, 0, sizeof all->lines);
    for (int i = 0; i < all->count; i++)
        all->link[i].bytes = 0;
}
