/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * rollcall.c - every member publishes the call that it enters, and reads those of the others,
 * before the call begins.
 *
 * Source    this project.
 * Shape     p ranks, each reads a line of every other one
 * Cost      T = (p - 1) l    ns; l one line transfer
 *
 * No member begins call n before all have entered it, so no member is more than one call ahead. The
 * data of calls n - 1 and n stay readable while another member is in call n: line n mod 3 is
 * written again for call n + 3.  Its owner enters that call when all have entered n + 2, and so
 * have left n and n + 1.
 *
 * Line               written by   read by     value k means
 *   slot[r].entered  r            all others  r has entered call k; payload: its call
 *   slot[r].left     r            all others  r has returned from call k; payload: when
 *
 * Edges     R1 -> A1   r's data of call n       happens before  another one reads it, and begins
 *                      the call
 *           R1 -> A2   r's data of a call       happens before  another one, that waits, reads it
 *           R2 -> A3   when r left a call       happens before  another one, that waits, reads it
 */
#include "core/watch/rollcall.h"

_Static_assert(sizeof(struct roll_record) <= MEM_PAYLOAD && sizeof(struct roll_record) % 8 == 0,
               "a record travels in a flag's line");

union words {
    uint64_t word[sizeof(struct roll_record) / 8];
    struct roll_record record;
};
enum { WORDS = sizeof(union words) / 8 };

static void read_record(struct mem *m, const mem_flag *line, struct roll_record *record)
{
    union words w;

    for (int i = 0; i < WORDS; i++)
        w.word[i] = mem_get(m, &line->payload[i]);
    *record = w.record;
}

void HUD_BACKEND(roll_enter)(struct mem *m, uint64_t n, const struct roll_record *mine)
{
    struct roll_slot *slot = mem_slot(m, mem_rank(m));
    mem_flag *line = &slot->entered[n % ROLL_TURNS];
    union words w = { .record = *mine };

    for (int i = 0; i < WORDS; i++)
        mem_put(m, &line->payload[i], w.word[i]);
    mem_post(m, line, n); /* R1 */
}

void HUD_BACKEND(roll_await)(struct mem *m, uint64_t n, int rank, struct roll_record *theirs)
{
    struct roll_slot *slot = mem_slot(m, rank);
    mem_flag *line = &slot->entered[n % ROLL_TURNS];

    mem_await(m, line, n); /* A1 */
    read_record(m, line, theirs);
}

bool HUD_BACKEND(roll_peek)(struct mem *m, uint64_t n, int rank, struct roll_record *theirs)
{
    struct roll_slot *slot = mem_slot(m, rank);
    mem_flag *line = &slot->entered[n % ROLL_TURNS];

    if (mem_peek(m, line) != n) /* A2 */
        return false;
    read_record(m, line, theirs);
    return true;
}

void HUD_BACKEND(roll_leave)(struct mem *m, uint64_t n, uint64_t now_ns)
{
    struct roll_slot *slot = mem_slot(m, mem_rank(m));
    mem_flag *line = &slot->left[n % ROLL_TURNS];

    mem_put(m, &line->payload[0], now_ns);
    mem_post(m, line, n); /* R2 */
}

uint64_t HUD_BACKEND(roll_left_ns)(struct mem *m, uint64_t n, int rank)
{
    struct roll_slot *slot = mem_slot(m, rank);
    mem_flag *line = &slot->left[(n - 1) % ROLL_TURNS];

    return mem_peek(m, line) == n - 1 ? mem_get(m, &line->payload[0]) : 0; /* A3 */
}
