/* SPDX-License-Identifier: BSD-3-Clause */
/* report.c - the report of a run that fails. */
#include "check/world.h"

#include <stdarg.h>
#include <stdio.h>

/* Records a report.  Only the first report is kept. */
static __attribute__((format(printf, 2, 0))) void note_list(struct sim *s, const char *format,
                                                            va_list list)
{
    if (!s->failed)
        vsnprintf(s->report, sizeof s->report, format, list);
    s->failed = true;
}

void hud_sim_note(struct sim *s, const char *format, ...)
{
    va_list list;

    va_start(list, format);
    note_list(s, format, list);
    va_end(list);
}

void hud_sim_fail(struct sim *s, const char *format, ...)
{
    va_list list;

    va_start(list, format);
    note_list(s, format, list);
    va_end(list);
    if (s->current)
        sim_abandon(s->current);
}

void hud_sim_race(struct sim *s, const struct sim_event *by, const struct sim_event *other,
                  const char *what, int owner, size_t at)
{
    if (other)
        hud_sim_fail(s,
                     "race on %s of rank %d at byte %zu: no chain of posts and awaits connects\n"
                     "  rank %d %s at %s:%d\n  rank %d %s at %s:%d\n",
                     what, owner, at, other->rank, other->what, other->file, other->line, by->rank,
                     by->what, by->file, by->line);
}
