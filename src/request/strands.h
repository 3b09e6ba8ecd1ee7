/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * strands.h - strands that are kept.
 *
 * One is reserved for each lane that may have tasks, before it has any: a start cannot run out of
 * memory.  None is freed before the end.
 */
#ifndef HUD_STRANDS_H
#define HUD_STRANDS_H

#include "request/strand.h"

#include <pthread.h>

struct strands {
    pthread_mutex_t lock; /* guards the rest, and what the owner keeps in the same way */
    bool threads;         /* several threads call at a time */
    struct strand *idle;
    int made, reserved;
};

void hud_strands_init(struct strands *pool, bool threads);
/* Those that are idle. */
void hud_strands_destroy(struct strands *pool);

/* No other lock is taken under it. */
void hud_strands_lock(struct strands *pool);
void hud_strands_unlock(struct strands *pool);

/* Under the lock: one more, or one less.  False: no memory. */
bool hud_strands_reserve(struct strands *pool);
void hud_strands_release(struct strands *pool);

/* Takes the lock: one of those that are reserved, and back again. */
struct strand *hud_strands_take(struct strands *pool);
void hud_strands_give_back(struct strands *pool, struct strand *strand);
/* Takes the lock: one that was taken will not be given back. */
void hud_strands_forget(struct strands *pool);

#endif
