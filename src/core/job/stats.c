/* SPDX-License-Identifier: BSD-3-Clause */
/* stats.c - the counters of this process for its recorder, and the report of its job at the end. */
#include "core/job/stats.h"
#include "core/config/log.h"
#include "core/job/stats_sums.h"

static pthread_mutex_t known_lock = PTHREAD_MUTEX_INITIALIZER;
static struct hud_context *known;

void hud_stats_of(struct hud_context *context)
{
    pthread_mutex_lock(&known_lock);
    known = context;
    pthread_mutex_unlock(&known_lock);
}

int hud_statistics_here(uint64_t *values, int max)
{
    enum { FIELDS = sizeof(struct stats) / sizeof(mem_counter) };
    int written = 0;

    pthread_mutex_lock(&known_lock);
    if (known && max >= FIELDS + 2) {
        mem_counter *early = (mem_counter *)&known->count.early;
        mem_counter *later = (mem_counter *)context_stats(known);
        values[written++] = COLL_KINDS;
        values[written++] = REASON_COUNT;
        for (int i = 0; i < FIELDS; i++)
            values[written++] =
                mem_count_read(&early[i]) + (later == early ? 0 : mem_count_read(&later[i]));
    }
    pthread_mutex_unlock(&known_lock);
    return written;
}

void hud_stats_print(struct hud_context *c)
{
    struct stats_sums sums = hud_stats_sum(c);
    const char *where = c->config.text[SET_STATS];

    if (strncmp(where, "json:", 5) != 0) {
        hud_stats_print_table(c, &sums);
        return;
    }
    int why = hud_stats_write_json(where + 5, c, &sums);
    if (why != 0)
        hud_log(&c->config, LOG_ERROR, "HUDDLE_STATS: cannot write %s: %s", where + 5,
                strerror(why));
}
