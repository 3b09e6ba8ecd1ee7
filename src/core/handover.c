/* SPDX-License-Identifier: BSD-3-Clause */
/* handover.c - sending and receiving descriptors. */
#define _GNU_SOURCE
#include "core/handover.h"

#include <errno.h>
#include <stddef.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>

enum { ADDRESS_HEAD = offsetof(struct sockaddr_un, sun_path) + 1 };

/* An autobound abstract socket: the kernel picks a name that nobody has. */
static int open_socket(void)
{
    struct sockaddr_un any = { .sun_family = AF_UNIX };
    int on = 1, fd = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);

    if (fd >= 0 &&
        (setsockopt(fd, SOL_SOCKET, SO_PASSCRED, &on, sizeof on) != 0 || bind(fd, (struct sockaddr *)&any, sizeof any.sun_family) != 0)) {
        close(fd);
        fd = -1;
    }
    return fd;
}

struct descriptor hud_handover_open(char name[HANDOVER_NAME])
{
    struct descriptor sock = descriptor_of(open_socket());
    struct sockaddr_un address;
    socklen_t bytes = sizeof address;

    memset(name, 0, HANDOVER_NAME);
    if (sock.fd >= 0 && getsockname(sock.fd, (struct sockaddr *)&address, &bytes) == 0 && bytes > ADDRESS_HEAD &&
        bytes - ADDRESS_HEAD < HANDOVER_NAME)
        memcpy(name, address.sun_path + 1, bytes - ADDRESS_HEAD);
    return sock;
}

union control {
    char bytes[CMSG_SPACE(sizeof(int)) + CMSG_SPACE(sizeof(struct ucred))];
    struct cmsghdr align;
};

int hud_handover_send(const struct descriptor *sock, const struct arena *own, const char *name)
{
    struct sockaddr_un address = { .sun_family = AF_UNIX };
    struct arrival out = { .message.bytes = own->bytes };
    struct iovec iov = { &out.message, sizeof out.message };
    union control control = { .bytes = { 0 } };
    struct msghdr msg = {
        .msg_name = &address, .msg_iov = &iov, .msg_iovlen = 1, .msg_control = control.bytes, .msg_controllen = CMSG_SPACE(sizeof(int))
    };

    if (!descriptor_is_ours(sock))
        return -1;
    memcpy(out.message.nonce, own->head->nonce, ARENA_NONCE);
    memcpy(address.sun_path + 1, name, strnlen(name, HANDOVER_NAME));
    msg.msg_namelen = (socklen_t)(ADDRESS_HEAD + strnlen(name, HANDOVER_NAME));
    struct cmsghdr *c = CMSG_FIRSTHDR(&msg);
    c->cmsg_level = SOL_SOCKET;
    c->cmsg_type = SCM_RIGHTS;
    c->cmsg_len = CMSG_LEN(sizeof(int));
    memcpy(CMSG_DATA(c), &own->file.fd, sizeof(int));
    if (sendmsg(sock->fd, &msg, MSG_DONTWAIT | MSG_NOSIGNAL) >= 0)
        return 1;
    return errno == EAGAIN || errno == EINTR || errno == ENOBUFS ? 0 : -1;
}

bool hud_handover_receive(const struct descriptor *sock, struct arrival *a)
{
    struct iovec iov = { &a->message, sizeof a->message };
    union control control;
    struct msghdr msg = { .msg_iov = &iov, .msg_iovlen = 1, .msg_control = control.bytes, .msg_controllen = sizeof control.bytes };
    ssize_t n;

    *a = (struct arrival){ .fd = -1 };
    if (!descriptor_is_ours(sock))
        return false;
    do
        n = recvmsg(sock->fd, &msg, MSG_DONTWAIT | MSG_CMSG_CLOEXEC);
    while (n < 0 && errno == EINTR);
    if (n < 0)
        return false;
    a->whole = n == (ssize_t)sizeof a->message;
    for (struct cmsghdr *c = CMSG_FIRSTHDR(&msg); c; c = CMSG_NXTHDR(&msg, c)) {
        if (c->cmsg_level == SOL_SOCKET && c->cmsg_type == SCM_RIGHTS)
            memcpy(&a->fd, CMSG_DATA(c), sizeof a->fd);
        if (c->cmsg_level == SOL_SOCKET && c->cmsg_type == SCM_CREDENTIALS) {
            struct ucred from;
            memcpy(&from, CMSG_DATA(c), sizeof from);
            a->same_user = from.uid == geteuid();
        }
    }
    return true;
}
