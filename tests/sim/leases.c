/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * leases.c - a member leaves its team when its own last call returns, whatever the others still do.
 * It leases its slice again when all members have left.
 *
 * Teams differ, so that only the departures order a team's last accesses before the next lease.
 * There is no gather before a slice is zeroed.
 */
#include "leases.h"

#include "calls.h"
#include "check/grow.h"
#include "core/slice/team_leave.h"

#include <string.h>

enum { ROUNDS = 10, LEASE_BYTES = 64 << 10, MESSAGE_BYTES = 96, ALGS = 96 };

struct round {
    int size, *members, *index; /* index[rank]: the rank's number in the team, or -1 if it is not a
                                 * member */
    struct shape_groups groups;
    struct sim_team *team;
    int root;
    unsigned first; /* index of the algorithm of the first call */
};

struct leases {
    uint64_t random;
    int ranks, algs;
    long param[ALGS][ALG_PARAMS];
    struct alg_place place[ALGS];
    struct round round[ROUNDS];
    struct call_user **user; /* [ranks] */
};

static uint64_t below(struct leases *l, uint64_t end)
{
    l->random = l->random * 6364136223846793005u + 1442695040888963407u;
    return (l->random >> 33) % end;
}

static void make_layout(struct leases *l)
{
    size_t at = sizeof(struct slice_head);

    for (; hud_sim_algs[l->algs]; l->algs++) {
        const struct alg *alg = hud_sim_algs[l->algs];
        long *param = l->param[l->algs];
        for (int p = 0; alg_param_at(alg, p); p++)
            param[p] = alg_param_at(alg, p)->preset;
        l->place[l->algs] = alg_place_alone(alg, param, l->ranks, at, LEASE_BYTES - at);
        at += alg_place_bytes(&l->place[l->algs]);
    }
}

static void make_round(struct leases *l, struct sim *sim, struct round *r)
{
    r->members = hud_must(calloc((size_t)l->ranks, sizeof *r->members));
    r->index = hud_must(calloc((size_t)l->ranks, sizeof *r->index));
    for (int rank = 0; rank < l->ranks; rank++) {
        bool member = below(l, 3) != 0 || (rank == l->ranks - 1 && r->size == 0);
        r->index[rank] = member ? r->size : -1;
        if (member)
            r->members[r->size++] = rank;
    }
    r->root = (int)below(l, (uint64_t)r->size);
    r->first = (unsigned)below(l, (uint64_t)l->algs);
    r->team = hud_sim_team_create(sim, r->size, r->members, 0, LEASE_BYTES);
    const struct shape_place unbound = { .ranks = r->size };
    if (hud_shape_groups_build(&unbound, &r->groups) != 0)
        hud_must(NULL);
}

static void free_round(struct round *r)
{
    hud_shape_groups_free(&r->groups);
    free(r->members);
    free(r->index);
}

/* Makes one call of each algorithm. The last call may be of any algorithm, so members leave while
 * others are still in the call. */
static void use(struct leases *l, const struct round *r, struct mem *m, struct sim *sim,
                struct call_user *user)
{
    for (int i = 0; i < l->algs; i++) {
        int a = (int)(r->first + (unsigned)i) % l->algs;
        struct coll c = { .root = r->root, .op = 1, .groups = &r->groups };
        const struct call call = { .alg = hud_sim_algs[a],
                                   .bytes = MESSAGE_BYTES,
                                   .id = (uint64_t)a,
                                   .root = r->root,
                                   .ranks = r->size,
                                   .element = 8,
                                   .shorter = -1 };
        call_prepare(&call, mem_rank(m), user, sim, &c);
        c.param = l->param[a];
        c.place = &l->place[a];
        if (alg_accepts(hud_sim_algs[a], &c, r->size))
            call_verify(&call, mem_rank(m), user, sim, hud_sim_call(m, hud_sim_algs[a], &c));
    }
}

static void body(struct sim *sim, int rank, void *arg)
{
    struct leases *l = arg;
    struct mem *held = NULL;
    bool alike = true;

    for (int i = 0; i < ROUNDS; i++) {
        struct round *r = &l->round[i];
        if (r->index[rank] < 0)
            continue;
        struct mem *m = hud_sim_team_mem(r->team, r->index[rank]);
        while (held && !hud_sim_team_is_left(held, mem_size(held), LEASE_BYTES, &alike))
            ;
        hud_sim_lease(m);
        hud_sim_gather(m);
        use(l, r, m, sim, l->user[rank]);
        hud_sim_team_leave(m, LEASE_BYTES);
        held = m;
    }
}

bool leases_run(const struct sequence_options *o, struct sequence_sums *sums, FILE *to)
{
    struct leases l = { .random = o->seed * 7919 + (uint64_t)o->ranks, .ranks = o->ranks };
    const struct sim_options options = sequence_sim(o, o->seed, LEASE_BYTES);
    struct sim *sim = hud_sim_create(&options);

    l.user = hud_must(calloc((size_t)o->ranks, sizeof *l.user));
    for (int r = 0; r < o->ranks; r++)
        l.user[r] = call_user_create(sim, o->ranks, MESSAGE_BYTES * (size_t)o->ranks);
    make_layout(&l);
    for (int i = 0; i < ROUNDS; i++) {
        make_round(&l, sim, &l.round[i]);
        sums->calls += (unsigned long)l.algs;
    }
    bool clean = hud_sim_run(sim, body, &l);
    if (!clean)
        sequence_report_core(sim, "team_leave", o, to);
    sequence_count(sim, sums);
    for (int i = 0; i < ROUNDS; i++)
        free_round(&l.round[i]);
    for (int r = 0; r < o->ranks; r++)
        call_user_free(l.user[r]);
    free(l.user);
    return clean;
}
