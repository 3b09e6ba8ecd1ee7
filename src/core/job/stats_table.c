/* SPDX-License-Identifier: BSD-3-Clause */
/* stats_table.c - the statistics of a job as lines for a user (HUDDLE_STATS=1). */
#include "core/job/stats_sums.h"

#include <stdio.h>

/* Prints a line about a collective that was called. */
static void print_line(const struct stats_sums *s, int k)
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

static void print_counts(const struct hud_context *c, const struct stats_sums *s)
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

_Static_assert(CONFIG_SPAN_RANKS == 512, "number in hud_nodes_remedy_auto and in config.def");

/* Prints how many calls fell back because ranks are on other nodes, if no message was sent. */
static void print_far(const struct hud_context *c, const struct stats_sums *s)
{
    bool far = c->host.local_ranks > 0 && c->host.local_ranks < c->host.world_size,
         off = c->config.number[SET_NODES] == NODES_OFF,
         on = c->config.number[SET_NODES] == NODES_ON;
    uint64_t calls = 0;

    for (int k = 0; k < COLL_KINDS; k++)
        calls += (off ? s->reason_calls[k][REASON_NODES] : 0) +
                 (far ? s->reason_calls[k][REASON_ABSENT] : 0);
    if (calls != 0 && s->messages == 0)
        fprintf(stderr,
                "huddle: nodes          %llu %s of communicators with ranks on other nodes fell "
                "back to the MPI: %s\n",
                (unsigned long long)calls, calls == 1 ? "call" : "calls",
                off  ? hud_nodes_remedy_off
                : on ? hud_nodes_remedy_on
                     : hud_nodes_remedy_auto);
}

/* Prints the traffic between nodes, if there was any. */
static void print_nodes(const struct hud_context *c, const struct stats_sums *s)
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

/* Prints the results of HUDDLE_WISDOM, if there are any. */
static void print_learned(const struct stats_sums *s)
{
    const struct stats_choices n = hud_stats_choices(s);

    if (s->decided + s->known + s->learned + n.trials == 0)
        return;
    fprintf(stderr,
            "huddle: learned        decided %llu %s, %llu of them against the first choice; calls: "
            "%llu by choices known before, %llu by choices of this run, %llu by first choices, "
            "%llu in trials, %llu by the MPI, which is faster\n",
            (unsigned long long)s->decided, s->decided == 1 ? "case" : "cases",
            (unsigned long long)s->changed, (unsigned long long)n.known,
            (unsigned long long)n.learned, (unsigned long long)n.first,
            (unsigned long long)n.trials, (unsigned long long)n.native);
}

void hud_stats_print_table(const struct hud_context *c, const struct stats_sums *s)
{
    print_counts(c, s);
    print_far(c, s);
    print_nodes(c, s);
    print_learned(s);
}
