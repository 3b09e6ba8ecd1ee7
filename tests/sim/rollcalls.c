/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * rollcalls.c - verifies that every rank reads the others' records of this very call, and that a
 * record of a rank that has not entered yet is of the call before.
 *
 * Only the roll call orders one call and the next, so ranks drift as far apart as it allows.
 */
#include "rollcalls.h"

#include "check/grow.h"
#include "core/watch/rollcall.h"

#include <string.h>

enum { CALLS = 12, LEASE_BYTES = 4096 };

struct rollcalls {
    struct sim_team *team;
};

static struct roll_record record_of(int rank, uint64_t n)
{
    struct roll_record r;

    memset(&r, 0, sizeof r);
    snprintf(r.name, sizeof r.name, "rank %d", rank);
    snprintf(r.detail, sizeof r.detail, "call %llu", (unsigned long long)n);
    r.bytes = n;
    r.root = rank;
    r.entered_ns = 1000 * n + (uint64_t)rank;
    return r;
}

static uint64_t left_of(int rank, uint64_t n)
{
    return 1000 * n + 500 + (uint64_t)rank;
}

static void verify(struct sim *sim, const struct roll_record *got, int rank, uint64_t n)
{
    const struct roll_record want = record_of(rank, n);

    if (memcmp(got, &want, sizeof want) != 0)
        hud_sim_fail(sim, "wrong record of rank %d's call %llu: '%s', '%s'", rank,
                     (unsigned long long)n, got->name, got->detail);
}

/* Verifies the records of all ranks from inside call n. */
static void look_around(struct sim *sim, struct mem *m, uint64_t n)
{
    struct roll_record r;

    for (int rank = 0; rank < mem_size(m); rank++) {
        if (hud_sim_roll_peek(m, n, rank, &r)) {
            verify(sim, &r, rank, n);
            continue;
        }
        uint64_t left = hud_sim_roll_left_ns(m, n, rank);
        if (n > 1 && left != 0 && left != left_of(rank, n - 1))
            hud_sim_fail(sim, "rank %d left call %llu at %llu", rank, (unsigned long long)n - 1,
                         (unsigned long long)left);
        if (n > 1 && !hud_sim_roll_peek(m, n - 1, rank, &r))
            hud_sim_fail(sim, "rank %d has no record of this call or of the call before", rank);
        else if (n > 1)
            verify(sim, &r, rank, n - 1);
    }
}

static void body(struct sim *sim, int rank, void *arg)
{
    struct mem *m = hud_sim_team_mem(((struct rollcalls *)arg)->team, rank);
    struct roll_record r;

    hud_sim_lease(m);
    hud_sim_gather(m);
    hud_sim_region(m, 0, LEASE_BYTES);
    for (uint64_t n = 1; n <= CALLS; n++) {
        r = record_of(rank, n);
        hud_sim_roll_enter(m, n, &r);
        for (uint64_t looks = hud_sim_random(sim, 2); looks > 0; looks--)
            look_around(sim, m, n);
        for (int other = 0; other < mem_size(m); other++) {
            hud_sim_roll_await(m, n, other, &r);
            verify(sim, &r, other, n);
        }
        for (int other = 0; other < mem_size(m); other++) {
            uint64_t left = hud_sim_random(sim, 3) == 0 ? hud_sim_roll_left_ns(m, n + 1, other) : 0;
            if (left != 0 && left != left_of(other, n))
                hud_sim_fail(sim, "rank %d left call %llu at %llu", other, (unsigned long long)n,
                             (unsigned long long)left);
        }
        hud_sim_roll_leave(m, n, left_of(rank, n));
    }
    r = record_of(rank, CALLS + 1); /* a rank that frees its team does not wait for the
                                     * others */
    hud_sim_roll_enter(m, CALLS + 1, &r);
}

bool rollcalls_run(const struct sequence_options *o, struct sequence_sums *sums, FILE *to)
{
    struct rollcalls c;
    const struct sim_options options = sequence_sim(o, o->seed, LEASE_BYTES);
    struct sim *sim = hud_sim_create(&options);
    int *members = hud_must(calloc((size_t)o->ranks, sizeof *members));

    for (int r = 0; r < o->ranks; r++)
        members[r] = r;
    c.team = hud_sim_team_create(sim, o->ranks, members, 0, LEASE_BYTES);
    bool clean = hud_sim_run(sim, body, &c);
    if (!clean)
        sequence_report_core(sim, "rollcall", o, to);
    sums->calls += CALLS;
    sequence_count(sim, sums);
    free(members);
    return clean;
}
