/* SPDX-License-Identifier: BSD-3-Clause */
/* delays.c - see delays.h.  Sums start at the oldest number, also when numbers are dropped.  So
 * they are the same to the last bit, whatever has been dropped. */
#include "lab/sim/delays.h"
#include "check/grow.h"

enum { FIRST_ROOM = 4 };

static struct delay_number *at(const struct sim_delays *delays, unsigned number)
{
    return &delays->kept[number & (unsigned)(delays->room - 1)];
}

static void grow(struct sim_delays *delays)
{
    struct sim_delays more = *delays;

    more.room = delays->room ? 2 * delays->room : FIRST_ROOM;
    more.kept = hud_must(calloc((size_t)more.room, sizeof *more.kept));
    for (unsigned i = delays->first; delays->kept && i != delays->latest + 1; i++)
        *at(&more, i) = *at(delays, i);
    free(delays->kept);
    *delays = more;
}

/* Drops the oldest numbers without open uses.  The latest number stays, since a use may still open
 * there. */
static void drop(struct sim_delays *delays)
{
    while (delays->first != delays->latest && at(delays, delays->first)->open == 0)
        delays->before_ns += at(delays, delays->first++)->ns;
}

unsigned hud_delays_open(struct sim_delays *delays)
{
    if (!delays->kept)
        grow(delays);
    at(delays, delays->latest)->open++;
    return delays->latest;
}

unsigned hud_delays_next(struct sim_delays *delays)
{
    if (!delays->kept || delays->latest + 1 - delays->first == (unsigned)delays->room)
        grow(delays);
    *at(delays, ++delays->latest) = (struct delay_number){ 0 };
    hud_delays_open(delays);
    drop(delays);
    return delays->latest;
}

void hud_delays_close(struct sim_delays *delays, unsigned number)
{
    at(delays, number)->open--;
    drop(delays);
}

double hud_delays_seen(const struct sim_delays *delays, unsigned number)
{
    double ns = delays->before_ns;

    for (unsigned i = delays->first; delays->kept && i != number + 1; i++)
        ns += at(delays, i)->ns;
    return ns;
}

double hud_delays_so_far(const struct sim_delays *delays)
{
    return hud_delays_seen(delays, delays->latest);
}

void hud_delays_note(struct sim_delays *delays, unsigned number, double ns)
{
    at(delays, number)->ns += ns;
}

void hud_delays_free(struct sim_delays *delays)
{
    free(delays->kept);
    *delays = (struct sim_delays){ 0 };
}
