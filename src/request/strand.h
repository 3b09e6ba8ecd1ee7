/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * strand.h - a fiber that carries out one job after the other, and tells why it is suspended: for a
 * flag, for an answer, or because its job is done.
 *
 * Stack     128 KB, of which the pages that are used take memory, and an inaccessible page below.
 *           A call of the library needs less than 48 KB (docs/architecture.md, "Stacks"); the rest
 *           is for the program's signal handlers.
 * Threads   A strand may be resumed by another thread than before.  So nothing that it runs keeps
 *           the address of a thread's own variable across a suspension.
 */
#ifndef HUD_STRAND_H
#define HUD_STRAND_H

#include "fiber/fiber.h"
#include "mem/mem.h"

struct strand {
    struct fiber *fiber;
    struct strand *next;                         /* of a list of its owner's */
    void (*job)(struct strand *self, void *arg); /* NULL: none, or it is done */
    void *arg;
    /* Of a strand that is suspended in its job, one of these: */
    struct mem_wait *wait;
    bool (*ask)(void *arg); /* to be called, on the resumer's stack, until it returns true */
    void *ask_arg;
    /* Of wait: */
    unsigned passes; /* so far */
    int leave;       /* the status with which the job must end */
};

/* NULL: out of memory. */
struct strand *hud_strand_create(void);
/* A job that is not done is forgotten.  NULL is allowed. */
void hud_strand_free(struct strand *strand);

/* From inside: waits for a flag.  Returns 0, or the status with which the job must end. */
int hud_strand_wait(struct strand *self, struct mem_wait *wait);
/* From inside: until ask(arg), called outside, returns true. */
void hud_strand_ask(struct strand *self, bool (*ask)(void *arg), void *arg);

#endif
