/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * entries.c - to be preloaded with calls.c: entry points of the libraries that huddle uses, which
 * fail as a whole, and huddle's own entry points, whose results are recorded.
 */
#define _GNU_SOURCE
#include "points.h"

#include "huddle/huddle.h"

#include <errno.h>
#include <hwloc.h>
#include <stdint.h>

#define CALLER __builtin_return_address(0)
#define PUBLIC __attribute__((visibility("default")))
#define REAL(library, name)                                                                        \
    ({                                                                                             \
        static __typeof__(&name) real;                                                             \
        if (!real)                                                                                 \
            real = (__typeof__(&name))faults_find(#name, library);                                 \
        real;                                                                                      \
    })
#define CALL(library, type, name, failed, parameters, arguments)                                   \
    PUBLIC type name parameters                                                                    \
    {                                                                                              \
        return faults_meet(#name, CALLER) != FAULT_NONE ? (failed)                                 \
                                                        : REAL(library, name) arguments;           \
    }

/* ---- hwloc ----------------------------------------------------------------------------------- */

#define HWLOC(...) CALL("libhwloc.so.15", __VA_ARGS__)
HWLOC(int, hwloc_topology_init, -1, (hwloc_topology_t * machine), (machine))
HWLOC(int, hwloc_topology_load, -1, (hwloc_topology_t machine), (machine))
HWLOC(int, hwloc_topology_set_flags, -1, (hwloc_topology_t machine, unsigned long flags),
      (machine, flags))
HWLOC(int, hwloc_topology_set_all_types_filter, -1,
      (hwloc_topology_t machine, enum hwloc_type_filter_e filter), (machine, filter))
HWLOC(int, hwloc_topology_set_type_filter, -1,
      (hwloc_topology_t machine, hwloc_obj_type_t type, enum hwloc_type_filter_e filter),
      (machine, type, filter))

/* ---- huddle: each team gets a number, in the order in which a rank creates them
 * ---------------- */

enum { TEAMS = 256 };

static struct team {
    hud_team *team;
    int number;
} teams[TEAMS];
static int made;

static struct team *find(const hud_team *team)
{
    for (int i = 0; i < TEAMS; i++)
        if (teams[i].team == team)
            return &teams[i];
    return NULL;
}

static int note(const hud_team *team, const char *call, int status)
{
    const struct team *known = find(team);

    faults_note("call %d %s %d\n", known ? known->number : -1, call, status);
    return status;
}

#define HUDDLE(name) REAL("libhuddle.so.0", name)

PUBLIC int hud_context_create(const struct hud_host *host, hud_context **context)
{
    int status = HUDDLE(hud_context_create)(host, context);

    faults_note("context %d\n", status);
    return status;
}

PUBLIC void hud_context_destroy(hud_context *context)
{
    HUDDLE(hud_context_destroy)(context);
    if (context)
        faults_write();
}

PUBLIC int hud_team_create(hud_context *context, const struct hud_exchange *exchange,
                           hud_team **team)
{
    int status = HUDDLE(hud_team_create)(context, exchange, team);
    struct team *room = status == HUD_OK ? find(NULL) : NULL;

    if (room)
        *room = (struct team){ *team, made };
    faults_note("team %d %d %d %d\n", made++, exchange->size(exchange->arg),
                exchange->rank(exchange->arg), status);
    return status;
}

PUBLIC void hud_team_free(hud_team *team)
{
    struct team *known = team ? find(team) : NULL;

    if (known)
        known->team = NULL;
    HUDDLE(hud_team_free)(team);
}

/*
 * Entry points of single collectives. Arguments are passed on unchanged: the team and at most five
 * words, each a pointer or a number.
 */
#define COLL(ID, name, ...)                                                                        \
    PUBLIC int noted_##name(hud_team *team, uintptr_t a, uintptr_t b, uintptr_t c, uintptr_t d,    \
                            uintptr_t e) __asm__("hud_" #name);                                    \
    int noted_##name(hud_team *team, uintptr_t a, uintptr_t b, uintptr_t c, uintptr_t d,           \
                     uintptr_t e)                                                                  \
    {                                                                                              \
        static __typeof__(&noted_##name) real;                                                     \
        if (!real)                                                                                 \
            real = (__typeof__(real))faults_find("hud_" #name, "libhuddle.so.0");                  \
        return note(team, #name, real(team, a, b, c, d, e));                                       \
    }
#include "coll/coll.def"
#undef COLL

PUBLIC int hud_call(hud_team *team, const struct hud_args *args)
{
#define COLL(ID, name, ...) #name,
    static const char *const names[] = {
#include "coll/coll.def"
    };

    return note(team, names[args->collective], HUDDLE(hud_call)(team, args));
}
