/* SPDX-License-Identifier: BSD-3-Clause */
/* machine_rules.c - see machine_rules.h.  lab/docs/machines.md has the same rules for authors of
 * descriptions. */
#include "lab/sim/machine_rules.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

/* Far beyond any real machine, but small enough that simulations end and numbers stay finite. */
static const struct bounds {
    double min, max;
    bool whole, power; /* power: of two */
    const char *unit;
} bounds[] = {
    [RANGE_LINE] = { 32, 256, true, true, "bytes" },
    [RANGE_CACHE] = { 4096, 1ll << 40, true, false, "bytes" },
    [RANGE_ENTRIES] = { 1, 4096, true, false, "entries" },
    [RANGE_TIME] = { 0.001, 1e9, false, false, "ns" },
    [RANGE_DELAY] = { 0, 1e9, false, false, "ns" }, /* added to another time */
    [RANGE_SPEED] = { 0.001, 1e6, false, false, "GB/s" },
};

enum { WORDS = 3 };

static const char *const words[][WORDS] = {
    [RANGE_FILL] = { [MACHINE_FILL_READ] = "read", [MACHINE_FILL_VICTIM] = "victim" },
    [RANGE_SHARE] = { [MACHINE_SHARE_CACHE] = "cache",
                      [MACHINE_SHARE_OWNER] = "owner",
                      [MACHINE_SHARE_MEMORY] = "memory" },
};

int hud_machine_word(enum machine_range range, const char *word)
{
    for (int i = 0; word && i < WORDS && words[range][i]; i++)
        if (strcmp(words[range][i], word) == 0)
            return i;
    return -1;
}

static const char *accepted_words(enum machine_range range, char *text, size_t bytes)
{
    size_t used = 0;

    for (int i = 0; i < WORDS && words[range][i] && used < bytes; i++)
        used += (size_t)snprintf(text + used, bytes - used, "%s%s", i ? ", " : "", words[range][i]);
    return text;
}

bool hud_machine_fits(enum machine_range range, double number)
{
    const struct bounds *b = &bounds[range];
    int exponent;

    return number >= b->min && number <= b->max && (!b->whole || number == floor(number)) &&
           (!b->power || frexp(number, &exponent) == 0.5);
}

const char *hud_machine_accepted(enum machine_range range, char *text, size_t bytes)
{
    if (range == RANGE_FILL || range == RANGE_SHARE)
        return accepted_words(range, text, bytes);
    const struct bounds *b = &bounds[range];
    snprintf(text, bytes, "%s%.15g to %.15g %s",
             b->power   ? "a power of two, "
             : b->whole ? "a whole number, "
                        : "",
             b->min, b->max, b->unit);
    return text;
}

static const double UNSAID = -1; /* no number of a description is below 0 */
enum { UNSAID_LEVEL = MACHINE_UNSHARED - 1 };

void hud_machine_blank(struct sim_machine *m)
{
    for (int c = 0; c < MACHINE_CLASSES; c++)
        m->lines.revoke_ns[c] = m->memory.latency_ns[c] = UNSAID;
    m->lines.share = UNSAID_LEVEL;
}

/* Returns revoke_ns or its default: a store to a line that other cores hold asks the farthest of
 * them and waits for the answer, which takes as long as a transfer. */
static double revoke_ns(const struct sim_machine *m, int class)
{
    double said = m->lines.revoke_ns[class];

    return class == MACHINE_OWN ? 0 : said < 0 ? m->lines.transfer_ns[class] : said;
}

/* Returns latency_ns or its default: a line from memory takes at least as long as from a core on
 * that node, which asks the same home. */
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
    if (m->lines.share ==
        UNSAID_LEVEL) /* a core whose shared cache has the line need not fetch it */
        m->lines.share = m->caches.shared_level;
}

bool hud_machine_check(const struct sim_machine *m, char *error, size_t error_bytes)
{
    const struct machine_caches *caches = &m->caches;

    if (caches->nearest_bytes > caches->private_bytes) { /* the private cache has all bytes of
                                                            the nearest cache (caches.h) */
        snprintf(error, error_bytes,
                 "caches.nearest_bytes: %.0f (accepted: a number up to private_bytes, %.0f)",
                 caches->nearest_bytes, caches->private_bytes);
        return false;
    }
    return true;
}
