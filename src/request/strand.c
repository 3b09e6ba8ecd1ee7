/* SPDX-License-Identifier: BSD-3-Clause */
/* strand.c - see strand.h. */
#include "request/strand.h"

#include <stdlib.h>

#if defined(FIBER_ASAN) || defined(FIBER_TSAN)
enum { STACK_BYTES = 1 << 20 }; /* frames are larger */
#else
enum { STACK_BYTES = 1 << 17 };
#endif

static void work(void *arg)
{
    struct strand *s = arg;

    for (;;) {
        s->job(s, s->arg);
        s->job = NULL;
        hud_fiber_suspend(s->fiber);
    }
}

struct strand *hud_strand_create(void)
{
    struct strand *s = calloc(1, sizeof *s);

    if (s && (s->fiber = hud_fiber_create(STACK_BYTES, work, s)) == NULL) {
        free(s);
        return NULL;
    }
    return s;
}

void hud_strand_free(struct strand *s)
{
    if (!s)
        return;
    hud_fiber_free(s->fiber);
    free(s);
}

int hud_strand_wait(struct strand *s, struct mem_wait *wait)
{
    s->wait = wait;
    s->passes = 0;
    s->leave = 0;
    hud_fiber_suspend(s->fiber);
    s->wait = NULL;
    return s->leave;
}

void hud_strand_ask(struct strand *s, bool (*ask)(void *arg), void *arg)
{
    s->ask = ask;
    s->ask_arg = arg;
    hud_fiber_suspend(s->fiber);
    s->ask = NULL;
}
