/* SPDX-License-Identifier: BSD-3-Clause */
/* test_copy_ways_samples.c - which reads and writes count when a rank learns the best way to copy
 * to its lines (src/mem/lines.c), with simulated costs. */
#include "lines_machine.h"

/* Reads a fragment at rank 1 for a reduction, which takes ten times as long as a copy. */
static void reduce_from(const char *from)
{
    struct lines_use read = hud_lines_begin_read(&rank[1].m, from, COPY, LINES_REDUCTION);

    step = 10 * ticks_of(run->place->out[read.way]);
    hud_lines_end_read(&rank[1].m, &read, COPY);
}

/* Returns the time of rank 1 to read lines of a way, in ticks per KB, and 0 if unknown. */
static uint32_t time_of_reads(unsigned way)
{
    const struct lines_member *reader = (const struct lines_member *)(const void *)slices[1];

    return atomic_load(&reader->out[run->cell][way]) / LINES_PARTS;
}

/* Reads each fragment for a reduction, and from some time on also copies it out. Then only the
 * times of the copies count. */
static void reductions_do_not_count_as_copies_out(void **state)
{
    (void)state;
    begin_one(ALL_WAYS, NEAR, 4);
    run->silent = true;
    for (int n = 0; n < 10000; n++) {
        copies(1);
        reduce_from(fragment(run->copies - 1, &(int){ 0 }));
    }
    assert_int_equal(time_of_reads(LINES_RETURNED),
                     10 * ticks_of(places[NEAR].out[LINES_RETURNED]) / 4);
    run->silent = false;
    for (int n = 0; n < 10000; n++) {
        copies(1);
        reduce_from(fragment(run->copies - 1, &(int){ 0 }));
        for (unsigned way = 0; way < LINES_WAYS; way++)
            assert_true(time_of_reads(way) == 0 ||
                        time_of_reads(way) == ticks_of(places[NEAR].out[way]) / 4);
    }
    assert_int_not_equal(time_of_reads(LINES_RETURNED), 0);
}

/* Copies out of its own lines at rank 1. Their times tell nothing about lines of rank 0, which rank
 * 1 only reads for reductions. */
static void copies_out_of_own_lines_do_not_count(void **state)
{
    (void)state;
    begin_one(ALL_WAYS, NEAR, 4);
    run->silent = true;
    for (int n = 0; n < 10000; n++) {
        copies(1);
        struct lines_use own = hud_lines_begin_read(&rank[1].m, slices[1] + DATA, COPY, LINES_COPY);
        hud_lines_end_read(&rank[1].m, &own, COPY);
        reduce_from(fragment(run->copies - 1, &(int){ 0 }));
    }
    assert_int_not_equal(time_of_reads(LINES_RETURNED), 0);
}

/* Writes reductions and packs to the ring of copies, also while the loss of a trial is made up for.
 * They change nothing. */
static void other_work_does_not_act_for_copies_in(void **state)
{
    (void)state;
    begin_one(ALL_WAYS, NEAR, 4);
    struct lines_cell *cell = &rank[0].cell[run->cell];
    for (int n = 0; n < 2000; n++) {
        copies(1);
        const struct lines_cell before = *cell;
        unsigned way = published();
        for (int i = 0; i < 20; i++) {
            struct lines_use write = hud_lines_begin_write(&rank[0].m, slices[0] + DATA, COPY,
                                                           i % 2 ? LINES_REDUCTION : LINES_PACKING);
            hud_lines_end_write(&rank[0].m, &write, COPY);
        }
        assert_memory_equal(cell, &before, sizeof before);
        assert_int_equal(published(), way);
    }
}

/* Writes to lines of rank 0 at rank 1 between the copies. These writes take the way of rank 0, and
 * rank 1 learns nothing from them. */
