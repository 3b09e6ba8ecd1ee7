/* SPDX-License-Identifier: BSD-3-Clause */
/* test_handover.c - messages with descriptors: looking at a message brings no descriptor into the
 * process, and only a complete message with a single descriptor is accepted. */
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

/* Sends messages of any length, with any number of descriptors and with unexpected nonces. Looking
 * must bring no descriptor into the process, and dropping must leave nothing behind. */
static void peeking_at_messages_takes_no_descriptor(void **state)
{
    static const size_t lengths[] = {
        0,   1, sizeof(struct handover) - 1, sizeof(struct handover), sizeof(struct handover) + 1,
        4096
    };
    static const int copies[] = { 0, 1, 2, 3, MAX_PASSED };
    static unsigned char message[4096];
    struct handover seen;
    int before = open_descriptors();

    (void)state;
    for (size_t l = 0; l < sizeof lengths / sizeof lengths[0]; l++)
        for (size_t c = 0; c < sizeof copies / sizeof copies[0]; c++) {
            memset(message, (int)(l + c), sizeof message);
            assert_int_equal(ends_send(stranger, &cards[0], message, lengths[l], 0, copies[c]), 0);
            assert_int_not_equal(hud_handover_peek(&a.peers.sock, &seen), HANDOVER_NONE);
            assert_int_equal(open_descriptors(), before);
            hud_handover_drop(&a.peers.sock);
            assert_int_equal(hud_handover_peek(&a.peers.sock, &seen), HANDOVER_NONE);
            assert_int_equal(open_descriptors(), before);
        }
}

static void messages_of_a_wrong_length_are_garbage(void **state)
{
    struct handover message = ends_says(&cards[1]), seen;
    char long_one[sizeof message + 1] = "";

    (void)state;
    memcpy(long_one, &message, sizeof message);
    assert_int_equal(hud_handover_peek(&a.peers.sock, &seen), HANDOVER_NONE);
    ends_send(stranger, &cards[0], long_one, sizeof long_one, 0, 0);
    assert_int_equal(hud_handover_peek(&a.peers.sock, &seen), HANDOVER_GARBAGE);
    hud_handover_drop(&a.peers.sock);
    ends_send(stranger, &cards[0], long_one, sizeof message - 1, 0, 0);
    assert_int_equal(hud_handover_peek(&a.peers.sock, &seen), HANDOVER_GARBAGE);
    hud_handover_drop(&a.peers.sock);
    ends_send(stranger, &cards[0], &message, sizeof message, 0, 0);
    assert_int_equal(hud_handover_peek(&a.peers.sock, &seen),
                     hud_handover_is_user(geteuid()) ? HANDOVER_SAME_USER : HANDOVER_STRANGER);
    assert_memory_equal(&seen, &message, sizeof seen);
    assert_int_equal(hud_handover_take(&a.peers.sock, &message), -1); /* it has no descriptor */
}

/* Takes the descriptor of an expected message only if there is exactly one. */
static void exactly_one_descriptor_is_taken(void **state)
{
    struct handover message = ends_says(&cards[1]);
    int before = open_descriptors();

    (void)state;
    for (int copies = 2; copies <= MAX_PASSED; copies += 251) {
        assert_int_equal(ends_send(stranger, &cards[0], &message, sizeof message, 0, copies), 0);
        assert_int_equal(hud_handover_take(&a.peers.sock, &message), -1);
        assert_int_equal(open_descriptors(), before);
    }
    assert_int_equal(ends_send(stranger, &cards[0], &message, sizeof message, 0, 1), 0);
    int fd = hud_handover_take(&a.peers.sock, &message);
    assert_true(fd >= 0);
    assert_true(fcntl(fd, F_GETFD) & FD_CLOEXEC);
    close(fd);
}

/* Runs in a user namespace without mappings. All users are 65534 there, and none of them is this
 * process's user. */
static void unmapped_users_are_strangers(void **state)
{
    struct handover message = ends_says(&cards[1]), seen;
    int status;

    (void)state;
    assert_false(hud_handover_is_user(65534));
    assert_true(hud_handover_is_user(0));
    pid_t child = fork();
    if (child == 0) {
        if (unshare(CLONE_NEWUSER) != 0)
            _exit(77);
        char name[HANDOVER_NAME];
        struct descriptor here = hud_handover_open(name);
        struct peer_card to = cards[0];
        memcpy(to.socket, name, sizeof name);
        _exit(here.fd >= 0 && ends_send(stranger, &to, &message, sizeof message, 0, 1) == 0 &&
                      geteuid() == 65534 && hud_handover_peek(&here, &seen) == HANDOVER_STRANGER
                  ? 0
                  : 1);
    }
    waitpid(child, &status, 0);
    if (WIFEXITED(status) && WEXITSTATUS(status) == 77) {
        print_message("user namespaces are not allowed here: skipped\n");
        skip();
    }
    assert_int_equal(status, 0);
}

#define CASE(name) cmocka_unit_test_setup_teardown(name, ends_start, ends_finish)

int main(void)
{
    const struct CMUnitTest tests[] = {
        CASE(peeking_at_messages_takes_no_descriptor),
        CASE(messages_of_a_wrong_length_are_garbage),
        CASE(exactly_one_descriptor_is_taken),
        CASE(unmapped_users_are_strangers),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
