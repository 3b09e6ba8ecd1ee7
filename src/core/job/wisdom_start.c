/* SPDX-License-Identifier: BSD-3-Clause */
/* wisdom_start.c - see wisdom_start.h. */
#include "core/job/wisdom_start.h"

#include <stdlib.h>

struct wisdom_start *hud_wisdom_start_find(struct hud_context *c, const struct plan *plan,
                                           uint64_t digest)
{
    pthread_mutex_lock(&c->lock);
    struct wisdom_start *start = c->learn.starts;
    while (start && (start->plan != plan || start->digest != digest))
        start = start->next;
    if (start)
        start->teams++;
    pthread_mutex_unlock(&c->lock);
    return start;
}

struct wisdom_start *hud_wisdom_start_reserve(struct hud_context *c)
{
    pthread_mutex_lock(&c->lock);
    struct wisdom_start *spare = c->learn.spare_start;
    c->learn.spare_start = NULL;
    pthread_mutex_unlock(&c->lock);
    return spare ? spare : malloc(sizeof *spare);
}

void hud_wisdom_start_return(struct hud_context *c, struct wisdom_start *spare)
{
    pthread_mutex_lock(&c->lock);
    struct wisdom_start *extra = c->learn.spare_start ? spare : NULL;
    c->learn.spare_start = c->learn.spare_start ? c->learn.spare_start : spare;
    pthread_mutex_unlock(&c->lock);
    free(extra);
}

void hud_wisdom_start_add(struct hud_context *c, struct wisdom_start *start)
{
    pthread_mutex_lock(&c->lock);
    hud_wisdom_start_forget(c, start->plan);
    start->teams = 1;
    start->next = c->learn.starts;
    c->learn.starts = start;
    pthread_mutex_unlock(&c->lock);
}

void hud_wisdom_start_leave(struct hud_context *c, struct wisdom_start *start)
{
    pthread_mutex_lock(&c->lock);
    start->teams--;
    pthread_mutex_unlock(&c->lock);
}

void hud_wisdom_start_forget(struct hud_context *c, const struct plan *plan)
{
    for (struct wisdom_start **at = &c->learn.starts; *at;) {
        struct wisdom_start *start = *at;
        if (plan && (start->plan != plan || start->teams != 0)) {
            at = &start->next;
            continue;
        }
        *at = start->next;
        free(start);
    }
}
