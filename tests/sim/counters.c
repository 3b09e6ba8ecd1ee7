/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * counters.c - slots of algorithms that count their own calls, as after many calls without data.
 *
 * Their flags hold that count in 32 bits, or 16.  A flag that stayed at 0 would be ahead of a count
 * near the end of these, so the flags begin with it, too.
 */
#include "counters.h"

#include "alg/one_way/one_way.h"
#include "alg/pairs/pairs.h"
#include "alg/scan/chain.h"
#include "alg/windows/windows.h"
#include "sim/sim.h"

#include <string.h>

/* In two steps: a flag grows by less than 2^63. */
static void begin_at(struct mem *m, mem_flag *flag, uint64_t value)
{
    mem_post(m, flag, value / 2);
    mem_post(m, flag, value);
}

static void start_windows(struct mem *m, uint64_t calls)
{
    struct windows_slot *mine = mem_slot(m, mem_rank(m));

    mem_put(m, &mine->op, calls);
    for (int r = 0; r < mem_size(m); r++) {
        begin_at(m, &mine->to[r].full[calls % 2], tiles_full(calls, 0, false));
        begin_at(m, &mine->to[r].full[(calls - 1) % 2], tiles_full(calls - 1, 0, false));
        begin_at(m, &mine->to[r].acknowledged, tiles_acknowledged(calls, 0));
    }
}

static void start_one_way(struct mem *m, uint64_t calls)
{
    struct one_way_slot *mine = mem_slot(m, mem_rank(m));

    mem_put(m, &mine->op, calls);
    for (int i = 0; i < RING_MAX; i++)
        mem_put(m, &mine->to[i], (uint64_t)mem_rank(m));
    for (int r = 0; r < mem_size(m); r++)
        begin_at(m, &mine->taken[r], one_way_count(calls / TELL_ALL * TELL_ALL + 1, 0));
}

static void start_chain(struct mem *m, uint64_t calls)
{
    struct chain_slot *mine = mem_slot(m, mem_rank(m));
    uint64_t position = calls << CHAIN_FRAGMENTS;

    mem_put(m, &mine->calls, calls);
    mem_put(m, &mine->freed, position);
    for (int i = 0; i < CHAIN_CELLS_MAX; i++)
        mem_put(m, &mine->until[i], position);
    begin_at(m, &mine->sent, position);
    begin_at(m, &mine->done, position);
}

static const struct counting {
    const char *coll, *name;
    void (*start)(struct mem *m, uint64_t calls);
} counting[] = {
    { "alltoall", "windows", start_windows },  { "alltoallv", "windows", start_windows },
    { "allgather", "windows", start_windows }, { "allgatherv", "windows", start_windows },
    { "gather", "windows", start_one_way },    { "gatherv", "windows", start_one_way },
    { "scatter", "windows", start_one_way },   { "scatterv", "windows", start_one_way },
    { "scan", "chain", start_chain },          { "exscan", "chain", start_chain },
};

static const struct counting *counting_of(const struct alg *alg)
{
    for (size_t i = 0; i < sizeof counting / sizeof *counting; i++)
        if (strcmp(counting[i].coll, alg->coll) == 0 && strcmp(counting[i].name, alg->name) == 0)
            return &counting[i];
    return NULL;
}

bool counters_start(struct mem *m, const struct alg *alg, const struct alg_place *place,
                    uint64_t calls)
{
    const struct counting *counts = counting_of(alg);

    if (!counts || calls == 0 || place->slot_bytes == 0)
        return false;
    hud_sim_region(m, place->slot_offset, place->slot_bytes);
    counts->start(m, calls);
    return true;
}

void counters_start_pairs(struct mem *m, const struct alg_place *place, int ranks, uint64_t calls)
{
    hud_sim_region(m, place->slot_offset, place->slot_bytes);
    struct pairs_lines *mine = mem_slot(m, mem_rank(m));
    uint64_t value = calls << PAIRS_CALL_BITS | (uint64_t)ranks << PAIRS_STEP_BITS;

    mem_put(m, &mine->calls, calls);
    begin_at(m, &mine->sent, value);
    begin_at(m, &mine->got, value);
}
