/* SPDX-License-Identifier: BSD-3-Clause */
/* queue.c - see queue.h. */
#include "lab/cost/queue.h"

#include <math.h>
#include <stdbool.h>

double hud_cost_queue_ns(const struct cost_queue *c, const struct cost_queue_form *form,
                         double message_bytes)
{
    double fragments = fmax(1, ceil(message_bytes / form->fragment_bytes));
    double passes = fmax(1, ceil(message_bytes / (form->fragment_bytes * form->buffers)));
    double first_ns = c->byte_ns * fmin(form->fragment_bytes,
                                        message_bytes); /* the first copy in, which no copy out
                                                           overlaps */
    double synchronised_ns = passes * (c->enter_ns + c->leave_ns) + fragments * c->notify_ns;

    if (form->buffers <= 1)
        return synchronised_ns + 2 * message_bytes * c->byte_ns;
    return synchronised_ns + message_bytes * c->byte_ns + (form->sets > 1 ? 1 : passes) * first_ns;
}

double hud_cost_queue_fragment(const struct cost_queue *c, double queue_bytes)
{
    return sqrt(queue_bytes * c->notify_ns / c->byte_ns);
}

double hud_cost_queue_bytes(const struct cost_queue *c, double fragment_bytes)
{
    return fragment_bytes * fragment_bytes * c->byte_ns / c->notify_ns;
}

double hud_cost_queue_pages(double bytes, double page_bytes)
{
    return page_bytes > 0 ? fmax(1, ceil(bytes / page_bytes)) * page_bytes : bytes;
}

struct cost_queue_form hud_cost_queue_choose(const struct cost_queue *c,
                                             const struct cost_queue_wish *wish)
{
    bool whole = wish->message_bytes > 0 &&
                 (wish->queue_bytes <= 0 || wish->message_bytes <= wish->queue_bytes);
    double bytes = whole ? wish->message_bytes : wish->queue_bytes;
    double f = wish->fragment_bytes > 0 ? wish->fragment_bytes
               : wish->buffers > 0      ? bytes / wish->buffers
                                        : hud_cost_queue_fragment(c, bytes);
    struct cost_queue_form form = { .fragment_bytes = hud_cost_queue_pages(f, wish->page_bytes),
                                    .buffers = wish->buffers,
                                    .sets = 1 };

    if (form.buffers <= 0)
        form.buffers =
            fmax(1, whole ? ceil(bytes / form.fragment_bytes) : floor(bytes / form.fragment_bytes));
    return form;
}
