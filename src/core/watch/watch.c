/* SPDX-License-Identifier: BSD-3-Clause */
/* watch.c - the thread of HUDDLE_CHECK. */
#include "core/watch/watch.h"
#include "core/watch/check.h"

#include <signal.h>

enum { CHECK_EVERY_MS = 50 };

/* Sleeps a little; called under the lock. */
static void sleep_a_little(struct watch *w)
{
    struct timespec until;

    clock_gettime(CLOCK_MONOTONIC, &until);
    until.tv_nsec += CHECK_EVERY_MS * 1000000L;
    until.tv_sec += until.tv_nsec / 1000000000;
    until.tv_nsec %= 1000000000;
    pthread_cond_timedwait(&w->end, &w->lock, &until);
}

static void *run_watch(void *arg)
{
    struct watch *w = arg;

    pthread_mutex_lock(&w->lock);
    while (!w->over) {
        for (struct check *c = w->first; c; c = c->next)
            hud_check_report_missing(c);
        sleep_a_little(w);
    }
    pthread_mutex_unlock(&w->lock);
    return NULL;
}

void hud_watch_init(struct watch *w)
{
    pthread_condattr_t attributes;

    w->lock = (pthread_mutex_t)PTHREAD_MUTEX_INITIALIZER;
    if (pthread_condattr_init(&attributes) != 0)
        return;
    pthread_condattr_setclock(&attributes, CLOCK_MONOTONIC);
    w->can_wait = pthread_cond_init(&w->end, &attributes) == 0;
    pthread_condattr_destroy(&attributes);
}

/* Starts the thread without signals: the program's signals are for its own threads. */
void hud_watch_start(struct watch *w)
{
    sigset_t all, before;

    pthread_mutex_lock(&w->lock);
    if (!w->running && w->can_wait) {
        sigfillset(&all);
        pthread_sigmask(SIG_SETMASK, &all, &before);
        w->running = pthread_create(&w->thread, NULL, run_watch, w) == 0;
        pthread_sigmask(SIG_SETMASK, &before, NULL);
    }
    pthread_mutex_unlock(&w->lock);
}

void hud_watch_destroy(struct watch *w)
{
    pthread_mutex_lock(&w->lock);
    w->over = true;
    if (w->running)
        pthread_cond_signal(&w->end);
    pthread_mutex_unlock(&w->lock);
    if (w->running)
        pthread_join(w->thread, NULL);
    if (w->can_wait)
        pthread_cond_destroy(&w->end);
    pthread_mutex_destroy(&w->lock);
}
