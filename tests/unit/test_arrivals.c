/* SPDX-License-Identifier: BSD-3-Clause */
/* test_arrivals.c - a team's descriptors arrive even if anything else is sent to its sockets, and a
 * bad message fails only the set-up that waits for it. */
#define _GNU_SOURCE
#include "ends.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <sched.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

static void two_members_exchange_arenas(void **state)
{
    int before = open_descriptors();

    (void)state;
    ends_set_up_well();
    assert_int_equal(open_descriptors(), before);
}

static bool flooding;
static int floods;

static void *flood(void *arg)
{
    static unsigned char noise[4096];
    struct handover unknown = { .bytes = BYTES }, known = ends_says(&cards[1]);

    (void)arg;
    known.nonce[0] ^= 1;
    for (unsigned i = 0; __atomic_load_n(&flooding, __ATOMIC_RELAXED); i++) {
        memcpy(unknown.nonce, &i, sizeof i);
        for (int to = 0; to < 2; to++) {
            ends_send(stranger, &cards[to], &unknown, sizeof unknown, 0, (int)(i % MAX_PASSED));
            ends_send(stranger, &cards[to], noise, i % sizeof noise, 0, 2);
            ends_send(stranger, &cards[to], &known, sizeof known, b.arena.file.fd, 1);
        }
        __atomic_store_n(&floods, 1, __ATOMIC_RELAXED);
    }
    return NULL;
}

/* Floods the sockets with messages with descriptors, even from the same user, during a whole
 * set-up. The set-up must succeed, and keep a bounded number of descriptors. */
static void flooded_sockets_still_receive_the_arenas(void **state)
{
    int before = open_descriptors();
    pthread_t thread;

    (void)state;
    flooding = true;
    floods = 0;
    assert_int_equal(pthread_create(&thread, NULL, flood, NULL), 0);
    while (__atomic_load_n(&floods, __ATOMIC_RELAXED) == 0)
        sched_yield();
    ends_set_up_well();
    __atomic_store_n(&flooding, false, __ATOMIC_RELAXED);
    pthread_join(thread, NULL);
    assert_true(open_descriptors() <= before + 2 * PEERS_EARLY);
    assert_false(hud_peers_lost(&a.peers) || hud_peers_lost(&b.peers));
}

/* Sends a bad message for a set-up, which must fail at once. The next set-up must succeed. */
static void bad(const struct handover *message, int fd, int copies)
{
    int rc_a, rc_b, before = open_descriptors();

    assert_int_equal(ends_send(stranger, &cards[0], message, sizeof *message, fd, copies), 0);
    hud_peers_find_or_add(&b.peers, cards[0].nonce)->sent = true; /* pretend, so that b sends no
                                                                   * message */
    ends_set_up(&rc_a, &rc_b);
    assert_int_equal(rc_a, 2);
    assert_int_equal(rc_b, 0);
    assert_int_equal(open_descriptors(), before);
    assert_false(hud_peers_lost(&a.peers) || hud_peers_lost(&b.peers));
    hud_peers_send_again(&a.peers, cards, 2);
    hud_peers_send_again(&b.peers, cards, 2);
    ends_set_up_well();
}

static void wrong_size_fails_one_set_up_only(void **state)
{
    struct handover message = ends_says(&cards[1]);

    (void)state;
    message.bytes *= 2;
    bad(&message, b.arena.file.fd, 1);
}

static void wrong_file_fails_one_set_up_only(void **state)
{
    struct handover message = ends_says(&cards[1]);

    (void)state;
    bad(&message, a.arena.file.fd, 1); /* sealed and of the right size, but with another nonce */
}

static void unsealed_file_fails_one_set_up_only(void **state)
{
    struct handover message = ends_says(&cards[1]);
    int file = memfd_create("open", MFD_CLOEXEC);

    (void)state;
    assert_int_equal(ftruncate(file, BYTES), 0);
    assert_int_equal(pwrite(file, b.arena.head, 4096, 0), 4096);
    bad(&message, file, 1);
    close(file);
}

static void too_many_descriptors_fail_one_set_up_only(void **state)
{
    struct handover message = ends_says(&cards[1]);

    (void)state;
    bad(&message, b.arena.file.fd, 2);
}

