/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * queue.h - the time of a pipelined broadcast through a queue of buffers: the model of paper 01
 * (Kurnosov, Tokmasheva, Shared memory based MPI broadcast algorithm for NUMA systems), section 5,
 * and the best f and s by it.
 *
 * A queue has s buffers of f bytes, b = s f bytes in all.  The root fills it buffer by buffer and
 * announces each along a tree; all others copy out.  When the queue is full, the root waits until
 * all have acknowledged it.  Times are in ns, sizes in bytes; m is the message.
 *
 *   s = 1          ceil(m/f) (t_wo + t_a + t_w) + 2 m t
 *   m <= f         t_wo + t_a + t_w + 2 m t
 *                  one fragment: nothing overlaps
 *   f < m <= b     t_wo + t_a + t f + ceil(m/f) t_w + m t
 *                  one pass: copying in and out overlap, except for the first fragment
 *   m > b          ceil(m/b) (t_wo + t_a + t f) + ceil(m/f) t_w + m t
 *                  the pipeline drains whenever the queue is full
 *
 * A queue of two or more sets is refilled while others still read: t f is lost only once, not in
 * each pass ("sets", end of the section).
 *
 * The best fragment of a queue: (m/b) t f grows with f and (m/f) t_w falls, so f* = sqrt(b t_w /
 * t), s* = b / f*.
 */
#ifndef HUD_COST_QUEUE_H
#define HUD_COST_QUEUE_H

/* What the model knows of a machine, the ranks on it and their tree. */
struct cost_queue {
    double byte_ns;   /* t: a byte read and written */
    double notify_ns; /* t_w: a buffer is ready, and the last leaf knows */
    double enter_ns;  /* t_wo: waiting for a pass to begin */
    double leave_ns;  /* t_a: telling that one has left */
};

struct cost_queue_form {
    double fragment_bytes, buffers; /* f, s */
    int sets;                       /* q: the parts that are refilled as a whole */
};

double hud_cost_queue_ns(const struct cost_queue *c, const struct cost_queue_form *form,
                         double message_bytes);

/* f* of a queue of b bytes; of a message, b being as long as it, it is the best f there is (rule
 * 1). */
double hud_cost_queue_fragment(const struct cost_queue *c, double queue_bytes);

/* b of the queue whose best fragment is f: s = f t / t_w of them. */
double hud_cost_queue_bytes(const struct cost_queue *c, double fragment_bytes);

double hud_cost_queue_pages(double bytes,
                            double page_bytes); /* rounded up to whole pages, at least one */

/* The rules for choosing: what is not known is 0, and the answer has no zeros.  The message is the
 * longest that shall fit the queue, where one is known. */
struct cost_queue_wish {
    double message_bytes, queue_bytes, fragment_bytes, buffers, page_bytes;
};

/*
 * (1) f = sqrt(m t_w / t) and s = ceil(m / f);  (2) f is given: s = ceil(m / f);  (3) s is given: f
 * = m / s.  Where a queue's bytes are given and no message, or a shorter queue than the message, f
 * = sqrt(b t_w / t) and s = b / f.  f in whole pages, rounded up.
 */
struct cost_queue_form hud_cost_queue_choose(const struct cost_queue *c,
                                             const struct cost_queue_wish *wish);

#endif
