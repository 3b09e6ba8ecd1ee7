/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * late.h - how much later than was known at first the uses of something are, that follow each
 * other: of a line, or a core's stores.
 *
 * A use that is delayed delays those behind it, and none before it.  So each notes its delay at its
 * number, and sees the delays up to its own number: of all numbers, since two that saw each other
 * would delay each other without end.  A number is kept as long as a use at it, or at one before,
 * is open, that is, may still ask.
 */
#ifndef HUD_SIM_LATE_H
#define HUD_SIM_LATE_H

struct late_number {
    double ns; /* noted here */
    int open;  /* uses */
};

struct sim_late {
    double before_ns;         /* noted at numbers that are not kept any more */
    struct late_number *kept; /* [room] in a ring: first to latest; NULL: none was opened */
    int room;                 /* 0, or a power of two */
    unsigned first, latest;
};

/* A use opens at the next number, which is then the latest, or at the latest: returns it.  A use
 * closes once. */
unsigned hud_late_next(struct sim_late *late);
unsigned hud_late_open(struct sim_late *late);
void hud_late_close(struct sim_late *late, unsigned number);

/* What an open use at this number sees, one to come at the latest sees so far; and it notes. */
double hud_late_seen(const struct sim_late *late, unsigned number);
double hud_late_so_far(const struct sim_late *late);
void hud_late_note(struct sim_late *late, unsigned number, double ns);

void hud_late_free(struct sim_late *late); /* what it holds */

#endif