static void missing_descriptor_fails_one_set_up_only(void **state)
{
    struct handover message = ends_says(&cards[1]);

    (void)state;
    bad(&message, 0, 0);
}

/* Sends a second message for a nonce that is mapped already, and a message before its set-up. */
static void replays_are_dropped_and_early_messages_kept(void **state)
{
    struct handover message = ends_says(&cards[1]);
    struct peer_card nobody = { .bytes = BYTES, .nonce = { 1 } };
    struct peer_card with_nobody[2];
    char *base[2];
    int before = open_descriptors();

    (void)state;
    memcpy(with_nobody, (struct peer_card[]){ cards[0], nobody }, sizeof with_nobody);
    if (!hud_handover_is_user(geteuid()))
        skip(); /* early messages are kept only from the same user */
    assert_int_equal(ends_send(stranger, &cards[0], &message, sizeof message, b.arena.file.fd, 1),
                     0);
    with_nobody[1].socket[0] = '\0';
    hud_peers_find_or_add(&a.peers, nobody.nonce)->failed = true;
    struct handover garbled = { .bytes = BYTES - 4096,
                                .nonce = { 1 } }; /* ends the wait for a member that does not
                                                   * exist */
    assert_int_equal(ends_send(stranger, &cards[0], &garbled, sizeof garbled, b.arena.file.fd, 1),
                     0);
    assert_int_equal(hud_peers_map(&a.peers, &a.arena, with_nobody, 2, 0, NULL, NULL, base), 2);
    assert_int_equal(open_descriptors(), before + 1); /* the early message's */
    hud_peers_find_or_add(&b.peers, cards[0].nonce)->sent = true;
    ends_set_up_well();
    assert_int_equal(open_descriptors(), before);
    assert_int_equal(ends_send(stranger, &cards[0], &message, sizeof message, b.arena.file.fd, 1),
                     0);
    hud_peers_find(&a.peers, nobody.nonce)->failed = false;
    assert_int_equal(ends_send(stranger, &cards[0], &garbled, sizeof garbled, b.arena.file.fd, 1),
                     0);
    assert_int_equal(hud_peers_map(&a.peers, &a.arena, with_nobody, 2, 0, NULL, NULL, base), 2);
    assert_int_equal(open_descriptors(), before); /* the replay was dropped */
}

static void longer_file_fails_one_set_up_only(void **state)
{
    struct handover message = ends_says(&cards[1]);
    int file = memfd_create("longer", MFD_CLOEXEC | MFD_ALLOW_SEALING);

    (void)state;
    message.bytes = 2 * BYTES;
    assert_int_equal(ftruncate(file, 2 * BYTES), 0);
    assert_int_equal(pwrite(file, b.arena.head, 4096, 0), 4096);
    assert_int_equal(fcntl(file, F_ADD_SEALS, F_SEAL_SHRINK | F_SEAL_GROW), 0);
    bad(&message, file, 1);
    close(file);
}

/* Sends early messages with nonces never expected, in rounds that the queue can hold, from this
 * process or from a process of another user. */
static void send_early(bool as_another)
{
    enum { ROUNDS = 8, EACH = 6 };
    struct peer_card with_nobody[2] = { cards[0], { .bytes = BYTES, .nonce = { 1 } } };
    struct handover garbled = { .bytes = 1,
                                .nonce = { 1 } }; /* ends the wait for a member that does not
                                                   * exist */
    char *base[2];
    int status;

    for (int round = 0; round < ROUNDS; round++) {
        pid_t child = as_another ? fork() : 0;
        for (int i = 0; child == 0 && i < EACH; i++) {
            struct handover early = { .bytes = BYTES,
                                      .nonce = { 2, (unsigned char)round, (unsigned char)i } };
            if (as_another && i == 0 && setresuid(65533, 65533, 65533) != 0)
                _exit(1);
            if (ends_send(stranger, &cards[0], &early, sizeof early, b.arena.file.fd, 1) != 0)
                _exit(1);
        }
        if (as_another && child == 0)
            _exit(0);
        if (as_another) {
            waitpid(child, &status, 0);
            assert_int_equal(status, 0);
        }
        assert_int_equal(
            ends_send(stranger, &cards[0], &garbled, sizeof garbled, b.arena.file.fd, 1), 0);
        assert_int_equal(hud_peers_map(&a.peers, &a.arena, with_nobody, 2, 0, NULL, NULL, base), 2);
    }
}

