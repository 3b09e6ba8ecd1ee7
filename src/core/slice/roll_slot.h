/* SPDX-License-Identifier: BSD-3-Clause */
/* roll_slot.h - what a member publishes of each call that it enters, with HUDDLE_CHECK.  The
 * protocol is that of core/watch/rollcall.c. */
#ifndef HUD_ROLL_SLOT_H
#define HUD_ROLL_SLOT_H

#include "mem/mem.h"

enum { ROLL_TURNS = 3, ROLL_NAME = 32, ROLL_DETAIL = 56 };

/* A member's call.  All fields except the time must be the same on all members.  Unused bytes are
 * zero. */
struct roll_record {
    char name[ROLL_NAME], detail[ROLL_DETAIL];
    uint64_t bytes;
    int64_t root;
    uint64_t entered_ns;
};

/* A member's lines, in its own slice.  Call number n = 1, 2, 3, ... uses line n mod 3. */
struct roll_slot {
    mem_flag entered[ROLL_TURNS]; /* payload: the record */
    mem_flag left[ROLL_TURNS];    /* payload: when */
};

#endif
