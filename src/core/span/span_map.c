/* SPDX-License-Identifier: BSD-3-Clause */
/* span_map.c - where the ranks of a span are, and what is where in their slices. */
#include "alg/aggregated/aggregated.h"
#include "alg/pairwise/pairwise.h"
#include "alg/rings/rings.h"
#include "core/span/span.h"

#include <stdlib.h>

/* ---- ranks ---- */

static bool on_one_node(const union hello *a, const union hello *b)
{
    return a->fields.host_id == b->fields.host_id && a->fields.boot_id == b->fields.boot_id;
}

/* Counts the nodes and their ranks. */
static int number_nodes(const union hello *hello, int ranks, int *node_of, int *local_of, int *head,
                        int *count)
{
    int nodes = 0;

    for (int r = 0; r < ranks; r++) {
        int node = 0;
        while (node < nodes && !on_one_node(&hello[r], &hello[head[node]]))
            node++;
        if (node == nodes)
            head[nodes++] = r;
        node_of[r] = node;
        local_of[r] = count[node]++;
    }
    return nodes;
}

bool hud_span_map(struct span *span, const union hello *hello)
{
    size_t ranks = (size_t)span->whole->id.size;
    int *all = calloc(6 * ranks + 1, sizeof *all);

    if (!all)
        return false;
    int *node_of = all, *local_of = all + ranks, *head = local_of + ranks, *member = head + ranks,
        *count = member + ranks, *first = count + ranks;
    int nodes = number_nodes(hello, (int)ranks, node_of, local_of, head, count), rings = count[0];
    for (int node = 0; node < nodes; node++) {
        first[node + 1] = first[node] + count[node];
        rings = count[node] < rings ? count[node] : rings;
    }
    for (int r = 0; r < (int)ranks; r++)
        member[first[node_of[r]] + local_of[r]] = r;
    span->arrays = all;
    span->map = (struct net_map){ .ranks = (int)ranks,
                                  .nodes = nodes,
                                  .node = node_of[span->whole->id.rank],
                                  .node_of = node_of,
                                  .local_of = local_of,
                                  .head = head,
                                  .rings = rings,
                                  .first = first,
                                  .member = member };
    span->node.id.rank = local_of[span->whole->id.rank];
    span->node.id.size = count[span->map.node];
    return true;
}

/* ---- memory ---- */

static size_t clamp(long bytes, size_t min, size_t max)
{
    return bytes < (long)min ? min : bytes > (long)max ? max : (size_t)bytes;
}

size_t hud_span_buffer_bytes(const struct hud_context *c)
{
    long bytes = c->config.number[SET_NODES_FRAGMENT];

    return bytes < 0 ? NODES_BUFFER_BYTES : clamp(bytes, NODES_FRAGMENT_MIN, 64 << 10);
}

struct alg_place hud_span_place_of(int family, size_t buffer_bytes)
{
    const struct {
        size_t lines, window;
    } of[SPAN_FAMILIES] = {
        [SPAN_NODES] = { sizeof(struct nodes_lines), nodes_window_bytes(buffer_bytes) },
        [SPAN_RINGS] = { sizeof(struct rings_lines), (size_t)RINGS_SETS * RINGS_SET_BYTES },
        [SPAN_AGGREGATED] = { sizeof(struct aggregated_lines), AGGREGATED_WINDOW_BYTES },
        [SPAN_PAIRWISE] = { sizeof(struct pairwise_lines),
                            pairwise_window_bytes(PAIRWISE_FRAGMENT_BYTES) }
    };
    size_t begin = PLACE_OFFSET;

    for (int before = 0; before < family; before++)
        begin += mem_lines(of[before].lines) + of[before].window;
    size_t lines = mem_lines(of[family].lines);
    return (struct alg_place){ .slot_offset = begin,
                               .slot_bytes = lines,
                               .window_offset = begin + lines,
                               .window_bytes = of[family].window };
}

struct alg_place hud_span_place(const struct hud_context *c, enum span_family family)
{
    return hud_span_place_of((int)family, hud_span_buffer_bytes(c));
}

size_t hud_span_slice_bytes(const struct hud_context *c)
{
    const struct alg_place last = hud_span_place(c, SPAN_FAMILIES - 1);

    return last.slot_offset + alg_place_bytes(&last);
}
