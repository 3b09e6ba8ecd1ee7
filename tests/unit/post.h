/* SPDX-License-Identifier: BSD-3-Clause */
/* post.h - messages between the ranks of a gang (gang.h): a list of this process. */
#ifndef HUD_TEST_POST_H
#define HUD_TEST_POST_H

#include "gang.h"

extern const struct hud_messages post_messages;

/* What has happened since post_begin; under a lock while ranks run. */
extern struct post_office {
    int open_calls, cancelled, active;
    bool broken;     /* messages fail: */
    int broken_rank; /* those of one rank; -1: all */
} post_office;

void post_begin(void);
/* From now on. */
void post_break(void);
/* No rank runs any more.  What nobody received is freed. */
void post_end(void);

#endif
