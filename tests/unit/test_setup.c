/* SPDX-License-Identifier: BSD-3-Clause */
/* test_setup.c - the verdict over all ranks' hellos, and reaching arenas of other processes by
 * /proc and by sockets. */
#include "core/arena/direct.h"
#include "core/team/place.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/wait.h>
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
        hellos[r].is.version = 7;
        hellos[r].is.host_id = 5;
        hellos[r].is.boot_id = 9;
        hellos[r].is.offer_bytes = 4096u * (unsigned)(r + 2);
        hellos[r].is.card.bytes = 1 << 20;
        hellos[r].is.card.pid = 1;
    }
    return 0;
}

static void least_offer_is_taken(void **state)
{
    (void)state;
    assert_int_equal(hud_hello_verdict(hellos, RANKS, &bytes, &who), REASON_NONE);
    assert_int_equal(bytes, 8192);
    hellos[1].is.offer_bytes = 0;
    assert_int_equal(hud_hello_verdict(hellos, RANKS, &bytes, &who), REASON_LEASE);
}

static void refusals_name_the_rank(void **state)
{
    (void)state;
    hellos[2].is.settings = 1;
    assert_int_equal(hud_hello_verdict(hellos, RANKS, &bytes, &who), REASON_DIFFER);
    assert_int_equal(who, 2);
    hellos[1].is.reason = REASON_ARENA;
    assert_int_equal(hud_hello_verdict(hellos, RANKS, &bytes, &who), REASON_ARENA);
    assert_int_equal(who, 1);
    hellos[0].is.boot_id = hellos[2].is.boot_id = 0; /* cannot tell */
    assert_int_equal(hud_hello_verdict(hellos, RANKS, &bytes, &who), REASON_ARENA);
    hellos[2].is.boot_id = 8;
    assert_int_equal(hud_hello_verdict(hellos, RANKS, &bytes, &who), REASON_NODES);
    hellos[1].is.version = 8;
    assert_int_equal(hud_hello_verdict(hellos, RANKS, &bytes, &who), REASON_VERSION);
}

/* It indexes tables. */
static void a_reason_that_nobody_knows_is_nonsense(void **state)
{
    (void)state;
    hellos[1].is.reason = REASON_COUNT;
    assert_int_equal(hud_hello_verdict(hellos, RANKS, &bytes, &who), REASON_EXCHANGE);
    assert_int_equal(who, 1);
    hellos[1].is.reason = UINT32_MAX;
    assert_int_equal(hud_hello_verdict(hellos, RANKS, &bytes, &who), REASON_EXCHANGE);
}

/* Many settings and a tuning file: the last line has no newline, since it was cut. */
static void values_end_with_the_hello(void **state)
{
    int count;
    const struct setting *settings = hud_settings(&count);
    char *values = hellos[0].is.values, text[SET_TEXT];

    (void)state;
    assert_string_equal(settings[SET_LEASE].name, "HUDDLE_LEASE");
    memset(values, 'x', HELLO_VALUES);
    memcpy(values, "HUDDLE_BCAST=queue\n", 19);
    memset(&hellos[0].is.card, '\n', sizeof hellos[0].is.card);
    memcpy(&hellos[0].is.card, "HUDDLE_LEASE=64K", 16);
    values[HELLO_VALUES - 1] = '\0';
    hud_hello_value(&hellos[0], &settings[SET_LEASE],
                    text); /* what follows the values is none of them */
    assert_string_equal(text, "HUDDLE_LEASE=1536K");
    hud_hello_value(&hellos[0], &settings[SET_BCAST], text);
    assert_string_equal(text, "HUDDLE_BCAST=queue");
    memcpy(values + HELLO_VALUES - 16, "\nHUDDLE_LEASE=64", 16);
    values[HELLO_VALUES - 1] = '\0';
    hud_hello_value(&hellos[0], &settings[SET_LEASE], text);
    assert_string_equal(text, "HUDDLE_LEASE=6");
}

static void early_ranks_agree(void **state)
{
    (void)state;
    for (int r = 0; r < RANKS; r++)
        hellos[r].is.reason = REASON_EARLY;
    assert_int_equal(hud_hello_verdict(hellos, RANKS, &bytes, &who), REASON_EARLY);
    hellos[1].is.settings = 1;
    hellos[1].is.reason = REASON_NONE; /* begins sooner */
    assert_int_equal(hud_hello_verdict(hellos, RANKS, &bytes, &who), REASON_DIFFER);
    hellos[2].is.reason = REASON_OFF;
    assert_int_equal(hud_hello_verdict(hellos, RANKS, &bytes, &who), REASON_OFF);
}

