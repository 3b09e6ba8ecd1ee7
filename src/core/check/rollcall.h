/* SPDX-License-Identifier: BSD-3-Clause */
/* rollcall.h - every member publishes the call that it enters, and reads those of the others,
 * before the call begins.  See rollcall.c. */
#ifndef HUD_ROLLCALL_H
#define HUD_ROLLCALL_H

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

/* This member enters call n.  Before, it has seen all members enter call n - 1. */
void HUD_BACKEND(roll_enter)(struct mem *m, uint64_t n, const struct roll_record *mine);
/* Waits until that member has entered call n, in which this one is, and reads its record. */
void HUD_BACKEND(roll_hear)(struct mem *m, uint64_t n, int rank, struct roll_record *theirs);
/* The same without waiting: false if it has not entered.  Also for call n - 1 of a member that has
 * not entered call n, in which this one is. */
bool HUD_BACKEND(roll_look)(struct mem *m, uint64_t n, int rank, struct roll_record *theirs);
/* This member has returned from call n, which it entered last. */
void HUD_BACKEND(roll_leave)(struct mem *m, uint64_t n, uint64_t now_ns);
/* When that member returned from call n - 1, seen from inside call n, or from inside n - 1 itself;
 * 0: it has not. */
uint64_t HUD_BACKEND(roll_left_ns)(struct mem *m, uint64_t n, int rank);

#endif
