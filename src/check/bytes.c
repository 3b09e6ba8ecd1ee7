/* SPDX-License-Identifier: BSD-3-Clause */
/* bytes.c - an access splits ranges at its ends; a write makes all bytes that it covers a single
 * range. */
#include "check/bytes.h"
#include "check/grow.h"

#include <string.h>

struct sim_range {
    size_t first, end;
    struct sim_event write;  /* rank -1 before the first write */
    struct sim_event *reads; /* reads since that write, one per rank */
    int count, room;
};

/* Returns the index of the first range that ends after `at`. */
static int find(const struct sim_bytes *b, size_t at)
{
    int low = 0, high = b->count;

    while (low < high) {
        int middle = low + (high - low) / 2;
        if (b->ranges[middle].end <= at)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

static struct sim_range *insert(struct sim_bytes *b, int i)
{
    b->ranges = hud_grow(b->ranges, b->count + 1, &b->room, sizeof *b->ranges);
    memmove(b->ranges + i + 1, b->ranges + i, (size_t)(b->count - i) * sizeof *b->ranges);
    b->count++;
    memset(b->ranges + i, 0, sizeof *b->ranges);
    return b->ranges + i;
}

/* Splits the range with `at` in its middle, if there is such a range. */
static void cut(struct sim_bytes *b, size_t at)
{
    int i = find(b, at);

    if (i == b->count || b->ranges[i].first >= at)
        return;
    insert(b, i);
    struct sim_range *left = &b->ranges[i], *right = &b->ranges[i + 1];
    *left = *right;
    left->end = right->first = at;
    left->reads = NULL;
    left->room = 0;
    if (left->count != 0) {
        left->reads = hud_grow(NULL, left->count, &left->room, sizeof *left->reads);
        memcpy(left->reads, right->reads, (size_t)left->count * sizeof *left->reads);
    }
}

static const struct sim_event *note_read(struct sim_range *r, const struct sim_event *by,
                                         const struct sim_order *clock)
{
    if (!order_before(&r->write, by->rank, clock))
        return &r->write;
    for (int i = 0; i < r->count; i++)
        if (r->reads[i].rank == by->rank) {
            r->reads[i] = *by;
            return NULL;
        }
    r->reads = hud_grow(r->reads, r->count + 1, &r->room, sizeof *r->reads);
    r->reads[r->count++] = *by;
    return NULL;
}

static const struct sim_event *unordered(const struct sim_range *r, const struct sim_event *by,
                                         const struct sim_order *clock)
{
    if (!order_before(&r->write, by->rank, clock))
        return &r->write;
    for (int i = 0; i < r->count; i++)
        if (!order_before(&r->reads[i], by->rank, clock))
            return &r->reads[i];
    return NULL;
}

const struct sim_event *hud_bytes_read(struct sim_bytes *b, size_t first, size_t end,
                                       const struct sim_event *by, const struct sim_order *clock,
                                       size_t *at)
{
    cut(b, first);
    cut(b, end);
    for (int i = find(b, first); first < end; i++) {
        if (i == b->count || b->ranges[i].first > first) {
            struct sim_range *gap = insert(b, i);
            gap->first = first;
            gap->end = i + 1 < b->count && gap[1].first < end ? gap[1].first : end;
            gap->write.rank = -1;
        }
        const struct sim_event *race = note_read(&b->ranges[i], by, clock);
        if (race) {
            *at = first;
            return race;
        }
        first = b->ranges[i].end;
    }
    return NULL;
}

const struct sim_event *hud_bytes_write(struct sim_bytes *b, size_t first, size_t end,
                                        const struct sim_event *by, const struct sim_order *clock,
                                        size_t *at)
{
    if (first == end)
        return NULL;
    cut(b, first);
    cut(b, end);
    int from = find(b, first), to = from;
    for (; to < b->count && b->ranges[to].first < end; to++) {
        const struct sim_event *race = unordered(&b->ranges[to], by, clock);
        if (race) {
            *at = b->ranges[to].first;
            return race;
        }
    }
    if (from == to) {
        insert(b, from);
        to++;
    }
    for (int i = from + 1; i < to; i++)
        free(b->ranges[i].reads);
    memmove(b->ranges + from + 1, b->ranges + to, (size_t)(b->count - to) * sizeof *b->ranges);
    b->count -= to - from - 1;
    struct sim_range *all = &b->ranges[from];
    all->first = first;
    all->end = end;
    all->write = *by;
    all->count = 0;
    return NULL;
}

const struct sim_event *hud_bytes_stale(const struct sim_bytes *b, size_t first, size_t end,
                                        unsigned call, size_t *at)
{
    for (int i = find(b, first); i < b->count && b->ranges[i].first < end; i++)
        if (b->ranges[i].write.rank < 0 || b->ranges[i].write.call != call) {
            *at = b->ranges[i].first > first ? b->ranges[i].first : first;
            return &b->ranges[i].write;
        }
    return NULL;
}

void hud_bytes_free(struct sim_bytes *b)
{
    for (int i = 0; i < b->count; i++)
        free(b->ranges[i].reads);
    free(b->ranges);
    memset(b, 0, sizeof *b);
}
