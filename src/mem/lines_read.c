/* SPDX-License-Identifier: BSD-3-Clause */
/* lines_read.c - the readers' part of lines.c: how a rank treats the lines that it copies out, and
 * the times that it publishes for their owners. */
#include "mem/lines_times.h"

/* Returns the rank whose slice contains `shared`, and -1 if none does. */
static int owner_of(const struct mem *m, const void *shared)
{
    struct mem_team *t = m->team;

    for (int k = 0, r = t->read; k < m->size; k++, r = r + 1 < m->size ? r + 1 : 0)
        if ((uintptr_t)shared - (uintptr_t)m->slices[r] < t->slice_bytes)
            return t->read = r;
    return -1;
}

/* Returns the word that the owner of lines has published, and 0 if this rank or no rank is the
 * owner. */
static unsigned word_of(const struct mem *m, unsigned cell, int owner)
{
    return owner < 0 || owner == m->rank
               ? 0
               : atomic_load_explicit(&lines_of(m, owner)->way[cell], memory_order_relaxed);
}

unsigned hud_lines_way(const struct mem *m, const void *shared)
{
    return word_of(m, m->cell, owner_of(m, shared));
}

/* Forgets the times of reads, and withdraws them. */
static void forget_reads(const struct mem *m, unsigned cell, struct lines_cell *c)
{
    for (unsigned way = 0; way < LINES_WAYS; way++) {
        c->out[way] = (struct lines_sample){ .due = FRESH };
        atomic_store_explicit(&lines_of(m, m->rank)->out[cell][way], 0, memory_order_relaxed);
    }
}

struct lines_use hud_lines_begin_read(const struct mem *m, const void *shared, size_t bytes,
                                      enum lines_work work)
{
    struct lines_use use = { .cell = m->cell };
    struct lines_cell *c = &m->team->cell[use.cell];
    int owner = owner_of(m, shared);
    unsigned word = word_of(m, use.cell, owner);
    bool anew = false;

    use.way = word % LINES_WAYS;
    if (!m->policy->learns || owner < 0 || owner == m->rank ||
        !counts(&c->reads, work, bytes, &anew))
        return use;
    if (anew)
        forget_reads(m, use.cell, c);
    bool unknown = atomic_load_explicit(&lines_of(m, m->rank)->out[use.cell][use.way],
                                        memory_order_relaxed) == 0;
    use.timed = (++c->outs >= c->out[use.way].due || (unknown && c->outs >= FRESH)) &&
                (word & LINES_ROUND) != 0;
    use.begin = use.timed ? hud_lines_ticks() : 0;
    return use;
}

void hud_lines_end_read(const struct mem *m, const struct lines_use *use, size_t bytes)
{
    if (!use->timed)
        return;
    struct lines_cell *c = &m->team->cell[use->cell];
    _Atomic uint32_t *out = &lines_of(m, m->rank)->out[use->cell][use->way];
    uint32_t seen =
        sample_add(&c->out[use->way], ticks_a_kb(hud_lines_ticks() - use->begin, bytes), c->outs);
    if (seen != 0)
        atomic_store_explicit(out, merge(atomic_load_explicit(out, memory_order_relaxed), seen),
                              memory_order_relaxed);
}
