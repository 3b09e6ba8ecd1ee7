/* SPDX-License-Identifier: BSD-3-Clause */
/* rollcall.h - every member publishes the call that it enters, and reads those of the others,
 * before the call begins.  See rollcall.c. */
#ifndef HUD_ROLLCALL_H
#define HUD_ROLLCALL_H

#include "core/slice/roll_slot.h"

/* Enters call n.  This member has seen all members enter call n - 1 before. */
void HUD_BACKEND(roll_enter)(struct mem *m, uint64_t n, const struct roll_record *mine);
/* Waits until a member has entered call n, in which this member is, and reads its record. */
void HUD_BACKEND(roll_await)(struct mem *m, uint64_t n, int rank, struct roll_record *theirs);
/* Reads the record without waiting.  Returns false if the member has not entered.  May also ask
 * for call n - 1 of a member that has not entered call n, in which this member is. */
bool HUD_BACKEND(roll_peek)(struct mem *m, uint64_t n, int rank, struct roll_record *theirs);
/* Publishes that this member has returned from call n, its last call. */
void HUD_BACKEND(roll_leave)(struct mem *m, uint64_t n, uint64_t now_ns);
/* Returns when a member returned from call n - 1, seen from inside call n, or from inside n - 1
 * itself, or 0 if the member has not returned. */
uint64_t HUD_BACKEND(roll_left_ns)(struct mem *m, uint64_t n, int rank);

#endif
