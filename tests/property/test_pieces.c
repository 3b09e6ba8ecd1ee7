/* SPDX-License-Identifier: BSD-3-Clause */
/* test_pieces.c - the pieces of all fragments contain each byte of the message once, pieces of a
 * fragment do not overlap in its set, and sets are used in turn. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include "shape/pieces.h"
#include "shape_checks.h"

#include <stdlib.h>

enum { OWNERS = 12, BLOCK = 300 };

/* Returns a random layout: blocks of equal or of any lengths, and cells with room for a piece. */
static struct pieces random_cut(size_t *blocks)
{
    struct pieces s = { .count = random_between(1, OWNERS),
                        .sets = (uint64_t)random_between(1, 4) };

    s.at_once = random_between(1, s.count);
    s.piece_bytes = (size_t)random_between(1, BLOCK);
    s.cell_bytes = s.piece_bytes + (size_t)random_between(0, 9);
    s.set_bytes = s.cell_bytes * (size_t)s.at_once + (size_t)random_between(0, 9);
    if (random_between(0, 1)) {
        s.block_bytes = (size_t)random_between(1, BLOCK);
        s.bytes = (size_t)random_between(0, s.count * (int)s.block_bytes);
        return s;
    }
    for (int i = 0; i < s.count; i++)
        s.bytes += blocks[i] = random_between(0, 2) ? (size_t)random_between(1, BLOCK) : 0;
    s.blocks = blocks;
    return s;
}

/* Checks a fragment, and adds its bytes to those already received of each owner. Returns the bytes
 * of the fragment. */
static size_t check_fragment(const struct pieces *s, const struct pieces_place *f,
                             const size_t *starts, size_t *had)
{
    size_t bytes = 0, in_set = f->at % s->sets * s->set_bytes, end = in_set;
    int owner = f->owner;

    for (struct piece piece = pieces_before(f); pieces_each(s, f, &piece); owner++) {
        assert_int_equal(piece.owner, owner);
        assert_in_range(pieces_at(s, f, &piece), end, in_set + s->set_bytes - s->piece_bytes);
        end = pieces_at(s, f, &piece) + s->piece_bytes;
        assert_in_range(piece.bytes, 0, s->piece_bytes);
        if (piece.bytes != 0)
            assert_int_equal(piece.offset_bytes, starts[owner] + had[owner]);
        had[owner] += piece.bytes;
        bytes += piece.bytes;
    }
    assert_int_equal(owner, f->owner + s->at_once < s->count ? f->owner + s->at_once : s->count);
    return bytes;
}

static void pieces_contain_each_byte_once(void **state)
{
    (void)state;
    for (int i = 0; i < 20000; i++) {
        size_t blocks[OWNERS] = { 0 }, starts[OWNERS + 1] = { 0 }, had[OWNERS] = { 0 };
        const struct pieces s = random_cut(blocks);
        struct pieces_place f = { .at = (uint64_t)random_between(0, 1 << 20) };
        uint64_t at = f.at;

        for (int owner = 0; owner < s.count; owner++)
            starts[owner + 1] = starts[owner] + pieces_block(&s, owner);
        assert_int_equal(starts[s.count], s.bytes);
        for (pieces_begin(&s, &f); pieces_more(&s, &f); pieces_next(&s, &f)) {
            assert_int_equal(f.at, at++);
            assert_int_not_equal(check_fragment(&s, &f, starts, had), 0);
        }
        assert_int_equal(f.at, at);
        for (int owner = 0; owner < s.count; owner++)
            assert_int_equal(had[owner], pieces_block(&s, owner));
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(pieces_contain_each_byte_once),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
