/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * nodes.c - draws a span and a sequence of calls from a seed, runs the calls and verifies every
 * byte.
 *
 * Ranks are on nodes in blocks, round-robin, or at random, from a single node to a node per rank.
 * Fragments are small, so that broadcasts use each buffer of the ring several times.
 */
#include "nodes.h"

#include "alg/aggregated/aggregated.h"
#include "alg/pairwise/pairwise.h"
#include "alg/rings/rings.h"
#include "calls.h"
#include "check/grow.h"
#include "counters.h"

#include <string.h>

enum {
    CALLS = 40,
    MAX_LINES = 24,
    MAX_FRAGMENTS = 3 * NODES_RING,
    MAX_ROUNDS = 3,
    MAX_SETS = 3,
    MAX_BLOCK = 24, /* largest block of aggregated messages */
    LEASE_BYTES = 256 << 10
};

struct step {
    struct call call;
    long param[ALG_PARAMS];
};

enum family { NODES, RINGS, AGGREGATED, PAIRWISE, FAMILIES };

struct nodes {
    const struct sequence_options *options;
    uint64_t random;
    int nodes, *node_of;
    bool in_ranges; /* whether each node is a range of ranks */
    long fragment, set, pair_fragment;
    uint64_t pair_calls; /* calls that the slot pretends to have had before the sequence */
    struct alg_place place[FAMILIES];
    struct step step[CALLS];
    size_t max_bytes;
    struct call_user **user; /* [ranks] */
    struct sim_span *span;
};

static uint64_t below(struct nodes *q, uint64_t end)
{
    q->random = q->random * 6364136223846793005u + 1442695040888963407u;
    return (q->random >> 33) % end;
}

/* ---- placement of the ranks ---- */

static int in_blocks(struct nodes *q, int rank, int nodes)
{
    return (int)((long)rank * nodes / q->options->ranks);
}

static int in_turn(struct nodes *q, int rank, int nodes)
{
    (void)q;
    return rank % nodes;
}

static int anywhere(struct nodes *q, int rank, int nodes)
{
    (void)rank;
    return (int)below(q, (uint64_t)nodes);
}

static int (*const dealt[])(struct nodes *q, int rank, int nodes) = { in_blocks, in_turn,
                                                                      anywhere };
enum { DEALS = sizeof dealt / sizeof *dealt };

/* Assigns the ranks to nodes, which are numbered in the order of their lowest ranks. */
static void place_ranks(struct nodes *q)
{
    int ranks = q->options->ranks, wanted = 1 + (int)below(q, (uint64_t)ranks);
    int *number = hud_must(calloc((size_t)ranks, sizeof *number));

    q->node_of = hud_must(calloc((size_t)ranks, sizeof *q->node_of));
    for (int r = 0; r < ranks; r++) {
        int node = dealt[q->options->seed % DEALS](q, r, wanted);
        if (number[node] == 0)
            number[node] = ++q->nodes;
        q->node_of[r] = number[node] - 1;
        q->in_ranges = q->in_ranges && (r == 0 || q->node_of[r] >= q->node_of[r - 1]);
    }
    free(number);
}

/* ---- calls ---- */

static size_t max_bytes_of(const struct nodes *q, enum net_tag tag)
{
    size_t fragment = (size_t)q->fragment, set = (size_t)q->set, ranks = (size_t)q->options->ranks;

    switch (tag) {
    case NET_BARRIER:
    case NET_REDUCE:
    case NET_ALLREDUCE:
    case NET_REDUCE_SCATTER:
        return 2 * fragment; /* short sums */
    case NET_BCAST:
        return MAX_FRAGMENTS * fragment;
    case NET_REDUCE_RINGS:
    case NET_REDUCE_ORDERED:
    case NET_ALLREDUCE_RINGS:
        return MAX_SETS * set;
    case NET_REDUCE_SCATTER_RINGS:
    case NET_ALLGATHERV_RINGS:
        return (size_t)MAX_LINES * HUD_LINE;
    case NET_ALLGATHER_RINGS:
        return (size_t)MAX_LINES / 4 * HUD_LINE;
    case NET_ALLGATHERV:
        return MAX_BLOCK * ranks;
    case NET_ALLGATHER:
    case NET_ALLTOALL:
    case NET_GATHER:
    case NET_SCATTER:
        return MAX_BLOCK;
    case NET_ALLTOALL_PAIRWISE:
    case NET_ALLTOALLV:
    case NET_GATHER_PAIRWISE:
    case NET_GATHERV:
    case NET_SCATTER_PAIRWISE:
    case NET_SCATTERV:
        return (size_t)q->pair_fragment * (ranks > 9 ? 2 : 6);
    default: /* a broadcast in rounds, of the laboratory */
        return MAX_ROUNDS * NODES_RING * mem_lines(fragment);
    }
}

