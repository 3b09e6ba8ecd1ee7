/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * queue.h - the time of a pipelined broadcast through a queue of buffers: the model of paper 01
 * (Kurnosov, Tokmasheva, Shared memory based MPI broadcast algorithm for NUMA systems), section 5,
 * and the best f and s according to it.
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

/* Parameters of the model for a machine, the ranks on it and their tree. */
struct cost_queue {
    double byte_ns;   /* t: a byte read and written */
    double notify_ns; /* t_w: from a buffer being ready until the last leaf knows */
    double enter_ns;  /* t_wo: waiting until a pass can begin */
    double leave_ns;  /* t_a: acknowledging */
};

struct cost_queue_form {
    double fragment_bytes, buffers; /* f, s */
    int sets;                       /* q: sets, which are refilled as a whole */
};

double hud_cost_queue_ns(const struct cost_queue *c, const struct cost_queue_form *form,
                         double message_bytes);

/* Returns f* of a queue of b bytes.  With the length of a message as b, returns the best f of all
 * (rule 1). */
double hud_cost_queue_fragment(const struct cost_queue *c, double queue_bytes);

/* Returns b of the queue whose best fragment is f: s = f t / t_w buffers. */
double hud_cost_queue_bytes(const struct cost_queue *c, double fragment_bytes);

double hud_cost_queue_pages(double bytes, double page_bytes); /* whole pages, at least one */

/* Input of the rules for choosing.  Unknown values are 0; the result has no zeros.  The message is
 * the longest that should fit into the queue, if known. */
struct cost_queue_wish {
    double message_bytes, queue_bytes, fragment_bytes, buffers, page_bytes;
};

/* Chooses f and s by these rules: (1) f = sqrt(m t_w / t) and s = ceil(m / f); (2) if f is given,
 * s = ceil(m / f); (3) if s is given, f = m / s.  If the bytes of a queue are given and no message,
 * or a queue shorter than the message, f = sqrt(b t_w / t) and s = b / f.  f is rounded up to whole
 * pages. */
struct cost_queue_form hud_cost_queue_choose(const struct cost_queue *c,
                                             const struct cost_queue_wish *wish);

#endif
