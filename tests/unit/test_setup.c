/* SPDX-License-Identifier: BSD-3-Clause */
/* test_setup.c - the verdict on the hellos of all ranks, and mapping the arenas of other processes
 * by /proc and by sockets. */
#include "core/arena/direct.h"
#include "core/job/place.h"
#include "core/team/hello.h"
#include "fork_team/fork_team.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <unistd.h>

#include <cmocka.h>

enum { RANKS = 3 };

static union hello hellos[RANKS];
static size_t bytes;
static int who;

static int reset(void **state)
{
    (void)state;
    memset(hellos, 0, sizeof hellos);
    for (int r = 0; r < RANKS; r++) {
        hellos[r].fields.version = 7;
        hellos[r].fields.host_id = 5;
        hellos[r].fields.boot_id = 9;
        hellos[r].fields.offer_bytes = 4096u * (unsigned)(r + 2);
        hellos[r].fields.card.bytes = 1 << 20;
        hellos[r].fields.card.pid = 1;
    }
    return 0;
}

static void minimum_offer_is_used(void **state)
{
    (void)state;
    assert_int_equal(hud_hello_verdict(hellos, RANKS, &bytes, &who), REASON_NONE);
    assert_int_equal(bytes, 8192);
    hellos[1].fields.offer_bytes = 0;
    assert_int_equal(hud_hello_verdict(hellos, RANKS, &bytes, &who), REASON_LEASE);
}

static void verdict_has_the_rank_that_refused(void **state)
{
    (void)state;
    hellos[2].fields.settings = 1;
    assert_int_equal(hud_hello_verdict(hellos, RANKS, &bytes, &who), REASON_DIFFER);
    assert_int_equal(who, 2);
    hellos[1].fields.reason = REASON_ARENA;
    assert_int_equal(hud_hello_verdict(hellos, RANKS, &bytes, &who), REASON_ARENA);
    assert_int_equal(who, 1);
    hellos[0].fields.boot_id = hellos[2].fields.boot_id = 0; /* unknown host */
    assert_int_equal(hud_hello_verdict(hellos, RANKS, &bytes, &who), REASON_ARENA);
    hellos[2].fields.boot_id = 8;
    assert_int_equal(hud_hello_verdict(hellos, RANKS, &bytes, &who), REASON_NODES);
    hellos[1].fields.version = 8;
    assert_int_equal(hud_hello_verdict(hellos, RANKS, &bytes, &who), REASON_VERSION);
}

/* Sets an unknown reason, which must not be used as an index. */
static void unknown_reason_is_invalid(void **state)
{
    (void)state;
    hellos[1].fields.reason = REASON_COUNT;
    assert_int_equal(hud_hello_verdict(hellos, RANKS, &bytes, &who), REASON_EXCHANGE);
    assert_int_equal(who, 1);
    hellos[1].fields.reason = UINT32_MAX;
    assert_int_equal(hud_hello_verdict(hellos, RANKS, &bytes, &who), REASON_EXCHANGE);
}

/* Fills the values with many settings and a tuning file. The last line is cut and has no
 * newline. */
static void values_do_not_extend_beyond_the_hello(void **state)
{
    int count;
    const struct setting *settings = hud_settings(&count);
    char *values = hellos[0].fields.values, text[SET_TEXT];

    (void)state;
    assert_string_equal(settings[SET_LEASE].name, "HUDDLE_LEASE");
    memset(values, 'x', HELLO_VALUES);
    memcpy(values, "HUDDLE_BCAST=queue\n", 19);
    memset(&hellos[0].fields.card, '\n', sizeof hellos[0].fields.card);
    memcpy(&hellos[0].fields.card, "HUDDLE_LEASE=64K", 16);
    values[HELLO_VALUES - 1] = '\0';
    hud_hello_value(&hellos[0], &settings[SET_LEASE],
                    text); /* bytes after the values are ignored */
    assert_string_equal(text, "HUDDLE_LEASE=1536K");
    hud_hello_value(&hellos[0], &settings[SET_BCAST], text);
    assert_string_equal(text, "HUDDLE_BCAST=queue");
    memcpy(values + HELLO_VALUES - 16, "\nHUDDLE_LEASE=64", 16);
    values[HELLO_VALUES - 1] = '\0';
    hud_hello_value(&hellos[0], &settings[SET_LEASE], text);
    assert_string_equal(text, "HUDDLE_LEASE=6");
}

