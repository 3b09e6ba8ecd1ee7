/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * fiber_task.h - a fiber that carries out one job after the other, and records why it is suspended:
 * it waits for a flag or an answer, or its job is done.
 *
 * Stack     128 KB, of which only the used pages take memory, and an inaccessible page below.  A
 *           call of the library needs less than 48 KB (docs/design/calls.md, "Stacks"); the rest is
 *           for the program's signal handlers.
 * Threads   Different threads may resume a fiber.  So code on a fiber must not keep the address
 *           of a thread-local variable across a suspension.
 */
#ifndef HUD_FIBER_TASK_H
#define HUD_FIBER_TASK_H

#include "fiber/fiber.h"
#include "mem/mem.h"

struct fiber_task;
typedef void fiber_job(struct fiber_task *self, void *arg);

struct fiber_task {
    struct fiber_task *next; /* next one in a list of the fiber's owner */
    fiber_job *job;          /* NULL if there is none, or if it is done */
    void *arg;
    /* Set while the fiber is suspended in its job; exactly one of these: */
    struct mem_wait *wait;
    bool (*ask)(void *arg); /* called on the resumer's stack until it returns true */
    void *ask_arg;
    /* State of wait: */
    unsigned passes; /* number of polls of the flag so far */
    int leave;       /* status with which the job must end, or 0 */
    struct fiber fiber;
};

/* Creates a fiber.  Returns NULL if out of memory. */
struct fiber_task *hud_fiber_task_create(void);
/* Frees a fiber.  An unfinished job is dropped.  NULL is allowed. */
void hud_fiber_task_free(struct fiber_task *task);

/* Runs the job until the task suspends itself or the job is done; called from outside. */
static inline void fiber_task_resume(struct fiber_task *task)
{
    (void)hud_fiber_resume(&task->fiber);
}

/* Waits for a flag; called on the fiber.  Returns 0, or the status with which the job must end. */
int hud_fiber_task_wait(struct fiber_task *self, struct mem_wait *wait);
/* Waits until ask(arg) returns true, called outside of the fiber; called on the fiber. */
void hud_fiber_task_ask(struct fiber_task *self, bool (*ask)(void *arg), void *arg);

#endif
