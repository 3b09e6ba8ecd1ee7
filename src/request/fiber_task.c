/* SPDX-License-Identifier: BSD-3-Clause */
/* fiber_task.c - see fiber_task.h. */
#include "request/fiber_task.h"
#include "mem/kept_errno.h"

#include <stdlib.h>

enum { STACK_BYTES = 1 << 17, WATCHED_BYTES = 1 << 20 }; /* frames are larger with a sanitizer */

static void work(void *arg)
{
    struct fiber_task *s = arg;

    for (;;) {
        s->job(s, s->arg);
        s->job = NULL;
        hud_fiber_suspend(&s->fiber);
    }
}

struct fiber_task *hud_fiber_task_create(void)
{
    size_t stack_bytes = hud_fiber_watched() ? WATCHED_BYTES : STACK_BYTES;
    struct fiber_task *s = calloc(1, sizeof *s);

    KEEP_ERRNO();
    if (s && !hud_fiber_init(&s->fiber, stack_bytes, work, s)) {
        free(s);
        return NULL;
    }
    return s;
}

void hud_fiber_task_free(struct fiber_task *s)
{
    if (!s)
        return;
    hud_fiber_destroy(&s->fiber);
    free(s);
}

int hud_fiber_task_wait(struct fiber_task *s, struct mem_wait *wait)
{
    s->wait = wait;
    s->passes = 0;
    s->leave = 0;
    hud_fiber_suspend(&s->fiber);
    s->wait = NULL;
    return s->leave;
}

void hud_fiber_task_ask(struct fiber_task *s, bool (*ask)(void *arg), void *arg)
{
    s->ask = ask;
    s->ask_arg = arg;
    hud_fiber_suspend(&s->fiber);
    s->ask = NULL;
}
