/* SPDX-License-Identifier: BSD-3-Clause */
/* handover.c - sends and receives descriptors. */
#define _GNU_SOURCE
#include "core/arena/handover.h"

#include <errno.h>
#include <pthread.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>

enum { ADDRESS_HEAD = offsetof(struct sockaddr_un, sun_path) + 1 };

/* Opens an autobound abstract socket: the kernel picks a free name. */
static int open_socket(void)
{
    struct sockaddr_un any = { .sun_family = AF_UNIX };
    int on = 1, fd = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);

    if (fd >= 0 && (setsockopt(fd, SOL_SOCKET, SO_PASSCRED, &on, sizeof on) != 0 ||
                    bind(fd, (struct sockaddr *)&any, sizeof any.sun_family) != 0)) {
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
    if (sock.fd >= 0 && getsockname(sock.fd, (struct sockaddr *)&address, &bytes) == 0 &&
        bytes > ADDRESS_HEAD && bytes - ADDRESS_HEAD < HANDOVER_NAME)
        memcpy(name, address.sun_path + 1, bytes - ADDRESS_HEAD);
    return sock;
}

int hud_handover_send(const struct descriptor *sock, const struct arena *own, const char *name)
{
    struct sockaddr_un address = { .sun_family = AF_UNIX };
    struct handover message = { .bytes = own->bytes };
    struct iovec iov = { &message, sizeof message };
    union {
        char bytes[CMSG_SPACE(sizeof(int))];
        struct cmsghdr align;
    } control = { .bytes = { 0 } };
    struct msghdr msg = { .msg_name = &address,
                          .msg_iov = &iov,
                          .msg_iovlen = 1,
                          .msg_control = control.bytes,
                          .msg_controllen = sizeof control.bytes };

    if (!descriptor_is_ours(sock) || !descriptor_is_ours(&own->file))
        return -1;
    memcpy(message.nonce, own->head->nonce, ARENA_NONCE);
    memcpy(address.sun_path + 1, name, strnlen(name, HANDOVER_NAME));
    msg.msg_namelen = (socklen_t)(ADDRESS_HEAD + strnlen(name, HANDOVER_NAME));
    struct cmsghdr *c = CMSG_FIRSTHDR(&msg);
    c->cmsg_level = SOL_SOCKET;
    c->cmsg_type = SCM_RIGHTS;
    c->cmsg_len = CMSG_LEN(sizeof(int));
    memcpy(CMSG_DATA(c), &own->file.fd, sizeof(int));
    if (sendmsg(sock->fd, &msg, MSG_DONTWAIT | MSG_NOSIGNAL) >= 0)
        return 1;
    return errno == EAGAIN || errno == EINTR || errno == ENOBUFS || errno == ENOMEM ||
                   errno == ETOOMANYREFS
               ? 0
               : -1;
}

static uid_t overflow_uid = 65534;

static void read_overflow_uid(void)
{
    FILE *f = fopen("/proc/sys/kernel/overflowuid", "re");
    unsigned uid;

    if (f && fscanf(f, "%u", &uid) == 1)
        overflow_uid = (uid_t)uid;
    if (f)
        fclose(f);
}

bool hud_handover_is_user(uid_t uid)
{
    static pthread_once_t once = PTHREAD_ONCE_INIT;

    pthread_once(&once, read_overflow_uid);
    return uid != overflow_uid;
}

/* Calls recvmsg for a message without waiting.  Returns false if no message waits. */
static bool next(const struct descriptor *sock, struct handover *message, void *control,
                 size_t control_bytes, int how, struct msghdr *msg, ssize_t *bytes)
{
    struct iovec iov = { message, sizeof *message };

    if (!descriptor_is_ours(sock))
        return false;
    do {
        *msg = (struct msghdr){ .msg_iov = &iov,
                                .msg_iovlen = 1,
                                .msg_control = control,
                                .msg_controllen = control_bytes };
        *bytes = recvmsg(sock->fd, msg, MSG_DONTWAIT | MSG_CMSG_CLOEXEC | how);
    } while (*bytes < 0 && errno == EINTR);
    msg->msg_iov = NULL;
    return *bytes >= 0;
}

static bool is_whole(ssize_t bytes, const struct msghdr *msg)
{
    return bytes == (ssize_t)sizeof(struct handover) && !(msg->msg_flags & MSG_TRUNC);
}

enum handover_kind hud_handover_peek(const struct descriptor *sock, struct handover *message)
{
    /* room for the credentials, which come first, and not for a descriptor */
    union {
        char bytes[CMSG_SPACE(sizeof(struct ucred))];
        struct cmsghdr align;
    } control;
    struct msghdr msg;
    ssize_t bytes;
    bool same = false;

    if (!next(sock, message, control.bytes, sizeof control.bytes, MSG_PEEK, &msg, &bytes))
        return HANDOVER_NONE;
    if (!is_whole(bytes, &msg))
        return HANDOVER_GARBAGE;
    for (struct cmsghdr *c = CMSG_FIRSTHDR(&msg); c; c = CMSG_NXTHDR(&msg, c))
        if (c->cmsg_level == SOL_SOCKET && c->cmsg_type == SCM_CREDENTIALS) {
            struct ucred from;
            memcpy(&from, CMSG_DATA(c), sizeof from);
            same = from.uid == geteuid() && hud_handover_is_user(from.uid);
        }
    return same ? HANDOVER_SAME_USER : HANDOVER_STRANGER;
}

/* Takes a message, with room for credentials and exactly one descriptor: the kernel drops others
 * and reports the loss. */
int hud_handover_take(const struct descriptor *sock, const struct handover *message)
{
    union {
        char bytes[CMSG_SPACE(sizeof(struct ucred)) + CMSG_LEN(sizeof(int))];
        struct cmsghdr align;
    } control;
    struct handover received;
    struct msghdr msg;
    ssize_t bytes;
    int fd = -1;

    if (!next(sock, &received, control.bytes,
              CMSG_SPACE(sizeof(struct ucred)) + CMSG_LEN(sizeof(int)), 0, &msg, &bytes))
        return -1;
    for (struct cmsghdr *c = CMSG_FIRSTHDR(&msg); c; c = CMSG_NXTHDR(&msg, c))
        if (c->cmsg_level == SOL_SOCKET && c->cmsg_type == SCM_RIGHTS &&
            c->cmsg_len >= CMSG_LEN(sizeof fd))
            memcpy(&fd, CMSG_DATA(c), sizeof fd);
    if (fd >= 0 && ((msg.msg_flags & MSG_CTRUNC) || !is_whole(bytes, &msg) ||
                    memcmp(&received, message, sizeof received) != 0)) {
        close(fd);
        fd = -1;
    }
    return fd;
}

void hud_handover_drop(const struct descriptor *sock)
{
    struct handover gone;
    struct msghdr msg;
    ssize_t bytes;

    (void)next(sock, &gone, NULL, 0, 0, &msg, &bytes);
}
