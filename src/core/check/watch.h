/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * watch.h - with HUDDLE_CHECK: a thread that looks now and then at the calls that this rank is in,
 * wherever it waits: in a team's set-up, for other ranks, or in a collective of the MPI's.  It
 * calls nothing of the host's.  The lock is for all that it looks at.
 */
#ifndef HUD_WATCH_H
#define HUD_WATCH_H

#include <pthread.h>
#include <stdbool.h>

struct check;

struct watch {
    pthread_mutex_t lock;
    pthread_cond_t end;
    pthread_t thread;
    bool can_wait; /* there is an `end` */
    bool running, over;
    struct check *first; /* of the context's teams */
};

void hud_watch_init(struct watch *watch);
/* Starts the thread, if it does not run yet.  No thread: nobody is named. */
void hud_watch_start(struct watch *watch);
/* Ends it.  No team is left. */
void hud_watch_destroy(struct watch *watch);

#endif
