/* SPDX-License-Identifier: BSD-3-Clause */
/* layout.c - dividing a slice among the algorithms. */
#include "core/layout.h"
#include "core/coll.h"

/* Another algorithm of its collective is forced: no call can reach this one. */
static bool is_shut_out(const struct config *config, int row)
{
    int forced = hud_config_forced(config, hud_coll_kind(hud_shm_algs[row]->coll));

    return forced >= 0 && forced != row;
}

void hud_layout_make(const struct config *config, int ranks, size_t most_bytes, bool windows, struct layout *layout)
{
    size_t at = mem_lines(sizeof(struct slice_head)), regions = 0;

    *layout = (struct layout){ .place_offset = at };
    at += mem_lines(sizeof(struct place_table) + SHAPE_LEVELS * (size_t)ranks * sizeof(int16_t));
    for (int a = 0; hud_shm_algs[a]; a++) {
        const struct alg *alg = hud_shm_algs[a];
        bool in = at < most_bytes && (windows || !alg->slot_bytes) && !is_shut_out(config, a);
        size_t bytes = in ? alg_slot_bytes(alg, config->param[a], ranks, most_bytes - at) : 0;
        layout->offset[a] = at;
        layout->bytes[a] = bytes;
        at += bytes;
        regions += bytes != 0;
    }
    layout->total_bytes = regions != 0 ? at : 0;
}

size_t hud_layout_offer(const struct config *config, int ranks, size_t free_bytes)
{
    struct layout control;
    size_t most = (size_t)config->number[SET_LEASE];

    if (config->number[SET_LEASE] < 0)
        most = (size_t)256 << 10;
    hud_layout_make(config, ranks, SIZE_MAX / 2, false, &control);
    if (free_bytes / 4 >= control.total_bytes && most >= control.total_bytes)
        return free_bytes / 4 < most ? free_bytes / 4 : most;
    return free_bytes >= control.total_bytes ? control.total_bytes : 0;
}
