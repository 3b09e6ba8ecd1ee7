/* SPDX-License-Identifier: BSD-3-Clause */
/* late.c - see late.h.  Sums are made from the oldest number on, as they are when it is dropped: so
 * they are the same to the last bit, whatever has been dropped. */
#include "sim/late.h"
#include "sim/grow.h"

enum { FIRST_ROOM = 4 };

static struct late_number *at(const struct sim_late *late, unsigned number)
{
    return &late->kept[number & (unsigned)(late->room - 1)];
}

static void grow(struct sim_late *late)
{
    struct sim_late more = *late;

    more.room = late->room ? 2 * late->room : FIRST_ROOM;
    more.kept = hud_must(calloc((size_t)more.room, sizeof *more.kept));
    for (unsigned i = late->first; late->kept && i != late->latest + 1; i++)
        *at(&more, i) = *at(late, i);
    free(late->kept);
    *late = more;
}

/* Nobody will ask for the oldest any more.  The latest stays: a use of it may be yet to come. */
static void drop(struct sim_late *late)
{
    while (late->first != late->latest && at(late, late->first)->open == 0)
        late->before_ns += at(late, late->first++)->ns;
}

unsigned hud_late_open(struct sim_late *late)
{
    if (!late->kept)
        grow(late);
    at(late, late->latest)->open++;
    return late->latest;
}

unsigned hud_late_next(struct sim_late *late)
{
    if (!late->kept || late->latest + 1 - late->first == (unsigned)late->room)
        grow(late);
    *at(late, ++late->latest) = (struct late_number){ 0 };
    hud_late_open(late);
    drop(late);
    return late->latest;
}

void hud_late_close(struct sim_late *late, unsigned number)
{
    at(late, number)->open--;
    drop(late);
}

double hud_late_seen(const struct sim_late *late, unsigned number)
{
    double ns = late->before_ns;

    for (unsigned i = late->first; late->kept && i != number + 1; i++)
        ns += at(late, i)->ns;
    return ns;
}

double hud_late_so_far(const struct sim_late *late)
{
    return hud_late_seen(late, late->latest);
}

void hud_late_note(struct sim_late *late, unsigned number, double ns)
{
    at(late, number)->ns += ns;
}

void hud_late_free(struct sim_late *late)
{
    free(late->kept);
    *late = (struct sim_late){ 0 };
}
