/* SPDX-License-Identifier: BSD-3-Clause */
/* stats.c - the job's statistics, printed once at the end. */
#include "core/config/log.h"
#include "core/job/context.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

/* Sums of plain numbers. */
struct sums {
    int ranks;
    uint64_t calls[COLL_KINDS], bytes[COLL_KINDS], ns[COLL_KINDS], empty[COLL_KINDS],
        reason_calls[COLL_KINDS][REASON_COUNT];
    uint64_t arena, leased, peak, leases, refused, home, elsewhere, messages, message_bytes;
    uint64_t decided, changed, known, learned, tried;
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

static struct sums collect(struct hud_context *c)
{
    struct sums sums = { .ranks = 0 };

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

/* ---- the sums of a job ---- */

struct number {
    const char *name;
    uint64_t value;
};

enum { SOURCES = 5 }; /* number of sources of choices */

/* Prints a line about a collective that was called. */
static void print_line(const struct sums *s, int k)
{
    const char *between = "";

    fprintf(stderr, "huddle: %-14s %12llu %12llu %16llu %12.6f  ", coll_name(k),
            (unsigned long long)(s->calls[k] + s->empty[k]),
            (unsigned long long)s->reason_calls[k][REASON_NONE], (unsigned long long)s->bytes[k],
            (double)s->ns[k] * 1e-9);
    for (int r = 1; r < REASON_COUNT; r++)
        if (s->reason_calls[k][r] != 0) {
            fprintf(stderr, "%s%llu %s", between, (unsigned long long)s->reason_calls[k][r],
                    hud_reason_text[r]);
            between = ", ";
        }
    if (s->empty[k] != 0)
        fprintf(stderr, "%s%llu of zero bytes", between, (unsigned long long)s->empty[k]);
    fprintf(stderr, "%s\n", *between || s->empty[k] != 0 ? "" : "none");
}

static void print_table(const struct hud_context *c, const struct sums *s)
{
    fprintf(stderr, "huddle: %s; counts of %d of %d ranks\n", c->host.name, s->ranks,
            c->host.world_size > 0 ? c->host.world_size : s->ranks);
    fprintf(stderr, "huddle: %-14s %12s %12s %16s %12s  not handled\n", "", "calls", "handled",
            "bytes", "seconds");
    for (int k = 0; k < COLL_KINDS; k++)
        if (s->calls[k] + s->empty[k] != 0)
            print_line(s, k);
    fprintf(
        stderr,
        "huddle: memory         %llu leases, at most %llu of %llu KiB at a time, %llu KiB at the "
        "end; pages: %llu on their rank's NUMA node, %llu on other nodes\n",
        (unsigned long long)s->leases, (unsigned long long)s->peak >> 10,
        (unsigned long long)s->arena >> 10, (unsigned long long)s->leased >> 10,
        (unsigned long long)s->home, (unsigned long long)s->elsewhere);
}

/* Prints how many calls fell back because ranks are on other nodes, if no message was sent. */
static void print_far(const struct hud_context *c, const struct sums *s)
{
    bool far = c->host.local_ranks > 0 && c->host.local_ranks < c->host.world_size;
    uint64_t calls = 0;

    for (int k = 0; k < COLL_KINDS; k++)
        calls += s->reason_calls[k][REASON_NODES] + (far ? s->reason_calls[k][REASON_ABSENT] : 0);
    if (calls != 0 && s->messages == 0)
        fprintf(stderr,
                "huddle: nodes          %llu %s of communicators with ranks on other nodes fell "
                "back to the MPI: %s\n",
                (unsigned long long)calls, calls == 1 ? "call" : "calls",
                c->config.number[SET_NODES] == NODES_OFF ? hud_nodes_remedy_off
                                                         : hud_nodes_remedy_on);
}

/* Prints the traffic between nodes, if there was any. */
static void print_nodes(const struct hud_context *c, const struct sums *s)
{
    const struct cost_network *n = &c->plan.network;

    if (s->messages != 0)
        fprintf(stderr, "huddle: nodes          %llu messages, %llu bytes sent to other nodes\n",
                (unsigned long long)s->messages, (unsigned long long)s->message_bytes);
    if (n->alpha_ns > 0)
        fprintf(stderr,
                "huddle: network        alpha %.0f ns, beta %.0f ps per byte, overhead %.0f ns, "
                "send %.0f ns\n",
                n->alpha_ns, 1e3 * n->beta_ns, n->overhead_ns, n->send_ns);
}

/* Sets the calls of a job by where their choice is from. */
static void choices(const struct sums *s, struct number number[SOURCES])
{
    uint64_t handled = 0, faster = 0, tried = 0, others = s->known + s->learned + s->tried;

    for (int k = 0; k < COLL_KINDS; k++) {
        handled += s->reason_calls[k][REASON_NONE];
        faster += s->reason_calls[k][REASON_FASTER];
        tried += s->reason_calls[k][REASON_TRIED];
    }
    const struct number all[SOURCES] = { { "known", s->known },
                                         { "learned", s->learned },
                                         { "first", handled > others ? handled - others : 0 },
                                         { "trials", s->tried + tried },
                                         { "native", faster } };
    memcpy(number, all, sizeof all);
}

/* Prints the results of HUDDLE_WISDOM, if there are any. */
static void print_learned(const struct sums *s)
{
    struct number n[SOURCES];

    choices(s, n);
    if (s->decided + s->known + s->learned + n[3].value == 0)
        return;
    fprintf(stderr,
            "huddle: learned        decided %llu %s, %llu of them against the first choice; calls: "
            "%llu by choices known before, %llu by choices of this run, %llu by first choices, "
            "%llu in trials, %llu by the MPI, which is faster\n",
            (unsigned long long)s->decided, s->decided == 1 ? "case" : "cases",
            (unsigned long long)s->changed, (unsigned long long)n[0].value,
            (unsigned long long)n[1].value, (unsigned long long)n[2].value,
            (unsigned long long)n[3].value, (unsigned long long)n[4].value);
}

/* ---- as JSON ---- */

static void put_text(FILE *to, const char *text)
{
    fputc('"', to);
    for (; *text; text++)
        if ((unsigned char)*text < ' ')
            fprintf(to, "\\u%04x", (unsigned)*text);
        else
            fprintf(to, *text == '"' || *text == '\\' ? "\\%c" : "%c", *text);
    fputc('"', to);
}

/* Writes a real number with a point, whichever mark the program's locale has. */
static void put_real(FILE *to, const char *name, double value)
{
    char text[40];

    snprintf(text, sizeof text, "%.17g", value);
    size_t digits = strspn(text, "0123456789+-");
    bool whole = text[digits] == '\0';
    if (!whole && text[digits] != 'e')
        text[digits] = '.';
    fprintf(to, "\"%s\": %s%s", name, text, whole ? ".0" : "");
}

static void put_numbers(FILE *to, const char *group, const struct number *numbers, int count)
{
    fprintf(to, "  \"%s\": {\n", group);
    for (int i = 0; i < count; i++)
        fprintf(to, "    \"%s\": %llu%s\n", numbers[i].name, (unsigned long long)numbers[i].value,
                i < count - 1 ? "," : "");
    fprintf(to, "  },\n");
}

static void put_collective(FILE *to, const struct sums *s, int k)
{
    const char *before = "\n";

    fprintf(to, "    \"%s\": {\n      \"calls\": %llu,\n      \"handled\": %llu,\n", coll_name(k),
            (unsigned long long)s->calls[k], (unsigned long long)s->reason_calls[k][REASON_NONE]);
    fprintf(to, "      \"passed\": {");
    for (int r = 1; r < REASON_COUNT; r++) {
        if (s->reason_calls[k][r] == 0)
            continue;
        fprintf(to, "%s        \"%s\": %llu", before, hud_reason_text[r],
                (unsigned long long)s->reason_calls[k][r]);
        before = ",\n";
    }
    fprintf(to, "%s},\n      \"empty\": %llu,\n      \"bytes\": %llu,\n      ",
            before[0] == ',' ? "\n      " : "", (unsigned long long)s->empty[k],
            (unsigned long long)s->bytes[k]);
    put_real(to, "seconds", (double)s->ns[k] * 1e-9);
    fprintf(to, "\n    }%s\n", k < COLL_KINDS - 1 ? "," : "");
}

static void put_network(FILE *to, const struct cost_network *n)
{
    const struct {
        const char *name;
        double value;
    } reals[] = { { "alpha_ns", n->alpha_ns },
                  { "beta_ns", n->beta_ns },
                  { "overhead_ns", n->overhead_ns },
                  { "send_ns", n->send_ns } };

    fprintf(to, "  \"network\": {");
    for (size_t i = 0; i < sizeof reals / sizeof *reals; i++) {
        fprintf(to, "%s\n    ", i == 0 ? "" : ",");
        put_real(to, reals[i].name, reals[i].value);
    }
    fprintf(to, "\n  }\n");
}

static void put_all(FILE *to, const struct hud_context *c, const struct sums *s)
{
    const struct number memory[] = {
        { "arena_bytes", s->arena },        { "leased_bytes", s->leased },
        { "leased_peak_bytes", s->peak },   { "leases", s->leases },
        { "teams_refused", s->refused },    { "pages_home", s->home },
        { "pages_elsewhere", s->elsewhere }
    };
    const struct number nodes[] = { { "messages", s->messages }, { "bytes", s->message_bytes } };
    struct number learned[2 + SOURCES] = { { "decided", s->decided }, { "changed", s->changed } };

    choices(s, learned + 2);
    fprintf(to, "{\n  \"mpi\": ");
    put_text(to, c->host.name);
    fprintf(to, ",\n  \"ranks\": %d,\n  \"ranks_seen\": %d,\n  \"collectives\": {\n",
            c->host.world_size > 0 ? c->host.world_size : s->ranks, s->ranks);
    for (int k = 0; k < COLL_KINDS; k++)
        put_collective(to, s, k);
    fprintf(to, "  },\n");
    put_numbers(to, "memory", memory, sizeof memory / sizeof *memory);
    put_numbers(to, "nodes", nodes, sizeof nodes / sizeof *nodes);
    put_numbers(to, "learned", learned, sizeof learned / sizeof *learned);
    put_network(to, &c->plan.network);
    fprintf(to, "}");
}

/* Returns 0, or errno of what failed. */
static int write_json(const char *path, const struct hud_context *c, const struct sums *s)
{
    FILE *to = fopen(path, "we");

    if (!to)
        return errno;
    errno = 0;
    put_all(to, c, s);
    bool failed = ferror(to) != 0;
    int why = errno;
    if (fclose(to) != 0 && !failed) {
        failed = true;
        why = errno;
    }
    return !failed ? 0 : why != 0 ? why : EIO;
}

void hud_stats_print(struct hud_context *c)
{
    struct sums sums = collect(c);
    const char *where = c->config.text[SET_STATS];

    if (strncmp(where, "json:", 5) != 0) {
        print_table(c, &sums);
        print_far(c, &sums);
        print_nodes(c, &sums);
        print_learned(&sums);
        return;
    }
    int why = write_json(where + 5, c, &sums);
    if (why != 0)
        hud_log(&c->config, LOG_ERROR, "HUDDLE_STATS: cannot write %s: %s", where + 5,
                strerror(why));
}
