/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * watch.h - with HUDDLE_CHECK: a thread that now and then checks the calls in which this rank
 * waits: a team's set-up, a wait for other ranks, a collective of the MPI.  It calls no function of
 * the host.  The lock protects all data that it reads.
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
    struct check *first; /* first of the context's teams */
};

void hud_watch_init(struct watch *watch);
/* Starts the thread, if it does not run yet.  Without a thread no member is named. */
void hud_watch_start(struct watch *watch);
/* Ends the thread, when no team is left. */
void hud_watch_destroy(struct watch *watch);

#endif