static void number_of_early_messages_kept_is_bounded(void **state)
{
    int before = open_descriptors();

    (void)state;
    if (!hud_handover_is_user(geteuid()))
        skip();
    send_early(false);
    assert_int_equal(open_descriptors(), before + PEERS_EARLY);
}

static void early_messages_of_other_users_are_dropped(void **state)
{
    int before = open_descriptors();

    (void)state;
    if (geteuid() != 0) {
        print_message("only root can become another user: skipped\n");
        skip();
    }
    send_early(true);
    assert_int_equal(open_descriptors(), before);
}

/* Leaves no descriptor free. This set-up must fail without waiting, and the next must succeed when
 * descriptors are free again. */
static void full_descriptor_table_fails_one_set_up_only(void **state)
{
    struct handover message = ends_says(&cards[1]);
    struct rlimit all, few;
    int rc_a, rc_b;

    (void)state;
    assert_int_equal(ends_send(stranger, &cards[0], &message, sizeof message, b.arena.file.fd, 1),
                     0);
    hud_peers_find_or_add(&b.peers, cards[0].nonce)->sent = true;
    assert_int_equal(getrlimit(RLIMIT_NOFILE, &all), 0);
    few = all;
    few.rlim_cur = 3;
    assert_int_equal(setrlimit(RLIMIT_NOFILE, &few), 0);
    ends_set_up(&rc_a, &rc_b);
    setrlimit(RLIMIT_NOFILE, &all);
    assert_int_equal(rc_a, 2);
    assert_false(hud_peers_lost(&a.peers));
    hud_peers_send_again(&a.peers, cards, 2);
    hud_peers_send_again(&b.peers, cards, 2);
    ends_set_up_well();
}

static void count_turn(void *arg)
{
    ++*(int *)arg;
}

/* Puts the members' sockets in different network namespaces, where a name may be a stranger's. No
 * message may be sent, and no rank may wait. */
static void nothing_is_sent_to_another_network(void **state)
{
    struct handover seen;
    struct peer_card two[2] = { cards[0], cards[1] };
    char *base[2];

    (void)state;
    two[1].net_namespace = two[0].net_namespace + 1;
    int turns = 0;
    assert_int_equal(hud_peers_map(&a.peers, &a.arena, two, 2, 0, count_turn, &turns, base), 2);
    assert_int_equal(turns, 1);
    assert_int_equal(hud_handover_peek(&b.peers.sock, &seen), HANDOVER_NONE);
}

/* Removes a rank's socket, so the rank can neither send nor receive. No rank may wait, and other
 * teams must not fail because of this. */
static void nobody_waits_for_a_rank_without_a_socket(void **state)
{
    struct peer_card two[2] = { cards[0], cards[1] };
    char *base[2];

    (void)state;
    memset(two[1].socket, 0, sizeof two[1].socket);
    int turns = 0;
    assert_int_equal(hud_peers_map(&a.peers, &a.arena, two, 2, 0, count_turn, &turns, base), 2);
    assert_int_equal(hud_peers_map(&b.peers, &b.arena, two, 2, 1, count_turn, &turns, base), 1);
    assert_int_equal(turns, 2);
    assert_false(hud_peers_lost(&a.peers));
    ends_set_up_well();
}

#define CASE(name) cmocka_unit_test_setup_teardown(name, ends_start, ends_finish)

int main(void)
{
    const struct CMUnitTest tests[] = {
        CASE(two_members_exchange_arenas),
        CASE(flooded_sockets_still_receive_the_arenas),
        CASE(wrong_size_fails_one_set_up_only),
        CASE(wrong_file_fails_one_set_up_only),
        CASE(unsealed_file_fails_one_set_up_only),
        CASE(too_many_descriptors_fail_one_set_up_only),
        CASE(missing_descriptor_fails_one_set_up_only),
        CASE(replays_are_dropped_and_early_messages_kept),
        CASE(longer_file_fails_one_set_up_only),
        CASE(number_of_early_messages_kept_is_bounded),
        CASE(early_messages_of_other_users_are_dropped),
        CASE(full_descriptor_table_fails_one_set_up_only),
        CASE(nothing_is_sent_to_another_network),
        CASE(nobody_waits_for_a_rank_without_a_socket),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
