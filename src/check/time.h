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
    SIM_OUT,   /* a copy to a view, of a part of the message that this holds */
    SIM_MOVE,  /* a copy of mem_move */
    SIM_CLAIM, /* prefetch of `to`, which is fetched as for a write */
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

    /* begin: all ranks are ready.  next: returns the rank that runs next, or NULL if none can.
     * step: the rank's next call begins, possibly after calls of other ranks.  end: the rank's last
     * call has ended. */
    void (*begin)(struct sim *s);
    struct sim_rank *(*next)(struct sim *s);
    void (*step)(struct sim_rank *r);
    void (*end)(struct sim_rank *r);
    /* enter: the rank begins a collective.  met: a waiting rank continues, since `last` has come to
     * a meeting of their team.  meet: the rank has met its team. */
    void (*enter)(struct mem *m);
    void (*met)(struct sim_rank *r, const struct sim_rank *last);
    void (*meet)(struct sim_rank *r);

    /* Flags.  entry: waits until a post can be made.  post, add: set the times of a post.  added:
     * waits until the addition has ended.  await: waits until a post with this value, or more, is
     * visible.  await and peek: afterwards the flag's oldest post is the one that the rank sees.
     * forget: removes posts that no rank will see any more.  tell: wakes the ranks that wait for
     * the newest post. */
    void (*entry)(struct mem *m);
    void (*post)(struct mem *m, const struct sim_spot *spot, struct sim_post *p);
    void (*add)(struct mem *m, const struct sim_spot *spot, struct sim_post *p);
    void (*added)(struct mem *m, const struct sim_spot *spot);
    void (*await)(struct mem *m, struct sim_flag *flag, const struct sim_spot *spot, uint64_t min);
    void (*peek)(struct mem *m, struct sim_flag *flag, const struct sim_spot *spot);
    void (*forget)(struct sim_rank *r, struct sim_flag *flag);
    void (*tell)(struct sim *s, struct sim_flag *flag, const struct sim_spot *spot);

    /* Plain words, and bytes. */
    void (*load)(struct mem *m, const struct sim_spot *spot, size_t bytes);
    void (*store)(struct mem *m, const struct sim_spot *spot, size_t bytes);
    void (*mem_op)(struct mem *m, const struct sim_mem_op *c);

    /* Messages.  send: computes the times of a message.  left, arrived: wait until the message has
     * left, or has arrived at `to` in shared memory.  wake: a rank that waits for a message
     * continues when it arrives. */
    void (*send)(struct mem *m, const struct sim_rank *to, size_t bytes, struct sim_passage *p);
    void (*left)(struct mem *m, const struct sim_passage *p);
    void (*arrived)(struct mem *m, const struct sim_passage *p, const struct sim_event *by,
                    const void *to, size_t bytes);
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