static size_t any_size(struct nodes *q, enum net_tag tag)
{
    size_t fragment = (size_t)q->fragment, max = max_bytes_of(q, tag);
    const size_t sizes[] = { 1, fragment, fragment + 1, max, 1 + below(q, max), 1 + below(q, 64) };
    size_t size = sizes[below(q, sizeof sizes / sizeof *sizes)];

    return size < max ? size : max;
}

static enum family family_of(const struct alg *alg)
{
    static const struct alg_family *const of[] = { [NODES] = &hud_sim_nodes_family,
                                                   [RINGS] = &hud_sim_rings_family,
                                                   [AGGREGATED] = &hud_sim_aggregated_family,
                                                   [PAIRWISE] = &hud_sim_pairwise_family };
    int family = 0;

    while (of[family] != alg->family)
        family++;
    return (enum family)family;
}

static void draw_tree(struct nodes *q, long *param)
{
    static const enum shape_kind trees[] = { SHAPE_FLAT, SHAPE_CHAIN, SHAPE_KARY, SHAPE_BALANCED,
                                             SHAPE_KNOMIAL };

    param[NODES_TREE] = trees[below(q, sizeof trees / sizeof *trees)];
    param[NODES_DEGREE] = 2 + (long)below(q, 3);
    param[NODES_BUFFER] = q->fragment;
    param[NODES_FRAGMENT] = q->fragment - (long)below(q, (uint64_t)q->fragment / 2);
}

static void draw_rings(struct nodes *q, long *param)
{
    param[RINGS_SET] = q->set;
    param[RINGS_COUNT] = 1 + (long)below(q, 4);
    param[RINGS_PIECE] = (long)below(q, 2) * HUD_LINE;
}

static enum net_tag any_tag(struct nodes *q)
{
    enum net_tag tag = (enum net_tag)below(q, NET_TAGS);

    while (q->options->only && hud_sim_nodes_algs[tag] != q->options->only)
        tag = (enum net_tag)((tag + 1) % NET_TAGS);
    return tag == NET_REDUCE_ORDERED && !q->in_ranges ? NET_REDUCE_RINGS : tag;
}

static void make_step(struct nodes *q, int number)
{
    static const size_t elements[] = { 1, 4, 8, 12 };
    struct step *s = &q->step[number];
    enum net_tag tag = any_tag(q);

    s->call = (struct call){ .alg = hud_sim_nodes_algs[tag],
                             .ranks = q->options->ranks,
                             .root = (int)below(q, (uint64_t)q->options->ranks),
                             .bytes = tag == NET_BARRIER ? 0 : any_size(q, tag),
                             .element = 1,
                             .in_place = below(q, 3) == 0,
                             .shorter = -1,
                             .id = (uint64_t)number };
    if (call_reduces(s->call.alg->coll)) {
        size_t element = elements[below(q, sizeof elements / sizeof *elements)];
        s->call.element = element <= s->call.bytes ? element : 1;
        s->call.bytes -= s->call.bytes % s->call.element;
    }
    if (family_of(s->call.alg) == RINGS)
        draw_rings(q, s->param);
    else if (family_of(s->call.alg) == PAIRWISE)
        s->param[PAIRWISE_FRAGMENT] = q->pair_fragment;
    else
        draw_tree(q, s->param);
}

static void body(struct sim *sim, int rank, void *arg)
{
    struct nodes *q = arg;

    if (q->pair_calls != 0) {
        counters_start_pairwise(hud_sim_span_mem(q->span, rank), &q->place[PAIRWISE],
                                q->options->ranks, q->pair_calls);
        hud_sim_gather(hud_sim_span_whole(q->span, rank));
    }
    for (int i = 0; i < CALLS; i++) {
        const struct step *s = &q->step[i];
        struct coll c = { .root = s->call.root,
                          .op = (uint64_t)i + 1,
                          .param = s->param,
                          .place = &q->place[family_of(s->call.alg)],
                          .net = hud_sim_span_net(q->span, rank) };
        call_prepare(&s->call, rank, q->user[rank], sim, &c);
        int status = hud_sim_call(hud_sim_span_mem(q->span, rank), s->call.alg, &c);
        call_verify(&s->call, rank, q->user[rank], sim, status);
    }
}

