/* SPDX-License-Identifier: BSD-3-Clause */
/* layout_version.c - the version of huddle and of the layout of a slice, which a hello carries. */
#include "core/call/layout_version.h"
#include "base/hash.h"
#include "core/span/span.h"

static uint64_t hash_algorithms(uint64_t h, const struct alg *const *algs)
{
    for (int a = 0; algs[a]; a++) {
        h = hash_text(hash_text(h, algs[a]->coll), algs[a]->name);
        h = hash_number(h, algs[a]->family->fixed_bytes);
    }
    return h;
}

/* Hashes whatever must be the same for two ranks to understand each other's slices: sizes stand
 * for their structures. */
uint64_t hud_layout_version(void)
{
    uint64_t h = hash_number(hash_text(HASH_START, hud_version()), hud_rules_builtin_digest());

    h = hash_number(hash_number(h, sizeof(void *)), sizeof(struct arena_head));
    h = hash_number(hash_number(h, sizeof(mem_flag)), sizeof(struct place_table));
    h = hash_number(h, sizeof(struct reply));
    h = hash_number(h, sizeof(struct wisdom_line));
    h = hash_algorithms(hash_algorithms(h, hud_shm_algs), hud_shm_nodes_algs);
    for (int family = 0; family < SPAN_FAMILIES; family++) {
        const struct alg_place place = hud_span_place_of(family, NODES_BUFFER_BYTES);
        h = hash_number(hash_number(h, place.slot_offset), place.window_offset);
    }
    return h;
}
