/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * delays.h - delays in a sequence of uses, of a line or by a core's stores, compared with the times
 * that were known at first.
 *
 * A delayed use delays later uses and no earlier use.  So each use notes its delay at its number,
 * and sees the delays up to its own number only: two uses that saw each other's delays would delay
 * each other without end.  A number is kept as long as a use at this number or an earlier number is
 * open and may still ask.
 */
#ifndef HUD_SIM_DELAYS_H
#define HUD_SIM_DELAYS_H

struct delay_number {
    double ns; /* delay noted at this number */
    int open;  /* open uses at this number */
};

struct sim_delays {
    double before_ns; /* sum of delays at numbers that are no longer kept */
    /* [room] Ring of the numbers from first to latest.  NULL until a use opens. */
    struct delay_number *kept;
    int room; /* 0 or a power of two */
    unsigned first, latest;
};

/* Opens a use at the next number, which becomes the latest, and returns the number.
 * hud_delays_open opens a use at the latest number.  A use closes once. */
unsigned hud_delays_next(struct sim_delays *delays);
unsigned hud_delays_open(struct sim_delays *delays);
void hud_delays_close(struct sim_delays *delays, unsigned number);

/* Returns the delay seen by an open use at this number.  hud_delays_so_far returns the delay that a
 * use at the latest number sees so far, and hud_delays_note adds a delay at a number. */
double hud_delays_seen(const struct sim_delays *delays, unsigned number);
double hud_delays_so_far(const struct sim_delays *delays);
void hud_delays_note(struct sim_delays *delays, unsigned number, double ns);

/* Frees the memory of a sequence. */
void hud_delays_free(struct sim_delays *delays);

#endif
