/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * time.h - what a model of time adds to a run of the checker.
 *
 * Without a model a run has no time: the strategy says which rank goes next, and a reader may see
 * any value that the order allows.  With one, the model says which rank goes next and what each
 * call costs, and a reader sees the newest value that is visible at its time.  The same checker
 * watches both.
 */
#ifndef HUD_CHECK_TIME_H
#define HUD_CHECK_TIME_H

#include "check/world.h"

enum sim_mem_op_kind {
    SIM_COPY,
    SIM_OUT,    /* a copy to a view, of a part of the message that this holds */
    SIM_MOVE,   /* a copy of mem_move */
    SIM_CLAIM,  /* prefetch of `to`, which is fetched as for a write */
    SIM_RETURN, /* `to` has had its last reader, who may return its lines */
    SIM_REDUCE,
    SIM_KERNEL /* a copy by the kernel */
};

/* A call that moves bytes.  Spans are in shared memory or in any rank's view. */
struct sim_mem_op {
    enum sim_mem_op_kind kind;
    const struct mem_span *to, *from;
    int tos, froms;
    size_t bytes;
    const struct sim_rank *other; /* SIM_KERNEL: whose process the kernel copies from or to */
};

/* When a message leaves, and arrives. */
struct sim_passage {
    double sent_ns, left_ns, arrives_ns;
};

/* The calls of a model.  Its state is s->clock.  `m`: of the rank that runs. */
struct sim_time {
    void (*create)(struct sim *s); /* creates a clock from s->options.timing */
    void (*destroy)(struct sim *s);

    /* Starts the clock when all ranks are ready. */
    void (*begin)(struct sim *s);
    /* Returns the rank that runs next, or NULL if no rank can run. */
    struct sim_rank *(*next)(struct sim *s);
    /* Begins the rank's next call, possibly after calls of other ranks. */
    void (*step)(struct sim_rank *r);
    /* Ends the rank's last call. */
    void (*end)(struct sim_rank *r);
    /* Begins a collective on a rank. */
    void (*enter)(struct mem *m);
    /* Lets a waiting rank continue, since `last` has come to a meeting of their team. */
    void (*met)(struct sim_rank *r, const struct sim_rank *last);
    /* Notes that the rank has met its team. */
    void (*meet)(struct sim_rank *r);

    /* ---- flags ---- */

    /* Waits until a post can be made. */
    void (*entry)(struct mem *m);
    /* Sets the times of a post. */
    void (*post)(struct mem *m, const struct sim_spot *spot, struct sim_post *p);
    /* Sets the times of the post of an addition. */
    void (*add)(struct mem *m, const struct sim_spot *spot, struct sim_post *p);
    /* Waits until the addition has ended. */
    void (*added)(struct mem *m, const struct sim_spot *spot);
    /* Waits until a post of `min` or more is visible.  The flag's oldest post is then the post that
     * the rank sees. */
    void (*await)(struct mem *m, struct sim_flag *flag, const struct sim_spot *spot, uint64_t min);
    /* Reads the flag once.  The flag's oldest post is then the post that the rank sees. */
    void (*peek)(struct mem *m, struct sim_flag *flag, const struct sim_spot *spot);
    /* Removes posts that no rank will see any more. */
    void (*forget)(struct sim_rank *r, struct sim_flag *flag);
    /* Wakes the ranks that wait for the newest post. */
    void (*wake_waiting)(struct sim *s, struct sim_flag *flag, const struct sim_spot *spot);

    /* ---- plain words, and bytes ---- */

    void (*load)(struct mem *m, const struct sim_spot *spot, size_t bytes);
    void (*store)(struct mem *m, const struct sim_spot *spot, size_t bytes);
    void (*mem_op)(struct mem *m, const struct sim_mem_op *c);

    /* ---- messages ---- */

    /* Computes the times of a message. */
    void (*send)(struct mem *m, const struct sim_rank *to, size_t bytes, struct sim_passage *p);
    /* Waits until the message has left. */
    void (*left)(struct mem *m, const struct sim_passage *p);
    /* Waits until the message has arrived at `to` in shared memory. */
    void (*arrived)(struct mem *m, const struct sim_passage *p, const struct sim_event *by,
                    const void *to, size_t bytes);
    /* Lets a rank that waits for a message continue at its arrival. */
    void (*wake)(struct sim_rank *r, const struct sim_passage *p);
};

/* Returns the model of time; s->clock is not NULL. */
static inline const struct sim_time *sim_time(const struct sim *s)
{
    return s->options.time;
}

/* Counts the moved bytes and, with a model of time, runs the call for m's rank. */
void hud_sim_mem_op(struct mem *m, const struct sim_mem_op *c);

#endif
