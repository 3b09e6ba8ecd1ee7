/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * unlike.h - the lines about members of a team whose calls do not fit together: what each of two
 * ranks calls, and the sizes of one whose own do not fit.  Each team prints one line.
 */
#ifndef HUD_UNLIKE_H
#define HUD_UNLIKE_H

#include "core/team/team.h"

/* A member's call, as far as it is known here. */
struct unlike_call {
    int kind; /* enum coll_kind; -1: not known */
    int root; /* -1: none, or not known */
    bool sized, falls_back;
    uint64_t bytes;
};

struct unlike_pair {
    struct unlike_call own, other;
};

struct unlike_call hud_unlike_of_note(const struct wait_note *note);
/* As a member publishes it for that slot; -1: not known. */
struct unlike_call hud_unlike_of_shape(int slot, uint64_t shape);

/* This rank and that one make these calls. */
void hud_unlike_say(struct hud_team *team, int rank, const struct unlike_pair *calls);

/* This rank gives sizes that do not fit: of what it sends to a rank, and of what it receives of
 * one. */
void hud_unlike_say_unequal(struct hud_team *team, int kind, size_t sent, size_t received);

#endif
