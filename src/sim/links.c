/* SPDX-License-Identifier: BSD-3-Clause */
/* links.c - meshes, class by class and unit by unit, then a link for each ordered pair of sockets. */
#include "sim/links.h"
#include "sim/grow.h"

#include <stdbool.h>

struct sim_links {
    const struct sim_machine *machine;
    int mesh[MACHINE_CLASSES]; /* the first mesh of a class; -1: none */
    int socket; /* the link from socket 0 to socket 0; -1: none.  (There is none from a socket to itself: its place stays empty.) */
    int count, room;
    struct sim_link *link;
};

static void add(struct sim_links *all, double gbps, int class, int from, int to)
{
    all->link = hud_grow(all->link, all->count + 1, &all->room, sizeof *all->link);
    all->link[all->count++] = (struct sim_link){ .class = class, .from = from, .to = to, .gbps = gbps };
}

/* The unit of a class that a core lies in; the last class is the machine. */
static int unit_of(const struct sim_machine *m, int class, int core)
{
    return class <= m->levels ? machine_unit(m, class - 1, core) : 0;
}

static int units(const struct sim_machine *m, int class)
{
    int most = 0;

    for (int core = 0; core < m->cores; core++)
        most = unit_of(m, class, core) > most ? unit_of(m, class, core) : most;
    return most + 1;
}

static void add_meshes(struct sim_links *all)
{
    const struct sim_machine *m = all->machine;

    for (int class = 0; class < m->classes; class ++) {
        bool there = class != MACHINE_OWN && m->links.mesh_gbps[class] > 0;
        all->mesh[class] = there ? all->count : -1;
        for (int unit = 0; there && unit < units(m, class); unit++)
            add(all, m->links.mesh_gbps[class], class, unit, unit);
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

    all->machine = machine;
    add_meshes(all);
    add_sockets(all);
    return all;
}

void hud_links_free(struct sim_links *all)
{
    if (all)
        free(all->link);
    free(all);
}

int hud_links_way(const struct sim_links *all, int from, int to, int way[LINKS_WAY])
{
    const struct sim_machine *m = all->machine;
    int count = 0, far = machine_class(m, from, to);

    for (int class = 1; class <= far; class ++) {
        if (all->mesh[class] < 0)
            continue;
        way[count++] = all->mesh[class] + unit_of(m, class, from);
        if (class < far)
            way[count++] = all->mesh[class] + unit_of(m, class, to);
    }
    if (all->socket >= 0 && m->socket[from] != m->socket[to])
        way[count++] = all->socket + m->socket[from] * m->sockets + m->socket[to];
    return count;
}

double hud_links_cross(struct sim_links *all, int from, int to, double now_ns)
{
    double bytes = all->machine->lines.size_bytes, delay_ns = 0;
    int way[LINKS_WAY], count = hud_links_way(all, from, to, way);

    for (int i = 0; i < count; i++) {
        struct sim_link *link = &all->link[way[i]];
        double wait_ns = link->free_ns > now_ns ? link->free_ns - now_ns : 0;
        link->free_ns = now_ns + wait_ns + bytes / link->gbps;
        link->bytes += bytes;
        delay_ns = wait_ns > delay_ns ? wait_ns : delay_ns;
    }
    return delay_ns;
}

void hud_links_carry(struct sim_links *all, int from, int to, double bytes)
{
    int way[LINKS_WAY], count = hud_links_way(all, from, to, way);

    for (int i = 0; i < count; i++)
        all->link[way[i]].bytes += bytes;
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
        snprintf(name, LINKS_NAME, "%s %d", hud_machine_class_name(all->machine, l->class), l->from);
}

void hud_links_forget(struct sim_links *all)
{
    for (int i = 0; i < all->count; i++)
        all->link[i].bytes = 0;
}