static void early_ranks_get_one_verdict(void **state)
{
    (void)state;
    for (int r = 0; r < RANKS; r++)
        hellos[r].fields.reason = REASON_EARLY;
    assert_int_equal(hud_hello_verdict(hellos, RANKS, &bytes, &who), REASON_EARLY);
    hellos[1].fields.settings = 1;
    hellos[1].fields.reason = REASON_NONE; /* is created at an earlier call */
    assert_int_equal(hud_hello_verdict(hellos, RANKS, &bytes, &who), REASON_DIFFER);
    hellos[2].fields.reason = REASON_OFF;
    assert_int_equal(hud_hello_verdict(hellos, RANKS, &bytes, &who), REASON_OFF);
}

/* Sets values that no rank can send. They must be rejected by all ranks alike, and not be used. */
static void invalid_hello_is_rejected(void **state)
{
    enum { CASES = 10 };

    (void)state;
    for (int i = 0; i < CASES; i++) {
        reset(NULL);
        union hello *h = &hellos[1];
        h->fields.card.bytes = i == 0   ? 0
                               : i == 1 ? 4097
                               : i == 2 ? HELLO_ARENA_MAX + 4096
                               : i == 3 ? 4096
                                        : 1 << 20;
        h->fields.offer_bytes = i == 4 ? (1 << 20) + 1 : 8192;
        h->fields.reason = i == 5 ? REASON_COUNT : i == 6 ? UINT32_MAX : REASON_NONE;
        h->fields.node = i == 7 ? -2 : 0;
        memset(h->fields.card.socket, i == 8 ? 'x' : 0, HANDOVER_NAME);
        memset(h->fields.values, i == 9 ? 'x' : 0, HELLO_VALUES);
        assert_int_equal(hud_hello_verdict(hellos, RANKS, &bytes, &who), REASON_EXCHANGE);
        assert_int_equal(who, 1);
    }
    reset(NULL);
    hellos[2].fields.card.pid = 0;
    assert_int_equal(hud_hello_verdict(hellos, RANKS, &bytes, &who), REASON_EXCHANGE);
    memset(&hellos[2].fields.card, 0,
           sizeof hellos[2].fields.card); /* a rank that does not take part has no card */
    hellos[2].fields.reason = REASON_ARENA;
    assert_int_equal(hud_hello_verdict(hellos, RANKS, &bytes, &who), REASON_ARENA);
}

static void slice_outside_of_its_arena_is_rejected(void **state)
{
    enum { ARENA = 1 << 20, SLICE = 8192, FIRST = 1 << 15 };
    static const struct {
        uint64_t offset;
        enum reason reason, verdict;
    } cases[] = {
        { FIRST, REASON_NONE, REASON_NONE },
        { ARENA - SLICE, REASON_NONE, REASON_NONE },
        { ARENA - SLICE + HUD_LINE, REASON_NONE, REASON_EXCHANGE },
        { ARENA, REASON_NONE, REASON_EXCHANGE },
        { 0, REASON_NONE, REASON_EXCHANGE },
        { FIRST + 1, REASON_NONE, REASON_EXCHANGE },
        { UINT64_MAX - HUD_LINE + 1, REASON_NONE, REASON_EXCHANGE },
        { 0, REASON_LEASE, REASON_LEASE },
        { 0, REASON_COUNT, REASON_EXCHANGE },
    };

    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        struct reply replies[RANKS] = { { .offset = FIRST },
                                        { .offset = cases[i].offset, .reason = cases[i].reason },
                                        { .offset = FIRST } };
        assert_int_equal(hud_reply_verdict(replies, hellos, RANKS, SLICE, &who), cases[i].verdict);
        assert_int_equal(who, cases[i].verdict == REASON_NONE ? RANKS - 1 : 1);
    }
}

/* Corrupts rank 0's table, which is in memory writable by all. The copy must have only valid
 * values. */
