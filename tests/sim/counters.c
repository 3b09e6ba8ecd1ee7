/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * counters.c - sets the slots of algorithms that count their own calls to the state after many
 * calls without data.
 *
 * The flags of these algorithms hold the count in 32 or 16 bits. A flag that stayed at 0 would be
 * ahead of a count near the end of this range, so the flags start with the count, too.
 */
#include "counters.h"

#include "alg/gather_scatter/gather_scatter.h"
#include "alg/pairwise/pairwise.h"
#include "alg/scan/chain.h"
#include "alg/windows/windows.h"
#include "check/sim.h"

#include <string.h>

/* Sets a flag to a value in two steps, because a flag grows by less than 2^63. */
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

static void start_gather_scatter(struct mem *m, uint64_t calls)
{
    struct gather_scatter_slot *mine = mem_slot(m, mem_rank(m));

    mem_put(m, &mine->op, calls);
    for (int i = 0; i < RING_MAX; i++)
        mem_put(m, &mine->to[i], (uint64_t)mem_rank(m));
    for (int r = 0; r < mem_size(m); r++)
        begin_at(m, &mine->consumed[r],
                 gather_scatter_count(calls / ACKNOWLEDGE_ALL * ACKNOWLEDGE_ALL + 1, 0));
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
    { "alltoall", "windows", start_windows },
    { "alltoallv", "windows", start_windows },
    { "allgather", "windows", start_windows },
    { "allgatherv", "windows", start_windows },
    { "gather", "windows", start_gather_scatter },
    { "gatherv", "windows", start_gather_scatter },
    { "scatter", "windows", start_gather_scatter },
    { "scatterv", "windows", start_gather_scatter },
    { "scan", "chain", start_chain },
    { "exscan", "chain", start_chain },
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

void counters_start_pairwise(struct mem *m, const struct alg_place *place, int ranks,
                             uint64_t calls)
{
    hud_sim_region(m, place->slot_offset, place->slot_bytes);
    struct pairwise_lines *mine = mem_slot(m, mem_rank(m));
    uint64_t value = calls << PAIRWISE_CALL_BITS | (uint64_t)ranks << PAIRWISE_STEP_BITS;

    mem_put(m, &mine->calls, calls);
    begin_at(m, &mine->sent, value);
    begin_at(m, &mine->got, value);
}
