/* SPDX-License-Identifier: BSD-3-Clause */
/* stats_sums.c - adds the counters of a job's ranks. */
#include "core/job/stats_sums.h"

static void add(struct stats_sums *sums, struct stats *s)
{
    sums->ranks++;
    for (int k = 0; k < COLL_KINDS; k++) {
        sums->calls[k] += mem_count_read(&s->coll[k].calls);
        sums->empty[k] += mem_count_read(&s->coll[k].empty);
        sums->bytes[k] += mem_count_read(&s->coll[k].bytes);
        sums->ns[k] += mem_count_read(&s->coll[k].ns);
        for (int r = 0; r < REASON_COUNT; r++)
            sums->reason_calls[k][r] += mem_count_read(&s->coll[k].reason_calls[r]);
    }
    sums->arena += mem_count_read(&s->arena_bytes);
    sums->leased += mem_count_read(&s->leased_bytes);
    sums->peak += mem_count_read(&s->leased_peak_bytes);
    sums->leases += mem_count_read(&s->leases);
    sums->refused += mem_count_read(&s->teams_refused);
    sums->home += mem_count_read(&s->pages_home);
    sums->elsewhere += mem_count_read(&s->pages_elsewhere);
    sums->messages += mem_count_read(&s->messages);
    sums->message_bytes += mem_count_read(&s->message_bytes);
    sums->decided += mem_count_read(&s->decided);
    sums->changed += mem_count_read(&s->changed);
    sums->known += mem_count_read(&s->known);
    sums->learned += mem_count_read(&s->learned);
    sums->tried += mem_count_read(&s->tried);
}

struct stats_sums hud_stats_sum(struct hud_context *c)
{
    struct stats_sums sums = { .ranks = 0 };

    add(&sums, &c->count.early);
    if (c->memory.arena.head) {
        add(&sums, &c->memory.arena.head->stats);
        sums.ranks--;
    }
    pthread_mutex_lock(&c->memory.peers.lock);
    for (struct peer *p = c->memory.peers.first; p; p = p->next)
        if (p->head)
            add(&sums, &p->head->stats);
    pthread_mutex_unlock(&c->memory.peers.lock);
    return sums;
}

struct stats_choices hud_stats_choices(const struct stats_sums *s)
{
    uint64_t handled = 0, faster = 0, tried = 0, others = s->known + s->learned + s->tried;

    for (int k = 0; k < COLL_KINDS; k++) {
        handled += s->reason_calls[k][REASON_NONE];
        faster += s->reason_calls[k][REASON_FASTER];
        tried += s->reason_calls[k][REASON_TRIED];
    }
    return (struct stats_choices){ .known = s->known,
                                   .learned = s->learned,
                                   .first = handled > others ? handled - others : 0,
                                   .trials = s->tried + tried,
                                   .native = faster };
}
