/* SPDX-License-Identifier: BSD-3-Clause */
/* ends.c - see ends.h. */
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

struct end a, b;
struct peer_card cards[2];
int stranger;

int ends_start(void **state)
{
    struct end *ends[2] = { &a, &b };
    const char *why;

    (void)state;
    for (int i = 0; i < 2; i++) {
        hud_peers_init(&ends[i]->peers);
        if (hud_arena_create(&ends[i]->arena, BYTES, 0, &why) != 0)
            return -1;
        hud_peers_card(&ends[i]->peers, &ends[i]->arena, &cards[i]);
        cards[i].by_proc = 0;
        cards[i].process += (uint64_t)i;
    }
    stranger = socket(AF_UNIX, SOCK_DGRAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
    return 0;
}

int ends_finish(void **state)
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

int ends_send(int from, const struct peer_card *to, const void *message, size_t bytes, int fd,
              int copies)
{
    struct sockaddr_un address = { .sun_family = AF_UNIX };
    struct iovec iov = { (void *)(uintptr_t)message, bytes };
    union {
        char bytes[CMSG_SPACE(MAX_PASSED * sizeof(int))];
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

struct handover ends_says(const struct peer_card *card)
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
    if (s->rc == 0 && memcmp(((struct arena_head *)(void *)base[1 - s->me])->nonce,
                             cards[1 - s->me].nonce, ARENA_NONCE) != 0)
        s->rc = -1;
    return NULL;
}

void ends_set_up(int *rc_a, int *rc_b)
{
    struct side one = { &a, 0, 0 }, two = { &b, 1, 0 };
    pthread_t thread;

    assert_int_equal(pthread_create(&thread, NULL, map, &two), 0);
    map(&one);
    pthread_join(thread, NULL);
    *rc_a = one.rc;
    *rc_b = two.rc;
}

void ends_set_up_well(void)
{
    int rc_a, rc_b;

    ends_set_up(&rc_a, &rc_b);
    assert_int_equal(rc_a, 0);
    assert_int_equal(rc_b, 0);
}