static void corrupt_table_has_no_levels(void **state)
{
    _Alignas(struct place_table) char memory[2][512];
    struct place_table *table = (void *)memory[0], *copy = (void *)memory[1];

    (void)state;
    assert_true(place_bytes(RANKS) <= sizeof memory[0]);
    for (int i = 0; i < 11; i++) {
        memset(memory, 0, sizeof memory);
        *table = (struct place_table){
            .levels = 2, .oversubscribed = 1, .seen = 1, .cache_bytes = 5, .name = { "l3", "numa" }
        };
        memcpy(table->unit, ((int16_t[]){ 0, 0, -1, 0, 1, 1 }), 2 * RANKS * sizeof(int16_t));
        table->levels = i == 1 ? -1 : i == 2 ? SHAPE_LEVELS + 1 : i == 3 ? INT32_MAX : 2;
        table->cache_bytes = i == 4 ? -1 : 5;
        memset(table->name[1], i == 5 ? 'x' : 0, TOPO_NAME);
        table->unit[5] = i == 6 ? 3 : i == 7 ? -2 : i == 8 ? 2 : 1;
        table->unit[4] = i == 8 ? 0 : 1;
        table->unit[2 * RANKS] = i == 9 ? 1 : 0; /* units of the caches */
        table->caches.count = i == 10 ? -1 : 0;
        hud_place_read(table, RANKS, copy);
        bool good = i == 0 || i == 8; /* case 8: each unit is its own, or a unit of an earlier
                                       * rank */
        assert_int_equal(copy->levels, good ? 2 : 0);
        assert_int_equal(copy->seen, good);
        assert_int_equal(copy->cache_bytes, good ? 5 : 0);
        assert_int_equal(copy->oversubscribed, 1);
    }
}

/* Exchanges cards between two processes. Each maps the other's arena, and reads the byte that the
 * other wrote. `arg` tells whether cards allow access by /proc. */
static int map_each_other(struct fork_rank *self, void *arg)
{
    struct arena own;
    struct peers peers;
    struct peer_card card, cards[2];
    struct mem_peer reached[2];
    struct mem_mapped *mapped[2];
    const char *why;
    char *base[2];
    int me = self->rank, other = 1 - me;

    hud_peers_init(&peers);
    if (hud_arena_create(&own, 1 << 20, 0, &why) != 0)
        return 1;
    size_t offset = hud_arena_reserve(&own, 4096, 2, &why);
    ((char *)own.head)[offset] = (char)(40 + me);
    hud_peers_card(&peers, &own, &card);
    if (!card.by_proc)
        return 2;
    if (!*(bool *)arg)
        card.by_proc = 0;
    fork_team_exchange(self).allgather(self, &card, sizeof card, cards);
    if (hud_peers_map(&peers, &own, cards, 2, me, NULL, NULL, base) != 0)
        return 3;
    unsigned direct =
        hud_peers_direct(&peers, cards, 2, me, DIRECT_CALLS | DIRECT_MAPPED, reached, mapped);
    if (reached[me].pid != (int)getpid() || reached[other].pid == reached[me].pid ||
        direct != (hud_direct_likely() ? DIRECT_CALLS : 0U))
        return 5;
    int rc = base[other][offset] == (char)(40 + other) && base[me] == (char *)own.head ? 0 : 4;
    fork_team_meet(self);
    hud_peers_destroy(&peers);
    hud_arena_destroy(&own);
    return rc;
}

static void reach(bool by_proc)
{
    struct fork_team team = { .ranks = 2, .limit_s = 60, .body = map_each_other, .arg = &by_proc };

    assert_int_equal(fork_team_run(&team), 0);
}

static void arenas_are_reached_by_proc(void **state)
{
    (void)state;
    reach(true);
}

static void arenas_are_reached_by_sockets(void **state)
{
    (void)state;
    reach(false);
}

/* Simulates a descriptor number from another PID namespace, which opens a wrong file here. The
 * nonce must reveal this. */