/* What no rank can have said: refused by all alike, and nothing of it is used. */
static void nonsense_is_refused(void **state)
{
    enum { CASES = 10 };

    (void)state;
    for (int i = 0; i < CASES; i++) {
        reset(NULL);
        union hello *h = &hellos[1];
        h->is.card.bytes = i == 0   ? 0
                           : i == 1 ? 4097
                           : i == 2 ? HELLO_ARENA_MAX + 4096
                           : i == 3 ? 4096
                                    : 1 << 20;
        h->is.offer_bytes = i == 4 ? (1 << 20) + 1 : 8192;
        h->is.reason = i == 5 ? REASON_COUNT : i == 6 ? UINT32_MAX : REASON_NONE;
        h->is.node = i == 7 ? -2 : 0;
        memset(h->is.card.socket, i == 8 ? 'x' : 0, HANDOVER_NAME);
        memset(h->is.values, i == 9 ? 'x' : 0, HELLO_VALUES);
        assert_int_equal(hud_hello_verdict(hellos, RANKS, &bytes, &who), REASON_EXCHANGE);
        assert_int_equal(who, 1);
    }
    reset(NULL);
    hellos[2].is.card.pid = 0;
    assert_int_equal(hud_hello_verdict(hellos, RANKS, &bytes, &who), REASON_EXCHANGE);
    memset(&hellos[2].is.card, 0,
           sizeof hellos[2].is.card); /* one that does not take part has none */
    hellos[2].is.reason = REASON_ARENA;
    assert_int_equal(hud_hello_verdict(hellos, RANKS, &bytes, &who), REASON_ARENA);
}

static void slices_lie_in_arenas(void **state)
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

/* Rank 0's table is in memory that all can write: whatever it holds, what is made of it is in
 * range. */
static void a_broken_table_is_one_without_levels(void **state)
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
        table->unit[2 * RANKS] = i == 9 ? 1 : 0; /* of the caches */
        table->caches.count = i == 10 ? -1 : 0;
        hud_place_read(table, RANKS, copy);
        bool good = i == 0 || i == 8; /* 8: each a unit of its own, or of a rank before */
        assert_int_equal(copy->levels, good ? 2 : 0);
        assert_int_equal(copy->seen, good);
        assert_int_equal(copy->cache_bytes, good ? 5 : 0);
        assert_int_equal(copy->oversubscribed, 1);
    }
}

/* Two processes swap cards over a shared page and map each other's arena; each reads what the other
 * wrote. */
static int swap(bool by_proc, struct peer_card *cards, int *stage, int me)
{
    struct arena own;
    struct peers peers;
    const char *why;
    char *base[2];

    hud_peers_init(&peers);
    if (hud_arena_create(&own, 1 << 20, 0, &why) != 0)
        return 1;
    size_t offset = hud_arena_reserve(&own, 4096, 2, &why);
    ((char *)own.head)[offset] = (char)(40 + me);
    hud_peers_card(&peers, &own, &cards[me]);
    if (!cards[me].by_proc)
        return 2;
    if (!by_proc)
        cards[me].by_proc = 0;
    for (__atomic_add_fetch(stage, 1, __ATOMIC_SEQ_CST);
         __atomic_load_n(stage, __ATOMIC_SEQ_CST) < 2;)
        usleep(100);
    if (hud_peers_map(&peers, &own, cards, 2, me, NULL, NULL, base) != 0)
        return 3;
    struct mem_peer reached[2];
    struct mem_mapped *mapped[2];
    unsigned direct =
        hud_peers_direct(&peers, cards, 2, me, DIRECT_CALLS | DIRECT_MAPPED, reached, mapped);
    if (reached[me].pid != (int)getpid() || reached[1 - me].pid == reached[me].pid ||
        direct != (hud_direct_likely() ? DIRECT_CALLS : 0U))
        return 5;
    int rc = base[1 - me][offset] == (char)(40 + 1 - me) && base[me] == (char *)own.head ? 0 : 4;
    for (__atomic_add_fetch(stage, 1, __ATOMIC_SEQ_CST);
         __atomic_load_n(stage, __ATOMIC_SEQ_CST) < 4;)
        usleep(100);
    hud_peers_destroy(&peers);
    hud_arena_destroy(&own);
    return rc;
}

static void reach(bool by_proc)
{
    struct shared {
        struct peer_card cards[2];
        int stage;
    } *shared =
        mmap(NULL, sizeof *shared, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    int status;

    pid_t child = fork();
    if (child == 0)
        _exit(swap(by_proc, shared->cards, &shared->stage, 1));
    assert_int_equal(swap(by_proc, shared->cards, &shared->stage, 0), 0);
    waitpid(child, &status, 0);
    assert_int_equal(status, 0);
    munmap(shared, sizeof *shared);
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

/* Another PID namespace's descriptor number opens a wrong file here: the nonce tells. */
static void a_wrong_file_is_refused(void **state)
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

/* An address on a card is never used: an arena of this process is known by its nonce, and its
 * size. */
static void cards_that_claim_this_process(void **state)
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

/* What is read is not what the card says: another process, or not this one's namespace. */
static void single_copy_is_believed_only_if_the_nonce_is_there(void **state)
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
        cmocka_unit_test_setup(least_offer_is_taken, reset),
        cmocka_unit_test_setup(refusals_name_the_rank, reset),
        cmocka_unit_test_setup(a_reason_that_nobody_knows_is_nonsense, reset),
        cmocka_unit_test_setup(values_end_with_the_hello, reset),
        cmocka_unit_test_setup(early_ranks_agree, reset),
        cmocka_unit_test(nonsense_is_refused),
        cmocka_unit_test_setup(slices_lie_in_arenas, reset),
        cmocka_unit_test(a_broken_table_is_one_without_levels),
        cmocka_unit_test(cards_that_claim_this_process),
        cmocka_unit_test(arenas_are_reached_by_proc),
        cmocka_unit_test(arenas_are_reached_by_sockets),
        cmocka_unit_test(a_wrong_file_is_refused),
        cmocka_unit_test(single_copy_is_believed_only_if_the_nonce_is_there),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