static void writes_to_lines_of_another_rank_do_not_count(void **state)
{
    (void)state;
    for (int place = 0; place < PLACES; place++) {
        begin_one(ALL_WAYS, place, 4);
        const struct lines_member *mine = (const struct lines_member *)(const void *)slices[1];
        unsigned first = atomic_load(&mine->way[run->cell]);
        for (int n = 0; n < 10000; n++) {
            copies(1);
            const struct lines_cell before = rank[1].cell[run->cell];
            struct lines_use write =
                hud_lines_begin_write(&rank[1].m, slices[0] + DATA, COPY, LINES_COPY);
            assert_int_equal(write.way, published());
            hud_lines_end_write(&rank[1].m, &write, COPY);
            assert_memory_equal(&rank[1].cell[run->cell], &before, sizeof before);
        }
        assert_int_equal(atomic_load(&mine->way[run->cell]), first);
    }
}

/* Makes a copy of 1 MB in and out, at a third of the speed of copies of 4 KB. */
static void copy_large(void)
{
    enum { LARGE = 1 << 20 };
    struct lines_use write = hud_lines_begin_write(&rank[0].m, slices[0] + DATA, LARGE, LINES_COPY);

    step =
        3 * LARGE / COPY * ticks_of(run->place->in[(write.way & LINES_NONTEMPORAL) | run->left[0]]);
    hud_lines_end_write(&rank[0].m, &write, LARGE);
    run->written[0] = write.way & LINES_NONTEMPORAL;
    struct lines_use read = hud_lines_begin_read(&rank[1].m, slices[0] + DATA, LARGE, LINES_COPY);
    run->left[0] = (unsigned char)(read.way & LINES_RETURNED);
    step = 3 * LARGE / COPY * ticks_of(run->place->out[run->written[0] | run->left[0]]);
    hud_lines_end_read(&rank[1].m, &read, LARGE);
}

/* Alternates between copies of 4 KB and of 1 MB. All known times must be of 4 KB, the first size.
 * After many copies of 1 MB, they must be of 1 MB. */
static void sizes_are_not_mixed(void **state)
{
    (void)state;
    for (int place = 0; place < PLACES; place++)
        for (unsigned burst = 1; burst <= 100; burst *= 10) {
            begin_one(ALL_WAYS, place, 1);
            const struct lines_cell *cell = &rank[0].cell[run->cell];
            for (unsigned n = 0; n < LONG / 4; n += burst) {
                copies(burst);
                for (unsigned i = 0; i < burst; i++)
                    copy_large();
                for (unsigned way = 0; way < LINES_WAYS; way++) {
                    uint64_t in = cell->known[0].in[way] / LINES_PARTS;
                    assert_true(in == 0 || in <= ticks_of(run->place->in[way]) / 4);
                    assert_true(time_of_reads(way) <= ticks_of(run->place->out[way]) / 4);
                }
            }
            expect(in_use() == cheapest(), "not the cheapest way with two sizes");
            for (unsigned n = 0; n < LONG / 4; n++)
                copy_large();
            expect(in_use() == cheapest(), "not the cheapest way after a change of size");
            assert_int_equal(cell->known[0].in[in_use()] / LINES_PARTS,
                             3 * ticks_of(run->place->in[in_use()]) / 4);
        }
}

/* Makes phases of copies of 4 KB and of 1 MB.  Ways are not tried anew in each phase. */
static void changes_of_size_lose_little(void **state)
{
    (void)state;
    for (int place = 0; place < PLACES; place++) {
        begin_one(ALL_WAYS, place, 16);
        for (int phase = 0; phase < 100; phase++) {
            copies(600);
            for (unsigned i = 0; i < 600; i++)
                copy_large();
        }
        expect(others() < 4, "ways are tried in each phase");
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(changes_of_size_lose_little),
        cmocka_unit_test(reductions_do_not_count_as_copies_out),
        cmocka_unit_test(copies_out_of_own_lines_do_not_count),
        cmocka_unit_test(other_work_does_not_act_for_copies_in),
        cmocka_unit_test(writes_to_lines_of_another_rank_do_not_count),
        cmocka_unit_test(sizes_are_not_mixed),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
