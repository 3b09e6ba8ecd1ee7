/* SPDX-License-Identifier: BSD-3-Clause */
/* flag.c - the history of a flag. */
#include "check/flag.h"
#include "check/grow.h"

#include <string.h>

struct sim_flag *hud_flag_create(int ranks, bool timed, size_t at)
{
    struct sim_flag *f = hud_must(calloc(1, sizeof *f));
    const struct sim_post lease = { .by = { .rank = -1, .what = "is leased" } };

    f->at = at;
    if (!timed)
        f->seen = hud_must(calloc((size_t)ranks, sizeof *f->seen));
    hud_flag_post(f, &lease);
    return f;
}

void hud_flag_free(struct sim_flag *f)
{
    for (struct sim_flag *next; f; f = next) {
        next = f->next;
        for (int i = 0; i < f->count; i++)
            hud_order_free(f->posts[i].released);
        free(f->posts);
        free(f->seen);
        free(f);
    }
}

int hud_flag_oldest(const struct sim_flag *f, int rank, const struct sim_order *clock)
{
    int oldest = f->count - 1;

    while (oldest > f->seen[rank] && !order_before(&f->posts[oldest].by, rank, clock))
        oldest--;
    return oldest;
}

void hud_flag_forget(struct sim_flag *f, int post)
{
    for (int i = 0; i < post; i++)
        hud_order_free(f->posts[i].released);
    memmove(f->posts, f->posts + post, (size_t)(f->count - post) * sizeof *f->posts);
    f->count -= post;
}

void hud_flag_post(struct sim_flag *f, const struct sim_post *p)
{
    struct sim_post newest = *p;

    if (p->released) {
        newest.released = hud_order_copy(p->released);
    }
    f->posts = hud_grow(f->posts, f->count + 1, &f->room, sizeof *f->posts);
    f->posts[f->count++] = newest;
    if (f->seen && p->by.rank >= 0)
        f->seen[p->by.rank] = f->count - 1;
}