static void wrong_file_is_rejected(void **state)
{
    struct arena own, other;
    struct peers peers;
    const char *why;
    struct peer_card cards[2];
    char *base[2];

    (void)state;
    hud_peers_init(&peers);
    assert_int_equal(hud_arena_create(&own, 1 << 20, 0, &why), 0);
    assert_int_equal(hud_arena_create(&other, 1 << 20, 0, &why), 0);
    hud_peers_card(&peers, &own, &cards[0]);
    hud_peers_card(&peers, &other, &cards[1]);
    cards[1].process ^= 1;
    cards[1].nonce[0] ^= 1;
    assert_int_equal(hud_peers_map(&peers, &own, cards, 2, 0, NULL, NULL, base), 2);
    assert_true(peers.proc_failed);
    hud_peers_destroy(&peers);
    hud_arena_destroy(&own);
    hud_arena_destroy(&other);
}

/* Puts a wrong address on a card. An arena of this process must be recognized by its nonce and its
 * size only. */
static void card_with_a_wrong_address_is_not_trusted(void **state)
{
    struct arena own, other;
    struct peers peers, others;
    const char *why;
    struct peer_card cards[2];
    char *base[2];

    (void)state;
    hud_peers_init(&peers);
    hud_peers_init(&others);
    assert_int_equal(hud_arena_create(&own, 1 << 20, 0, &why), 0);
    assert_int_equal(hud_arena_create(&other, 1 << 20, 0, &why), 0);
    hud_peers_card(&peers, &own, &cards[0]);
    hud_peers_card(&others, &other, &cards[1]);
    struct peer_card told = cards[1];
    cards[1].address = 8;
    cards[1].bytes *= 2;
    assert_int_equal(hud_peers_map(&peers, &own, cards, 2, 0, NULL, NULL, base), 2);
    cards[1] = told;
    cards[1].address = 8;
    cards[1].nonce[0] ^= 1;
    assert_int_equal(hud_peers_map(&peers, &own, cards, 2, 0, NULL, NULL, base), 2);
    cards[1].nonce[0] ^= 1;
    assert_int_equal(hud_peers_map(&peers, &own, cards, 2, 0, NULL, NULL, base), 0);
    assert_ptr_equal(base[1], other.head);
    hud_peers_destroy(&peers);
    hud_peers_destroy(&others);
    hud_arena_destroy(&own);
    hud_arena_destroy(&other);
}

/* Compares a card with memory that does not match, as in another process or another namespace. */
static void single_copy_requires_a_matching_nonce(void **state)
{
    struct arena own;
    struct peers peers;
    struct peer_card card, other;
    const char *why;

    (void)state;
    hud_peers_init(&peers);
    assert_int_equal(hud_arena_create(&own, 1 << 20, 0, &why), 0);
    hud_peers_card(&peers, &own, &card);
    assert_int_equal(hud_direct_reads(&card, &card), hud_direct_likely());
    other = card;
    other.nonce[ARENA_NONCE - 1] ^= 1;
    assert_false(hud_direct_reads(&card, &other));
    other = card;
    other.address += 1 << 30;
    assert_false(hud_direct_reads(&card, &other));
    other = card;
    other.pid_namespace ^= 1;
    assert_false(hud_direct_reads(&card, &other));
    hud_peers_destroy(&peers);
    hud_arena_destroy(&own);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup(minimum_offer_is_used, reset),
        cmocka_unit_test_setup(verdict_has_the_rank_that_refused, reset),
        cmocka_unit_test_setup(unknown_reason_is_invalid, reset),
        cmocka_unit_test_setup(values_do_not_extend_beyond_the_hello, reset),
        cmocka_unit_test_setup(early_ranks_get_one_verdict, reset),
        cmocka_unit_test(invalid_hello_is_rejected),
        cmocka_unit_test_setup(slice_outside_of_its_arena_is_rejected, reset),
        cmocka_unit_test(corrupt_table_has_no_levels),
        cmocka_unit_test(card_with_a_wrong_address_is_not_trusted),
        cmocka_unit_test(arenas_are_reached_by_proc),
        cmocka_unit_test(arenas_are_reached_by_sockets),
        cmocka_unit_test(wrong_file_is_rejected),
        cmocka_unit_test(single_copy_requires_a_matching_nonce),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