static bool run(struct nodes *q, struct sequence_sums *sums, FILE *to)
{
    const struct sequence_options *o = q->options;
    const struct sim_options options = sequence_sim(o, o->seed / DEALS, LEASE_BYTES);
    struct sim *sim = hud_sim_create(&options);

    q->user = hud_must(calloc((size_t)o->ranks, sizeof *q->user));
    for (int r = 0; r < o->ranks; r++)
        q->user[r] = call_user_create(sim, o->ranks, q->max_bytes);
    q->span = hud_sim_span_create(sim, q->nodes, q->node_of, LEASE_BYTES, nodes_messages(q->nodes));
    bool clean = hud_sim_run(sim, body, q);
    if (!clean)
        fprintf(to,
                "%s  %d nodes, fragments of %ld bytes, %s scheduling; again with:\n"
                "  sim_check --algorithm %s%s%s --ranks %d --seed %llu\n",
                hud_sim_report(sim), q->nodes, q->fragment, hud_sim_strategies[options.strategy],
                o->only ? o->only->coll : "all", o->only ? "/" : "", o->only ? o->only->name : "",
                o->ranks, (unsigned long long)o->seed);
    sums->calls += CALLS;
    sequence_count(sim, sums);
    for (int r = 0; r < o->ranks; r++)
        call_user_free(q->user[r]);
    free(q->user);
    return clean;
}

/* Returns the bytes of a set, with room for a line of each rank however the ranks are placed. */
static long set_bytes(struct nodes *q)
{
    int ranks = q->options->ranks;

    return (long)((ranks + 4) * (ranks + 4) / 4 + ranks + 4 + (int)below(q, 20)) * HUD_LINE;
}

/* Returns the bytes for sets of aggregated messages, with room for any rank's however the ranks are
 * placed (alltoall). */
static size_t aggregated_bytes(const struct nodes *q)
{
    size_t ranks = (size_t)q->options->ranks + 1;

    return AGGREGATED_SETS * mem_lines(MAX_BLOCK * ranks * ranks + 4 * ranks * HUD_LINE);
}

static void lay_out(struct nodes *q)
{
    const size_t lines[FAMILIES] = { sizeof(struct nodes_lines), sizeof(struct rings_lines),
                                     sizeof(struct aggregated_lines),
                                     sizeof(struct pairwise_lines) },
                 windows[FAMILIES] = { nodes_window_bytes((size_t)q->fragment),
                                       RINGS_SETS * (size_t)q->set, aggregated_bytes(q),
                                       pairwise_window_bytes((size_t)q->pair_fragment) };
    size_t begin = HUD_LINE;

    for (int family = 0; family < FAMILIES; family++) {
        size_t slot = mem_lines(lines[family]);
        q->place[family] = (struct alg_place){ .slot_offset = begin,
                                               .slot_bytes = slot,
                                               .window_offset = begin + slot,
                                               .window_bytes = windows[family] };
        begin += slot + windows[family];
    }
}

/* Returns the number of calls to pretend: none, or so many that a few calls later the sign changes
 * or the bits of the count overflow. */
static uint64_t calls_before(struct nodes *q)
{
    static const uint64_t ends[] = { 0, UINT64_C(1) << (63 - PAIRWISE_CALL_BITS),
                                     UINT64_C(1) << (64 - PAIRWISE_CALL_BITS) };
    uint64_t end = ends[q->options->seed % (sizeof ends / sizeof *ends)];

    return end != 0 ? end - 1 - below(q, 4) : 0;
}

bool nodes_run(const struct sequence_options *options, struct sequence_sums *sums, FILE *to)
{
    static const long fragments[] = { 8, 100, HUD_LINE, 200 };
    struct nodes q = { .options = options,
                       .in_ranges = true,
                       .random = options->seed * 7919 + (uint64_t)options->ranks };

    q.fragment = fragments[below(&q, sizeof fragments / sizeof *fragments)];
    q.set = set_bytes(&q);
    q.pair_fragment = (1 + (long)below(&q, 2)) * HUD_LINE;
    q.pair_calls = calls_before(&q);
    lay_out(&q);
    place_ranks(&q);
    for (int i = 0; i < CALLS; i++) {
        make_step(&q, i);
        const struct call *call = &q.step[i].call;
        size_t view = call_view_bytes(call->alg->coll, call->bytes, call->ranks);
        q.max_bytes = view > q.max_bytes ? view : q.max_bytes;
    }
    bool clean = run(&q, sums, to);
    free(q.node_of);
    return clean;
}
