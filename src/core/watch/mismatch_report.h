/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * mismatch_report.h - the lines about members of a team whose calls do not fit together: what each
 * of two ranks calls, and the sizes of one whose own do not fit.  Each team prints one line.
 */
#ifndef HUD_MISMATCH_REPORT_H
#define HUD_MISMATCH_REPORT_H

#include "core/team/team.h"

/* A member's call, as far as it is known here. */
struct mismatch_call {
    int kind; /* enum coll_kind; -1: not known */
    int root; /* -1: none, or not known */
    bool sized, falls_back;
    uint64_t bytes;
};

struct mismatch_pair {
    struct mismatch_call own, other;
};

struct mismatch_call hud_mismatch_of_note(const struct wait_note *note);
/* Returns the call that a member publishes for the slot, or no call for -1. */
struct mismatch_call hud_mismatch_of_shape(int slot, uint64_t shape);

/* Reports the calls of this rank and of another rank. */
void hud_mismatch_report(struct hud_team *team, int rank, const struct mismatch_pair *calls);

/* Reports sizes of this rank that do not match: the bytes sent to a rank differ from the bytes
 * received from a rank. */
void hud_mismatch_report_sizes(struct hud_team *team, int kind, size_t sent, size_t received);

#endif
