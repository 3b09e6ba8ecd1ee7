/* SPDX-License-Identifier: BSD-3-Clause */
/* touch.c - makes pages of a slot and its window present, in larger and larger steps. */
#include "core/call/touch.h"
#include "core/watch/guard.h"
#include "mem/touch.h"

/*
 * Steps of making pages present: at call `op`, up to these bytes of the window and of the slot,
 * whose data short messages walk through.  A rank touches its own slice, and a call later, when the
 * others have likely done the same, theirs.  The first process that uses a page clears it, 2 us;
 * another one maps a page that is there in .1 us.
 */
static const struct step {
    uint64_t op;
    size_t window_bytes, slot_bytes;
} steps[] = { { 1, 16 << 10, 16 << 10 },
              { 4, 64 << 10, 64 << 10 },
              { TOUCH_CALLS - 1, 256 << 10, 1 << 20 } };

enum { STEPS = sizeof steps / sizeof *steps };

/* In a larger team most ranks never read most others' slices.  There one page fault maps 16 pages
 * that their owner has made present. */
enum { TOUCH_RANKS = 16 };

/* Touches bytes [from, to) of a rank's slot or window, as far as it has them. */
static void touch(const struct hud_team *team, int rank, size_t offset, size_t bytes, size_t from,
                  size_t to)
{
    to = bytes < to ? bytes : to;
    if (from < to)
        hud_mem_touch(team->shm.slices[rank] + offset + from, to - from, rank == team->id.rank);
}

static void touch_place(const struct hud_team *team, int rank, const struct coll *call,
                        const struct step *step)
{
    const struct step *before = step > steps ? step - 1 : NULL;
    const struct alg_place *place = call->place;
    size_t walk = call->alg->family->walk_bytes, window = place->window_bytes;

    touch(team, rank, place->slot_offset, place->slot_bytes, before ? before->slot_bytes : 0,
          step->slot_bytes);
    touch(team, rank, place->window_offset, walk != 0 && walk < window ? walk : window,
          before ? before->window_bytes : 0, step->window_bytes);
}

/* Touches the lines about another rank's copies: they are first read after many calls. */
static void touch_lines(const struct hud_team *team, int rank)
{
    touch(team, rank, team->shm.mem_team.lines, sizeof(struct lines_member), 0,
          sizeof(struct lines_member));
}

static void touch_others(const struct hud_team *team, const struct coll *call,
                         const struct step *step)
{
    if (team->id.size > TOUCH_RANKS)
        return;
    for (int r = 0; r < team->id.size; r++) {
        if (r == team->id.rank)
            continue;
        touch_place(team, r, call, step);
        if (step == steps)
            touch_lines(team, r);
    }
}

int hud_touch_and_run(const struct hud_team *team, struct mem *m, const struct coll *call)
{
    for (const struct step *step = steps; step < steps + STEPS; step++) {
        if (call->op == step->op)
            touch_place(team, team->id.rank, call, step);
        else if (call->op == step->op + 1)
            touch_others(team, call, step);
    }
    return hud_guard_run(alg_run_of(call->alg, call->place), m, call);
}
