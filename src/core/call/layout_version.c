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

/* Hashes whatever must be the same for two ranks to understand each other's slices.  Sizes and
 * places of fields stand for their structures. */
uint64_t hud_layout_version(void)
{
    static const size_t numbers[] = { sizeof(void *),
                                      sizeof(mem_flag),
                                      SLICE_HEAD_MEANING,
                                      sizeof(struct slice_head),
                                      sizeof(struct member_state),
                                      offsetof(struct member_state, shape),
                                      offsetof(struct member_state, gave_up),
                                      offsetof(struct member_state, before),
                                      offsetof(struct member_state, reach),
                                      offsetof(struct member_state, lines),
                                      sizeof(struct place_table),
                                      sizeof((union hello *)0)->fields,
                                      offsetof(union hello, fields.offer_bytes),
                                      offsetof(union hello, fields.settings),
                                      offsetof(union hello, fields.known),
                                      offsetof(union hello, fields.card),
                                      offsetof(union hello, fields.cpus),
                                      sizeof(struct reply),
                                      sizeof(struct wisdom_line) };
    uint64_t h = hash_number(hud_arena_layout(), hud_rules_builtin_digest());

    for (size_t i = 0; i < sizeof numbers / sizeof *numbers; i++)
        h = hash_number(h, numbers[i]);
    h = hash_algorithms(hash_algorithms(h, hud_shm_algs), hud_shm_nodes_algs);
    for (int family = 0; family < SPAN_FAMILIES; family++) {
        const struct alg_place place = hud_span_place_of(family, NODES_BUFFER_BYTES);
        h = hash_number(hash_number(h, place.slot_offset), place.window_offset);
    }
    return h;
}
