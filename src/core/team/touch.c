/* SPDX-License-Identifier: BSD-3-Clause */
/* touch.c - makes pages of a slot and its window present, in larger and larger steps. */
#include "core/team/touch.h"
#include "core/team/guard.h"
#include "mem/touch.h"

/*
 * By call `op` so many bytes from the beginning of the slot on, and of its window, are present: of
 * this rank's slice, and a call later, when the others have likely done the same, of theirs.  The
 * first process that uses a page clears it, 2 us; another one maps a page that is there in .1 us.
 */
static const struct step {
    uint64_t op;
    size_t bytes;
} steps[] = { { 1, 16 << 10 }, { 4, 64 << 10 }, { TOUCH_CALLS - 1, 256 << 10 } };

enum { STEPS = sizeof steps / sizeof *steps };

/* In a larger team most ranks never read most others' slices.  There one page fault maps 16 pages
 * that their owner has made present. */
enum { TOUCH_RANKS = 16 };

static void touch(const struct hud_team *team, int rank, size_t offset, size_t bytes,
                  const struct step *step)
{
    size_t from = step > steps ? step[-1].bytes : 0, to = bytes < step->bytes ? bytes : step->bytes;

    if (from < to)
        hud_mem_touch(team->slices[rank] + offset + from, to - from, rank == team->rank);
}

static void touch_place(const struct hud_team *team, int rank, const struct coll *call,
                        const struct step *step)
{
    const struct alg_place *place = call->place;
    size_t walk = call->alg->family->walk_bytes;

    touch(team, rank, place->slot_offset, place->slot_bytes, step);
    touch(team, rank, place->window_offset,
          walk != 0 && walk < place->window_bytes ? walk : place->window_bytes, step);
}

static void touch_others(const struct hud_team *team, const struct coll *call,
                         const struct step *step)
{
    for (int r = 0; team->size <= TOUCH_RANKS && r < team->size; r++)
        if (r != team->rank)
            touch_place(team, r, call, step);
}

int hud_touch_and_run(const struct hud_team *team, struct mem *m, const struct coll *call)
{
    for (const struct step *step = steps; step < steps + STEPS; step++) {
        if (call->op == step->op)
            touch_place(team, team->rank, call, step);
        else if (call->op == step->op + 1)
            touch_others(team, call, step);
    }
    return hud_guard_run(alg_run_of(call->alg, call->place), m, call);
}
