/* SPDX-License-Identifier: BSD-3-Clause */
/* test_copy.c - the copy with non-temporal stores, for every length and alignment around its
 * blocks, changes no byte outside the target. Long copies in every way. Copies between spans of all
 * kinds. */
#include "mem/mem.h"

#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cmocka.h>

enum { MAX_BYTES = 400, PLACES = 65, BYTES = MAX_BYTES + 2 * PLACES };

static void stream_copies_every_length_and_alignment(void **state)
{
    static unsigned char from[BYTES], to[BYTES], want[BYTES];

    (void)state;
    for (size_t i = 0; i < BYTES; i++)
        from[i] = (unsigned char)(i * 37 + 1);
    for (size_t bytes = 0; bytes <= MAX_BYTES; bytes += bytes < 140 ? 1 : 13)
        for (size_t a = 0; a < PLACES; a += 3)
            for (size_t b = 0; b < PLACES; b++) {
                memset(to, 0, sizeof to);
                memset(want, 0, sizeof want);
                memcpy(want + b, from + a, bytes);
                hud_mem_stream(to + b, from + a, bytes);
                assert_memory_equal(to, want, sizeof to);
            }
}

/* A team of two ranks in one process: this rank, and the rank whose lines it reads. */
enum { SLICE = 64 << 10, DATA = 4096 };

static struct {
    _Alignas(HUD_LINE) char slice[2][SLICE];
    struct lines_cell cell[LINES_CELLS];
    char *slices[2];
    struct mem_policy policy;
    struct mem_team team;
    struct mem m;
} two;

static void make_two(unsigned ways, size_t stream_bytes)
{
    memset(&two, 0, sizeof two);
    two.slices[0] = two.slice[0];
    two.slices[1] = two.slice[1];
    two.policy = (struct mem_policy){ .ways = ways,
                                      .learns = (ways & (ways - 1)) != 0,
                                      .stream_bytes = stream_bytes };
    two.team = (struct mem_team){ .cell = two.cell, .slice_bytes = SLICE };
    two.m = (struct mem){
        .rank = 0, .size = 2, .slices = two.slices, .policy = &two.policy, .team = &two.team
    };
    hud_lines_start(&two.m);
}

/* Sets the way that the owner of rank 1's lines requests. */
static void ask(unsigned way)
{
    struct lines_member *other = (struct lines_member *)(void *)two.slice[1];

    for (int cell = 0; cell < LINES_CELLS; cell++)
        atomic_store(&other->way[cell], way);
}

static void fill(unsigned char *bytes, size_t count)
{
    for (size_t i = 0; i < count; i++)
        bytes[i] = (unsigned char)(i * 37 + i / 256 + 1);
}

/* Copies out in every way, also with non-temporal stores to the view and packed. All bytes must
 * arrive, none outside may change, the copy ends at the view's end, and the source is unchanged. */
static void long_copies_out_are_whole(void **state)
{
    enum { MAX_OUT = 20000 };
    static unsigned char to[MAX_OUT + 2], want[MAX_OUT + 2], before[SLICE];
    static const size_t lengths[] = { 4096, 4097, 5119, 5121, 8191, 12345, MAX_OUT };
    unsigned char *from = (unsigned char *)two.slice[1] + DATA;

    (void)state;
    for (unsigned way = 0; way < LINES_WAYS; way++)
        for (size_t l = 0; l < 2 * sizeof lengths / sizeof *lengths; l++) {
            size_t bytes = lengths[l / 2], cut = l % 3 != 0 ? 0 : 5, at = l * 13;
            struct hud_view view = { .base = to + 1, .bytes = bytes - cut };
            make_two(1u << way, l % 2 != 0 ? 1000 : 0);
            ask(way);
            fill(from, SLICE - DATA);
            memcpy(before, from, SLICE - DATA);
            memset(to, 0, sizeof to);
            memset(want, 0, sizeof want);
            memcpy(want + 1, from + at, bytes - cut);
            if (way % 2 != 0)
                mem_out_last(&two.m, &view, from + at, 0, bytes);
            else
                mem_out(&two.m, &view, from + at, 0, bytes);
            assert_memory_equal(to, want, sizeof to);
            assert_memory_equal(from, before, SLICE - DATA);
            assert_int_equal(two.m.truncated, cut != 0);
        }
}

/* Pages that are write-protected until the first write, and the number of their first writes. */
enum { PAGE = 4096, PAGES = 8 };

static char *pages;
static volatile sig_atomic_t written[PAGES];

static void on_write(int signal, siginfo_t *info, void *context)
{
    size_t page = ((size_t)info->si_addr - (size_t)pages) / PAGE;

    (void)signal, (void)context;
    if (page >= PAGES || mprotect(pages + page * PAGE, PAGE, PROT_READ | PROT_WRITE) != 0)
        _exit(1);
    written[page]++;
}

