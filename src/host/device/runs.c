/* SPDX-License-Identifier: BSD-3-Clause */
/* runs.c - the runs of memory of a datatype's element, in the order of its packed form. */
#include "host/device/device.h"

#include <stdlib.h>

struct hud_runs *hud_runs_create(void)
{
    struct hud_runs *runs = calloc(1, sizeof *runs);

    if (runs)
        local_join(&runs->users);
    return runs;
}

static bool grow(struct hud_runs *runs)
{
    size_t room = runs->room ? 2 * runs->room : 4;
    struct hud_run *more = realloc(runs->run, room * sizeof *more);

    if (!more)
        return false;
    runs->run = more;
    runs->room = room;
    return true;
}

bool hud_runs_add(struct hud_runs *runs, ptrdiff_t at, size_t bytes)
{
    struct hud_run *last = runs->count ? &runs->run[runs->count - 1] : NULL;

    if (bytes == 0)
        return true;
    if (last && last->at + (ptrdiff_t)last->bytes == at) {
        last->bytes += bytes;
    } else {
        if (runs->count == runs->room && !grow(runs))
            return false;
        runs->run[runs->count++] = (struct hud_run){ runs->bytes, bytes, at };
    }
    runs->bytes += bytes;
    return true;
}

void hud_runs_share(struct hud_runs *runs)
{
    local_join(&runs->users);
}

void hud_runs_drop(struct hud_runs *runs)
{
    if (!runs || local_part(&runs->users) > 0)
        return;
    free(runs->run);
    free(runs);
}

const struct hud_run *hud_runs_find(const struct hud_runs *runs, size_t offset)
{
    size_t low = 0, high = runs->count;

    while (high - low > 1) {
        size_t middle = low + (high - low) / 2;
        if (runs->run[middle].from <= offset)
            low = middle;
        else
            high = middle;
    }
    return &runs->run[low];
}
