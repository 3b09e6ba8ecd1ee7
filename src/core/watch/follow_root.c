/* SPDX-License-Identifier: BSD-3-Clause */
/* follow_root.c - see follow_root.h. */
#include "core/watch/follow_root.h"
#include "core/watch/mismatch_detect.h"

static bool is_broadcast(int kind)
{
    return kind >= 0 && kind < COLL_KINDS && coll_has(kind, COLL_ONE_BUFFER);
}

/* Returns the index of an entry for broadcasts in a slot, or -1.  The entries of a slot differ only
 * in parameters that the root alone reads. */
static int find_entry(const struct plan *plan, int slot)
{
    int e = PLAN_FIRST_ENTRY;

    while (e < plan->entries &&
           (plan->entry[e].slot != slot ||
            !is_broadcast(hud_coll_kind(hud_shm_algs[plan->entry[e].row]->coll))))
        e++;
    return e < plan->entries ? e : -1;
}

/* Returns the slot in which a receiver can follow a root, or -1.  member: the receiver, which has
 * begun a broadcast in `slot`. */
static int find_slot(const struct hud_team *team, const struct member_state *member, int root,
                     int slot)
{
    bool has_sent = false;

    for (int r = 0; r < team->id.size && !has_sent; r++)
        has_sent = hud_mismatch_has_sent_another(member, team_member(team, r), r, slot);
    return !has_sent ? hud_mismatch_find_broadcast(member, team_member(team, root), slot) : -1;
}

int hud_follow_root_entry(const struct hud_team *team)
{
    const struct plan_entry *entry = team->plan.entry;
    const struct coll *call = team->plan.call;

    if (!entry || !call || entry->row < 0 || team->hooks.precedes)
        return -1;
    const struct alg *alg = hud_shm_algs[entry->row];
    if (!is_broadcast(hud_coll_kind(alg->coll)) || alg->family->direct ||
        team->id.rank == call->root)
        return -1;
    int slot = find_slot(team, team->shm.mine, call->root, entry->slot);
    return slot >= 0 ? find_entry(team->plan.shared, slot) : -1;
}

bool hud_follow_root_will(const struct hud_team *team, int rank)
{
    const struct member_state *member = team_member(team, rank);
    int slots = team->plan.shared ? team->plan.shared->slots : 0; /* a span's node has no plan */
    bool will = false;

    for (int s = 0; s < slots && !will; s++) {
        uint64_t call = mem_count_observe(&member->calls[s]),
                 shape = mem_count_observe(&member->shape[s][call % MEMBER_SHAPES]);
        int root = member_shape_root(shape);
        will = call != 0 && is_broadcast(member_shape_kind(shape)) && root >= 0 &&
               root < team->id.size && root != rank && find_slot(team, member, root, s) >= 0;
    }
    return will;
}

bool hud_follow_root_is_left(const struct hud_team *team, int rank,
                             const struct mismatch_pair *calls)
{
    const struct mismatch_call *own = &calls->own, *other = &calls->other;

    return is_broadcast(own->kind) && own->kind == other->kind && own->root >= 0 &&
           own->root == other->root && (team->id.rank == own->root || rank != own->root);
}