static int count_written(void)
{
    int count = 0;

    for (int i = 0; i < PAGES; i++)
        count += written[i];
    return count;
}

static void protect_pages(void)
{
    mprotect(pages, PAGES * PAGE, PROT_READ);
    for (int i = 0; i < PAGES; i++)
        written[i] = 0;
}

/* Gives rank 1 a slice of pages that report a write. The lines are at the usual places. */
static void watch_pages(unsigned way)
{
    struct sigaction action = { .sa_sigaction = on_write, .sa_flags = SA_SIGINFO };

    make_two(1u << way, 0);
    pages = mmap(NULL, PAGES * PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    assert_ptr_not_equal(pages, MAP_FAILED);
    two.slices[1] = pages;
    two.team.slice_bytes = PAGES * PAGE;
    for (int cell = 0; cell < LINES_CELLS; cell++)
        atomic_store(&((struct lines_member *)(void *)pages)->way[cell], way);
    sigemptyset(&action.sa_mask);
    sigaction(SIGSEGV, &action, NULL);
    protect_pages();
}

static void end_watch(void)
{
    signal(SIGSEGV, SIG_DFL);
    munmap(pages, PAGES * PAGE);
}

/* Verifies that only a last reader writes, only on request of the owner, and only to the pages
 * read. */
static void only_a_last_reader_writes(void **state)
{
    enum { BYTES_READ = 3 * PAGE };
    static char to[BYTES_READ];
    struct hud_view view = { .base = to, .bytes = sizeof to };
    struct hud_op op;

    (void)state;
    assert_int_equal(hud_op_find(HUD_MAX, HUD_UINT8, &op), HUD_OK);
    for (unsigned way = 0; way < LINES_WAYS; way++) {
        const int wanted = way & LINES_RETURNED ? 3 : 0;
        watch_pages(way);
        const struct mem_span sum = { .view = &view }, from = { .shared = pages + 2 * PAGE };
        const struct mem_span both[2] = { from, sum };
        mem_out(&two.m, &view, pages + 2 * PAGE, 0, BYTES_READ);
        mem_reduce(&two.m, &op, &sum, NULL, both, 2, BYTES_READ);
        assert_int_equal(count_written(), 0);
        mem_out_last(&two.m, &view, pages + 2 * PAGE, 0, BYTES_READ);
        assert_int_equal(count_written(), wanted);
        protect_pages();
        mem_reduce_last(&two.m, &op, &sum, NULL, both, 2, BYTES_READ);
        assert_int_equal(count_written(), wanted);
        assert_int_equal(written[2] + written[3] + written[4], wanted);
        end_watch();
    }
}

/* Returns lines by a byte of each line. A line at the begin of a page must have its byte in this
 * page, wherever the read begins, and no byte outside of the read may be written. */
static void returning_lines_writes_a_byte_of_each_line(void **state)
{
    static const size_t lengths[] = { 1, 63, 64, 65, 128, 1000, PAGE, PAGE + 1, 3 * PAGE - 1 };

    (void)state;
    watch_pages(LINES_RETURNED);
    hud_lines_return(pages + PAGE, 0);
    assert_int_equal(count_written(), 0);
    for (size_t l = 0; l < sizeof lengths / sizeof *lengths; l++)
        for (size_t at = 0; at < 130; at += 43) {
            size_t first = PAGE + at, end = first + lengths[l];
            protect_pages();
            hud_lines_return(pages + first, lengths[l]);
            for (size_t p = 0; p < PAGES; p++)
                assert_int_equal(written[p], first < (p + 1) * PAGE && end > p * PAGE);
        }
    end_watch();
}

/* Copies in long messages, many of which try other ways. Every byte must arrive, and none outside
 * may change. */
static void long_copies_in_are_whole(void **state)
{
    enum { SIZE = 3 * LINES_MIN, TIMES = 3000 };
    static unsigned char from[SIZE], want[SLICE - DATA];
    unsigned char *to = (unsigned char *)two.slice[0] + DATA;
    struct hud_view view = { .base = from, .bytes = SIZE };

    (void)state;
    fill(from, SIZE);
    make_two((1u << LINES_WAYS) - 1, 0);
    for (size_t k = 0; k < TIMES; k++) {
        size_t at = k * 7 % 500, bytes = LINES_MIN + k * 31 % 4000, place = k * 577 % (32 << 10);
        memset(to, 0, SLICE - DATA);
        memset(want, 0, sizeof want);
        memcpy(want + place, from + at, bytes);
        assert_int_equal(mem_in(&two.m, to + place, &view, at, bytes), bytes);
        assert_memory_equal(to, want, sizeof want);
    }
}

/* Packs the inverted bytes of a view, fewer than asked for. */
static size_t pack(const struct hud_view *view, void *dst, size_t offset_bytes, size_t max_bytes)
{
    size_t taken = (max_bytes + 1) / 2;

    for (size_t i = 0; i < taken; i++)
        ((unsigned char *)dst)[i] =
            (unsigned char)~((const unsigned char *)view->base)[offset_bytes + i];
    return taken;
}

static void unpack(const struct hud_view *view, const void *src, size_t offset_bytes, size_t bytes)
{
    for (size_t i = 0; i < bytes; i++)
        ((unsigned char *)view->base)[offset_bytes + i] =
            (unsigned char)~((const unsigned char *)src)[i];
}

/* Packs long messages in every way, and with trials of all ways. */
static void long_packs_are_whole(void **state)
{
    enum { SIZE = 5 * LINES_MIN, TIMES = 200 };
    static unsigned char from[SIZE], want[SLICE - DATA];
    unsigned char *to = (unsigned char *)two.slice[0] + DATA;
    struct hud_view view = { .base = from, .bytes = SIZE, .pack = pack };

    (void)state;
    fill(from, SIZE);
    for (unsigned ways = 1; ways < 1u << LINES_WAYS; ways++) {
        make_two(ways, 0);
        for (size_t k = 0; k < TIMES; k++) {
            size_t at = k * 7 % 500, bytes = LINES_MIN + k * 331 % 12000, place = k * 577 % 30000;
            memset(to, 0, SLICE - DATA);
            memset(want, 0, sizeof want);
            for (size_t i = 0; i < bytes; i++)
                want[place + i] = (unsigned char)~from[at + i];
            mem_in_all(&two.m, to + place, &view, at, bytes);
            assert_memory_equal(to, want, sizeof want);
        }
    }
}

/* Moves bytes between shared memory, a view and a packed view, in all combinations. */
static void spans_of_all_kinds_are_moved(void **state)
{
    enum { LONG = 20000, FROM = 7, TO = 5, KINDS = 3 };
    static unsigned char from[LONG], to[LONG];
    const struct mem_policy policy = { .move_bytes = 4000 };
    struct mem m = { .policy = &policy };

    (void)state;
    for (size_t i = 0; i < LONG; i++)
        from[i] = (unsigned char)(i * 37 + i / 256);
    for (int kind = 0; kind < KINDS * KINDS; kind++)
        for (size_t bytes = 0; bytes <= LONG - 10; bytes = bytes * 5 + 3) {
            size_t beyond = kind / KINDS != 0 ? bytes / 7 : 0;
            bool packs = kind % KINDS == 2, unpacks = kind / KINDS == 2;
            struct hud_view source = { .base = from, .bytes = LONG, .pack = packs ? pack : NULL },
                            sink = { .base = to,
                                     .bytes = TO + bytes - beyond,
                                     .unpack = unpacks ? unpack : NULL };
            struct mem_span a = { .shared = kind % KINDS == 0 ? from + FROM : NULL,
                                  .view = &source,
                                  .offset_bytes = FROM },
                            b = { .shared = kind / KINDS == 0 ? to + TO : NULL,
                                  .view = &sink,
                                  .offset_bytes = TO };
            memset(to, 0, sizeof to);
            m.truncated = false;
            mem_move(&m, &b, &a, bytes);
            assert_int_equal(m.truncated, beyond != 0);
            for (size_t i = 0; i < LONG; i++)
                assert_int_equal(to[i], i < TO || i >= TO + bytes - beyond
                                            ? 0
                                            : (unsigned char)(from[i - TO + FROM] ^
                                                              (packs != unpacks ? 0xFF : 0)));
        }
}

/* Moves bytes to a view of no bytes, which has no address. */
static void view_of_no_bytes_is_moved_or_truncated(void **state)
{
    unsigned char byte = 7;
    const struct mem_policy policy = { .move_bytes = 0 };
    const struct hud_view none = { .bytes = 0 }, one = { .base = &byte, .bytes = 1 };
    const struct mem_span to = { .view = &none }, from = { .view = &one };
    struct mem m = { .policy = &policy };

    (void)state;
    mem_move(&m, &to, &from, 0);
    assert_false(m.truncated);
    mem_move(&m, &to, &from, 1);
    assert_true(m.truncated);
}

int main(void)
{
    const struct CMUnitTest tests[] = { cmocka_unit_test(stream_copies_every_length_and_alignment),
                                        cmocka_unit_test(long_copies_out_are_whole),
                                        cmocka_unit_test(only_a_last_reader_writes),
                                        cmocka_unit_test(
                                            returning_lines_writes_a_byte_of_each_line),
                                        cmocka_unit_test(long_copies_in_are_whole),
                                        cmocka_unit_test(long_packs_are_whole),
                                        cmocka_unit_test(spans_of_all_kinds_are_moved),
                                        cmocka_unit_test(view_of_no_bytes_is_moved_or_truncated) };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
