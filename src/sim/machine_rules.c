/* SPDX-License-Identifier: BSD-3-Clause */
/* machine_rules.c - see machine_rules.h; docs/machines.md says the same to who writes a description. */
#include "sim/machine_rules.h"

#include <math.h>
#include <stdio.h>

enum { MOST_ENTRIES = 4096 };

static const double UNSAID = -1; /* no number of a description is below 0 */

void hud_machine_blank(struct sim_machine *m)
{
    for (int c = 0; c < MACHINE_CLASSES; c++)
        m->lines.revoke_ns[c] = m->memory.latency_ns[c] = UNSAID;
}

/* Who stores to a line that others hold asks the farthest of them and waits for the answer, as who misses does: as long as a transfer. */
static double revoke_ns(const struct sim_machine *m, int class)
{
    double said = m->lines.revoke_ns[class];

    return class == MACHINE_OWN ? 0 : said < 0 ? m->lines.transfer_ns[class] : said;
}

/* A line comes from memory no sooner than from a core that lies there, which asks the same home for it. */
static double latency_ns(const struct sim_machine *m, int class)
{
    int numa = hud_topo_level_of(m->topo, "numa"), local = numa < 0 ? m->classes - 1 : numa + 1;
    double said = m->memory.latency_ns[class];

    return said < 0 ? m->lines.transfer_ns[class == MACHINE_OWN ? local : class] : said;
}

void hud_machine_assume(struct sim_machine *m)
{
    for (int c = 0; c < m->classes; c++) {
        m->lines.revoke_ns[c] = revoke_ns(m, c);
        m->memory.latency_ns[c] = latency_ns(m, c);
    }
}

bool hud_machine_check(const struct sim_machine *m, char *error, size_t error_bytes)
{
    const struct machine_caches *caches = &m->caches;
    double entries = m->lines.store_entries;

    if (entries > MOST_ENTRIES || entries != floor(entries)) {
        snprintf(error, error_bytes, "lines.store_entries: %g (accepted: a whole number up to %d)", entries, MOST_ENTRIES);
        return false;
    }
    if (caches->nearest_bytes > caches->private_bytes) { /* what the nearest has, the private one behind it has, too (caches.h) */
        snprintf(error, error_bytes, "caches.nearest_bytes: %.0f (accepted: a number up to private_bytes, %.0f)", caches->nearest_bytes,
                 caches->private_bytes);
        return false;
    }
    return true;
}
