/* SPDX-License-Identifier: BSD-3-Clause */
/* writes.c - see writes.h. */
#include "lab/sim/writes.h"

#include <math.h>

double hud_writes_crowd(const struct sim_machine *m, int class, int readers)
{
    double alone_ns = fmax(m->lines.transfer_ns[class], m->lines.revoke_ns[class]);

    return readers > 1 ? 1 + (readers - 1) * m->lines.revoke_each_ns / alone_ns : 1;
}

double hud_writes_gap_ns(const struct sim_machine *m, int class, int readers)
{
    double gap_ns =
        m->lines.store_gap_ns[class] > 0 ? m->lines.store_gap_ns[class] : m->lines.gap_ns[class];

    return gap_ns * hud_writes_crowd(m, class, readers);
}

double hud_writes_byte_ns(const struct sim_machine *m, int class, int readers)
{
    double ns = m->copy.retake_gbps[class] > 0
                    ? 1 / m->copy.retake_gbps[class] - .5 / m->copy.cached_gbps[MACHINE_OWN]
                    : m->lines.store_gap_ns[class] / m->lines.size_bytes;

    return ns * hud_writes_crowd(m, class, readers);
}

double hud_writes_return_ns(const struct sim_machine *m, int class, int readers)
{
    const struct machine_copy *copy = &m->copy;

    if (copy->return_gbps[class] <= 0)
        return INFINITY;
    return fmax(0, 1 / copy->return_gbps[class] - 1 / copy->cached_gbps[class]) *
           hud_writes_crowd(m, class, readers);
}
