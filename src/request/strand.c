/* SPDX-License-Identifier: BSD-3-Clause */
/* strand.c - see strand.h. */
#include "request/strand.h"
#include "mem/kept_errno.h"

#include <stdlib.h>

enum { STACK_BYTES = 1 << 17, WATCHED_BYTES = 1 << 20 }; /* with a sanitizer frames are larger */

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
    size_t stack_bytes = hud_fiber_watched() ? WATCHED_BYTES : STACK_BYTES;
    struct strand *s = calloc(1, sizeof *s);

    KEEP_ERRNO();
    if (s && (s->fiber = hud_fiber_create(stack_bytes, work, s)) == NULL) {
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
