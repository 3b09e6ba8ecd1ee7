/* SPDX-License-Identifier: BSD-3-Clause */
/* stats.c - the job's statistics, printed once at the end. */
#include "core/config/log.h"
#include "core/team/context.h"
#include "late/late.h"

#include <errno.h>
#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>

/* Sums of plain numbers. */
struct sums {
    int ranks;
    uint64_t calls[COLL_KINDS], bytes[COLL_KINDS], ns[COLL_KINDS], empty[COLL_KINDS],
        became[COLL_KINDS][REASON_COUNT];
    uint64_t arena, leased, peak, leases, refused, home, elsewhere, messages, message_bytes, tried,
        changed;
};

static void add(struct sums *sums, struct stats *s)
{
    sums->ranks++;
    for (int k = 0; k < COLL_KINDS; k++) {
        sums->calls[k] += mem_count_read(&s->coll[k].calls);
        sums->empty[k] += mem_count_read(&s->coll[k].empty);
        sums->bytes[k] += mem_count_read(&s->coll[k].bytes);
        sums->ns[k] += mem_count_read(&s->coll[k].ns);
        for (int r = 0; r < REASON_COUNT; r++)
            sums->became[k][r] += mem_count_read(&s->coll[k].became[r]);
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
    sums->tried += mem_count_read(&s->tried);
    sums->changed += mem_count_read(&s->changed);
}

static struct sums collect(struct hud_context *c)
{
    struct sums sums = { .ranks = 0 };

    add(&sums, &c->early);
    if (c->arena.head) {
        add(&sums, &c->arena.head->stats);
        sums.ranks--;
    }
    pthread_mutex_lock(&c->peers.lock);
    for (struct peer *p = c->peers.first; p; p = p->next)
        if (p->head)
            add(&sums, &p->head->stats);
    pthread_mutex_unlock(&c->peers.lock);
    return sums;
}

/* ---- for the recorder ---- */

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
        mem_counter *early = (mem_counter *)&known->early;
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

int hud_tuning_here(char *file, int max)
{
    char absolute[PATH_MAX];
    int found = 0;

    pthread_mutex_lock(&known_lock);
    if (known) {
        const char *name = known->rules.file;
        bool there = name[0] != '\0' && realpath(name, absolute);
        snprintf(file, (size_t)max, "%s", there ? absolute : name);
        found = known->rules.elsewhere ? 2 : 1;
    }
    pthread_mutex_unlock(&known_lock);
    return found;
}

/* ---- the sums of a job ---- */

static json_t *to_json(const struct hud_context *c, const struct sums *s)
{
    json_t *collectives = json_object();

    for (int k = 0; k < COLL_KINDS; k++) {
        json_t *passed = json_object();
        for (int r = 1; r < REASON_COUNT; r++)
            if (s->became[k][r] != 0)
                json_object_set_new(passed, hud_reason_text[r],
                                    json_integer((json_int_t)s->became[k][r]));
        json_object_set_new(collectives, coll_name(k),
                            json_pack("{s:I, s:I, s:o, s:I, s:I, s:f}", "calls",
                                      (json_int_t)s->calls[k], "handled",
                                      (json_int_t)s->became[k][REASON_NONE], "passed", passed,
                                      "empty", (json_int_t)s->empty[k], "bytes",
                                      (json_int_t)s->bytes[k], "seconds", (double)s->ns[k] * 1e-9));
    }
    return json_pack(
        "{s:s, s:i, s:i, s:o, s:{s:I, s:I, s:I, s:I, s:I, s:I, s:I}, s:{s:I, s:I}, "
        "s:{s:I, s:I}, s:{s:f, s:f, s:f, s:f}}",
        "mpi", c->host.name, "ranks", c->host.world_size > 0 ? c->host.world_size : s->ranks,
        "ranks_seen", s->ranks, "collectives", collectives, "memory", "arena_bytes",
        (json_int_t)s->arena, "leased_bytes", (json_int_t)s->leased, "leased_peak_bytes",
        (json_int_t)s->peak, "leases", (json_int_t)s->leases, "teams_refused",
        (json_int_t)s->refused, "pages_home", (json_int_t)s->home, "pages_elsewhere",
        (json_int_t)s->elsewhere, "nodes", "messages", (json_int_t)s->messages, "bytes",
        (json_int_t)s->message_bytes, "adapt", "tried", (json_int_t)s->tried, "changed",
        (json_int_t)s->changed, "network", "alpha_ns", c->network.alpha_ns, "beta_ns",
        c->network.beta_ns, "overhead_ns", c->network.overhead_ns, "send_ns", c->network.send_ns);
}

/* A collective that was called. */
static void print_line(const struct sums *s, int k)
{
    const char *between = "";

    fprintf(stderr, "huddle: %-14s %12llu %12llu %16llu %12.6f  ", coll_name(k),
            (unsigned long long)s->calls[k], (unsigned long long)s->became[k][REASON_NONE],
            (unsigned long long)s->bytes[k], (double)s->ns[k] * 1e-9);
    for (int r = 1; r < REASON_COUNT; r++)
        if (s->became[k][r] != 0) {
            fprintf(stderr, "%s%llu %s", between, (unsigned long long)s->became[k][r],
                    hud_reason_text[r]);
            between = ", ";
        }
    fprintf(stderr, "%s\n", *between ? "" : "none");
}

static void print_table(const struct hud_context *c, const struct sums *s)
{
    fprintf(stderr, "huddle: %s; counts of %d of %d ranks\n", c->host.name, s->ranks,
            c->host.world_size > 0 ? c->host.world_size : s->ranks);
    fprintf(stderr, "huddle: %-14s %12s %12s %16s %12s  fell back\n", "", "calls", "handled",
            "bytes", "seconds");
    for (int k = 0; k < COLL_KINDS; k++)
        if (s->calls[k] != 0)
            print_line(s, k);
    fprintf(stderr,
            "huddle: memory         %llu leases, %llu KiB at most of %llu KiB, %llu KiB not given "
            "back yet; pages on their rank's node %llu, "
            "elsewhere %llu\n",
            (unsigned long long)s->leases, (unsigned long long)s->peak >> 10,
            (unsigned long long)s->arena >> 10, (unsigned long long)s->leased >> 10,
            (unsigned long long)s->home, (unsigned long long)s->elsewhere);
}

/* What crossed nodes, where anything did. */
static void print_nodes(const struct hud_context *c, const struct sums *s)
{
    const struct cost_network *n = &c->network;

    if (s->messages != 0)
        fprintf(stderr, "huddle: nodes          sent %llu messages, %llu bytes, to other nodes\n",
                (unsigned long long)s->messages, (unsigned long long)s->message_bytes);
    if (n->alpha_ns > 0)
        fprintf(stderr,
                "huddle: network        alpha %.0f ns, beta %.0f ps per byte, overhead %.0f ns, "
                "send %.0f ns\n",
                n->alpha_ns, 1e3 * n->beta_ns, n->overhead_ns, n->send_ns);
}

/* What HUDDLE_ADAPT came to, where it was on. */
static void print_adapt(const struct sums *s)
{
    if (s->tried != 0)
        fprintf(stderr,
                "huddle: adapt          tried a second algorithm %llu times, kept it %llu times\n",
                (unsigned long long)s->tried, (unsigned long long)s->changed);
}

void hud_stats_print(struct hud_context *c)
{
    struct sums sums = collect(c);
    const char *where = c->config.text[SET_STATS];

    if (strncmp(where, "json:", 5) != 0) {
        print_table(c, &sums);
        print_nodes(c, &sums);
        print_adapt(&sums);
        return;
    }
    json_t *json = to_json(c, &sums);
    errno = ENOMEM; /* what else there is, a file's failure replaces */
    if (!json || json_dump_file(json, where + 5, JSON_INDENT(2)) != 0) {
        const char *why = hud_late_trouble(LATE_JANSSON);
        hud_log(&c->config, LOG_ERROR, "HUDDLE_STATS: cannot write %s: %s", where + 5,
                why ? why : strerror(errno));
    }
    json_decref(json);
}
