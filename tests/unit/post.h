/* SPDX-License-Identifier: BSD-3-Clause */
/* post.h - messages between ranks that are threads (ranks.h), in a list of this process. */
#ifndef HUD_TEST_POST_H
#define HUD_TEST_POST_H

#include "ranks.h"

extern const struct hud_messages post_messages;

/* Events since post_begin. Protected by a lock while ranks run. */
extern struct post_office {
    int open_calls, cancelled, active;
    bool broken;     /* messages fail, */
    int broken_rank; /* those of one rank, or of all ranks if -1 */
} post_office;

void post_begin(void);
/* Makes messages fail from now on. */
void post_break(void);
/* Frees the messages that were not received. No rank may be running. */
void post_end(void);

#endif
