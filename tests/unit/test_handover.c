/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * test_handover.c - descriptors that arrive: only what a set-up waits for enters this process, and whatever else is sent to its socket neither stays nor
 * disturbs.  The other member of the team is played by a second struct peers here, made to look like another process; strangers are plain sockets.
 */
#define _GNU_SOURCE
#include "core/peers.h"

#include <dirent.h>
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

enum { BYTES = 1 << 20, MOST_PASSED = 253 }; /* the kernel's SCM_MAX_FD */

struct end {
    struct peers peers;
    struct arena arena;
};

static struct end a, b;
static struct peer_card cards[2];
static int stranger;

static int start(void **state)
{
    struct end *ends[2] = { &a, &b };
    const char *why;

    (void)state;
    for (int i = 0; i < 2; i++) {
        if (hud_peers_init(&ends[i]->peers) != 0 || hud_arena_create(&ends[i]->arena, BYTES, &why) != 0)
            return -1;
        hud_peers_card(&ends[i]->peers, &ends[i]->arena, &cards[i]);
        cards[i].by_proc = 0;
        cards[i].process += (uint64_t)i;
    }
    stranger = socket(AF_UNIX, SOCK_DGRAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
    return 0;
}

static int finish(void **state)
{
    struct end *ends[2] = { &a, &b };

    (void)state;
    close(stranger);
    for (int i = 0; i < 2; i++) {
        hud_peers_destroy(&ends[i]->peers);
        hud_arena_destroy(&ends[i]->arena);
    }
    return 0;
}

static int open_descriptors(void)
{
    DIR *dir = opendir("/proc/self/fd");
    int count = 0;

    while (dir && readdir(dir))
        count++;
    if (dir)
        closedir(dir);
    return count;
}

/* A message to an end's socket, with so many copies of a descriptor; 0, or errno. */
static int send_raw(int from, const struct peer_card *to, const void *message, size_t bytes, int fd, int copies)
{
    struct sockaddr_un address = { .sun_family = AF_UNIX };
    struct iovec iov = { (void *)(uintptr_t)message, bytes };
    union {
        char bytes[CMSG_SPACE(MOST_PASSED * sizeof(int))];
        struct cmsghdr align;
    } control;
    struct msghdr msg = { .msg_name = &address, .msg_iov = &iov, .msg_iovlen = 1 };

    memset(&control, 0, sizeof control);
    memcpy(address.sun_path + 1, to->socket, strlen(to->socket));
    msg.msg_namelen = (socklen_t)(offsetof(struct sockaddr_un, sun_path) + 1 + strlen(to->socket));
    if (copies > 0) {
        msg.msg_control = control.bytes;
        msg.msg_controllen = CMSG_SPACE((size_t)copies * sizeof(int));
        struct cmsghdr *c = CMSG_FIRSTHDR(&msg);
        c->cmsg_level = SOL_SOCKET;
        c->cmsg_type = SCM_RIGHTS;
        c->cmsg_len = CMSG_LEN((size_t)copies * sizeof(int));
        for (int i = 0; i < copies; i++)
            memcpy(CMSG_DATA(c) + (size_t)i * sizeof fd, &fd, sizeof fd);
    }
    return sendmsg(from, &msg, MSG_DONTWAIT) >= 0 ? 0 : errno;
}

static struct handover says(const struct peer_card *card)
{
    struct handover message = { .bytes = card->bytes };

    memcpy(message.nonce, card->nonce, ARENA_NONCE);
    return message;
}

struct side {
    struct end *end;
    int me, rc;
};

static void *map(void *arg)
{
    struct side *s = arg;
    char *base[2];

    s->rc = hud_peers_map(&s->end->peers, &s->end->arena, cards, 2, s->me, NULL, NULL, base);
    if (s->rc == 0 && memcmp(((struct arena_head *)(void *)base[1 - s->me])->nonce, cards[1 - s->me].nonce, ARENA_NONCE) != 0)
        s->rc = -1;
    return NULL;
}

/* Both ends set a team up; what it came to at each. */
static void set_up(int *rc_a, int *rc_b)
{
    struct side one = { &a, 0, 0 }, two = { &b, 1, 0 };
    pthread_t thread;

    assert_int_equal(pthread_create(&thread, NULL, map, &two), 0);
    map(&one);
    pthread_join(thread, NULL);
    *rc_a = one.rc;
    *rc_b = two.rc;
}

static void set_up_well(void)
{
    int rc_a, rc_b;

    set_up(&rc_a, &rc_b);
    assert_int_equal(rc_a, 0);
    assert_int_equal(rc_b, 0);
}

static void two_swap_arenas(void **state)
{
    int before = open_descriptors();

    (void)state;
    set_up_well();
    assert_int_equal(open_descriptors(), before);
}

/* Looking lets nothing in; messages of any length, with any number of descriptors, of nonces that nobody expects, leave nothing behind. */
static void what_strangers_send_does_not_enter(void **state)
{
    static const size_t lengths[] = { 0, 1, sizeof(struct handover) - 1, sizeof(struct handover), sizeof(struct handover) + 1, 4096 };
    static const int copies[] = { 0, 1, 2, 3, MOST_PASSED };
    static unsigned char message[4096];
    struct handover seen;
    int before = open_descriptors();

    (void)state;
    for (size_t l = 0; l < sizeof lengths / sizeof lengths[0]; l++)
        for (size_t c = 0; c < sizeof copies / sizeof copies[0]; c++) {
            memset(message, (int)(l + c), sizeof message);
            assert_int_equal(send_raw(stranger, &cards[0], message, lengths[l], 0, copies[c]), 0);
            assert_int_not_equal(hud_handover_look(&a.peers.sock, &seen), HANDOVER_NONE);
            assert_int_equal(open_descriptors(), before);
            hud_handover_drop(&a.peers.sock);
            assert_int_equal(hud_handover_look(&a.peers.sock, &seen), HANDOVER_NONE);
            assert_int_equal(open_descriptors(), before);
        }
}

static void lengths_are_judged(void **state)
{
    struct handover message = says(&cards[1]), seen;
    char long_one[sizeof message + 1] = "";

    (void)state;
    memcpy(long_one, &message, sizeof message);
    assert_int_equal(hud_handover_look(&a.peers.sock, &seen), HANDOVER_NONE);
    send_raw(stranger, &cards[0], long_one, sizeof long_one, 0, 0);
    assert_int_equal(hud_handover_look(&a.peers.sock, &seen), HANDOVER_GARBAGE);
    hud_handover_drop(&a.peers.sock);
    send_raw(stranger, &cards[0], long_one, sizeof message - 1, 0, 0);
    assert_int_equal(hud_handover_look(&a.peers.sock, &seen), HANDOVER_GARBAGE);
    hud_handover_drop(&a.peers.sock);
    send_raw(stranger, &cards[0], &message, sizeof message, 0, 0);
    assert_int_equal(hud_handover_look(&a.peers.sock, &seen), hud_handover_is_user(geteuid()) ? HANDOVER_SAME_USER : HANDOVER_STRANGER);
    assert_memory_equal(&seen, &message, sizeof seen);
    assert_int_equal(hud_handover_take(&a.peers.sock, &message), -1); /* it has no descriptor */
}

/* Of a message that is expected exactly one descriptor is taken; of several none. */
static void one_descriptor_or_none(void **state)
{
    struct handover message = says(&cards[1]);
    int before = open_descriptors();

    (void)state;
    for (int copies = 2; copies <= MOST_PASSED; copies += 251) {
        assert_int_equal(send_raw(stranger, &cards[0], &message, sizeof message, 0, copies), 0);
        assert_int_equal(hud_handover_take(&a.peers.sock, &message), -1);
        assert_int_equal(open_descriptors(), before);
    }
    assert_int_equal(send_raw(stranger, &cards[0], &message, sizeof message, 0, 1), 0);
    int fd = hud_handover_take(&a.peers.sock, &message);
    assert_true(fd >= 0);
    assert_true(fcntl(fd, F_GETFD) & FD_CLOEXEC);
    close(fd);
}

static bool flooding;
static int floods;

static void *flood(void *arg)
{
    static unsigned char noise[4096];
    struct handover unknown = { .bytes = BYTES }, known = says(&cards[1]);

    (void)arg;
    known.nonce[0] ^= 1;
    for (unsigned i = 0; __atomic_load_n(&flooding, __ATOMIC_RELAXED); i++) {
        memcpy(unknown.nonce, &i, sizeof i);
        for (int to = 0; to < 2; to++) {
            send_raw(stranger, &cards[to], &unknown, sizeof unknown, 0, (int)(i % MOST_PASSED));
            send_raw(stranger, &cards[to], noise, i % sizeof noise, 0, 2);
            send_raw(stranger, &cards[to], &known, sizeof known, b.arena.file.fd, 1);
        }
        __atomic_store_n(&floods, 1, __ATOMIC_RELAXED);
    }
    return NULL;
}

/* Floods from before the set-up to its end, with descriptors, of our own user even: it is done, and a bounded number of them is kept. */
static void a_flood_does_not_keep_a_team_from_its_arenas(void **state)
{
    int before = open_descriptors();
    pthread_t thread;

    (void)state;
    flooding = true;
    floods = 0;
    assert_int_equal(pthread_create(&thread, NULL, flood, NULL), 0);
    while (__atomic_load_n(&floods, __ATOMIC_RELAXED) == 0)
        sched_yield();
    set_up_well();
    __atomic_store_n(&flooding, false, __ATOMIC_RELAXED);
    pthread_join(thread, NULL);
    assert_true(open_descriptors() <= before + 2 * PEERS_EARLY);
    assert_false(hud_peers_lost(&a.peers) || hud_peers_lost(&b.peers));
}

/* A message for this set-up that is bad: this one is refused, at once, and the next one is not. */
static void bad(const struct handover *message, int fd, int copies)
{
    int rc_a, rc_b, before = open_descriptors();

    assert_int_equal(send_raw(stranger, &cards[0], message, sizeof *message, fd, copies), 0);
    hud_peers_find_or_add(&b.peers, cards[0].nonce)->sent = true; /* so it thinks */
    set_up(&rc_a, &rc_b);
    assert_int_equal(rc_a, 2);
    assert_int_equal(rc_b, 0);
    assert_int_equal(open_descriptors(), before);
    assert_false(hud_peers_lost(&a.peers) || hud_peers_lost(&b.peers));
    hud_peers_send_again(&a.peers, cards, 2);
    hud_peers_send_again(&b.peers, cards, 2);
    set_up_well();
}

static void a_wrong_size_is_of_one_set_up(void **state)
{
    struct handover message = says(&cards[1]);

    (void)state;
    message.bytes *= 2;
    bad(&message, b.arena.file.fd, 1);
}

static void a_wrong_file_is_of_one_set_up(void **state)
{
    struct handover message = says(&cards[1]);

    (void)state;
    bad(&message, a.arena.file.fd, 1); /* sealed, of that size, and of another nonce */
}

static void a_file_that_can_shrink_is_of_one_set_up(void **state)
{
    struct handover message = says(&cards[1]);
    int file = memfd_create("open", MFD_CLOEXEC);

    (void)state;
    assert_int_equal(ftruncate(file, BYTES), 0);
    assert_int_equal(pwrite(file, b.arena.head, 4096, 0), 4096);
    bad(&message, file, 1);
    close(file);
}

static void too_many_descriptors_are_of_one_set_up(void **state)
{
    struct handover message = says(&cards[1]);

    (void)state;
    bad(&message, b.arena.file.fd, 2);
}

static void no_descriptor_is_of_one_set_up(void **state)
{
    struct handover message = says(&cards[1]);

    (void)state;
    bad(&message, 0, 0);
}

/* A second message of a nonce that is mapped already, and one that came before its set-up. */
static void replays_and_early_ones(void **state)
{
    struct handover message = says(&cards[1]);
    struct peer_card nobody = { .bytes = BYTES, .nonce = { 1 } };
    struct peer_card with_nobody[2];
    char *base[2];
    int before = open_descriptors();

    (void)state;
    memcpy(with_nobody, (struct peer_card[]){ cards[0], nobody }, sizeof with_nobody);
    if (!hud_handover_is_user(geteuid()))
        skip(); /* early ones are kept for one's own user only */
    assert_int_equal(send_raw(stranger, &cards[0], &message, sizeof message, b.arena.file.fd, 1), 0);
    with_nobody[1].socket[0] = '\0';
    hud_peers_find_or_add(&a.peers, nobody.nonce)->failed = true;
    struct handover garbled = { .bytes = BYTES - 4096, .nonce = { 1 } }; /* ends the wait for a member that is not there */
    assert_int_equal(send_raw(stranger, &cards[0], &garbled, sizeof garbled, b.arena.file.fd, 1), 0);
    assert_int_equal(hud_peers_map(&a.peers, &a.arena, with_nobody, 2, 0, NULL, NULL, base), 2);
    assert_int_equal(open_descriptors(), before + 1); /* the early one */
    hud_peers_find_or_add(&b.peers, cards[0].nonce)->sent = true;
    set_up_well();
    assert_int_equal(open_descriptors(), before);
    assert_int_equal(send_raw(stranger, &cards[0], &message, sizeof message, b.arena.file.fd, 1), 0);
    hud_peers_find(&a.peers, nobody.nonce)->failed = false;
    assert_int_equal(send_raw(stranger, &cards[0], &garbled, sizeof garbled, b.arena.file.fd, 1), 0);
    assert_int_equal(hud_peers_map(&a.peers, &a.arena, with_nobody, 2, 0, NULL, NULL, base), 2);
    assert_int_equal(open_descriptors(), before); /* the replay went */
}

/* No descriptor free: this set-up is refused, without a wait, and the next one after there is room again is not. */
static void a_full_table_is_of_one_set_up(void **state)
{
    struct handover message = says(&cards[1]);
    struct rlimit all, few;
    int rc_a, rc_b;

    (void)state;
    assert_int_equal(send_raw(stranger, &cards[0], &message, sizeof message, b.arena.file.fd, 1), 0);
    hud_peers_find_or_add(&b.peers, cards[0].nonce)->sent = true;
    assert_int_equal(getrlimit(RLIMIT_NOFILE, &all), 0);
    few = all;
    few.rlim_cur = 3;
    assert_int_equal(setrlimit(RLIMIT_NOFILE, &few), 0);
    set_up(&rc_a, &rc_b);
    setrlimit(RLIMIT_NOFILE, &all);
    assert_int_equal(rc_a, 2);
    assert_false(hud_peers_lost(&a.peers));
    hud_peers_send_again(&a.peers, cards, 2);
    hud_peers_send_again(&b.peers, cards, 2);
    set_up_well();
}

/* A user namespace that maps nobody: all are 65534 there, and none of them is our user. */
static void nobody_is_not_one_user(void **state)
{
    struct handover message = says(&cards[1]), seen;
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
        _exit(here.fd >= 0 && send_raw(stranger, &to, &message, sizeof message, 0, 1) == 0 && geteuid() == 65534 &&
                      hud_handover_look(&here, &seen) == HANDOVER_STRANGER
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

/* Where the members' sockets are in network namespaces of their own, a name may be a stranger's: nothing is sent. */
static void nothing_is_sent_to_another_network(void **state)
{
    struct handover seen;
    struct peer_card two[2] = { cards[0], cards[1] };
    char *base[2];

    (void)state;
    two[1].net_namespace = two[0].net_namespace + 1;
    struct handover garbled = says(&cards[1]);
    garbled.bytes++; /* ends the wait */
    assert_int_equal(send_raw(stranger, &cards[0], &garbled, sizeof garbled, 0, 0), 0);
    assert_int_equal(hud_peers_map(&a.peers, &a.arena, two, 2, 0, NULL, NULL, base), 2);
    assert_int_equal(hud_handover_look(&b.peers.sock, &seen), HANDOVER_NONE);
}

#define CASE(name) cmocka_unit_test_setup_teardown(name, start, finish)

int main(void)
{
    const struct CMUnitTest tests[] = {
        CASE(two_swap_arenas),
        CASE(what_strangers_send_does_not_enter),
        CASE(lengths_are_judged),
        CASE(one_descriptor_or_none),
        CASE(a_flood_does_not_keep_a_team_from_its_arenas),
        CASE(a_wrong_size_is_of_one_set_up),
        CASE(a_wrong_file_is_of_one_set_up),
        CASE(a_file_that_can_shrink_is_of_one_set_up),
        CASE(too_many_descriptors_are_of_one_set_up),
        CASE(no_descriptor_is_of_one_set_up),
        CASE(replays_and_early_ones),
        CASE(a_full_table_is_of_one_set_up),
        CASE(nobody_is_not_one_user),
        CASE(nothing_is_sent_to_another_network),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
