/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * fuzz_handover.c - fuzzes the socket on which a rank receives descriptors. The input is a list of
 * messages of any length, with descriptors of several kinds and the credentials of this user or
 * another user. A rank that waits for the arena of one peer receives these messages, and then that
 * arena.
 *
 * No descriptor and no mapping may be left over. The rank may map only the expected arena, or
 * nothing.
 */
#define _GNU_SOURCE
#include "../resources.h"
#include "core/arena/peers.h"
#include "fuzz.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/un.h>

enum { MAX_DESCRIPTORS = 8 };

enum { ARENA_BYTES = 1 << 20, MAX_MESSAGES = 64, MAX_LENGTH = 96 };

/* Kinds of descriptors. TRUE_ARENA is the arena that the rank expects, OTHER_ARENA is the arena of
 * another rank. */
enum {
    TRUE_ARENA,
    OTHER_ARENA,
    NO_SEALS,
    TOO_SHORT,
    TOO_LONG,
    EMPTY_FILE,
    PIPE,
    NO_FILE,
    FOLDER,
    SOCKET,
    KINDS
};

static struct arena own, expected, other;
static int descriptors[KINDS];

/* Creates a file that can be an arena except for its length or its seals. */
static int make_file(off_t bytes, int seals)
{
    int fd = memfd_create("fuzz", MFD_CLOEXEC | MFD_ALLOW_SEALING);

    MUST(fd >= 0 && ftruncate(fd, bytes) == 0);
    MUST(bytes == 0 ||
         pwrite(fd, expected.head, sizeof *expected.head, 0) == sizeof *expected.head);
    MUST(fcntl(fd, F_ADD_SEALS, seals) == 0);
    return fd;
}

static void begin(void)
{
    const char *why;
    int ends[2];

    MUST(hud_arena_create(&own, ARENA_BYTES, 0, &why) == 0);
    MUST(hud_arena_create(&expected, ARENA_BYTES, 0, &why) == 0);
    MUST(hud_arena_create(&other, ARENA_BYTES, 0, &why) == 0);
    MUST(pipe2(ends, O_CLOEXEC) == 0);
    descriptors[TRUE_ARENA] = expected.file.fd;
    descriptors[OTHER_ARENA] = other.file.fd;
    descriptors[NO_SEALS] = make_file(ARENA_BYTES, 0);
    descriptors[TOO_SHORT] = make_file(ARENA_BYTES / 2, F_SEAL_SHRINK | F_SEAL_GROW);
    descriptors[TOO_LONG] = make_file(2 * ARENA_BYTES, F_SEAL_SHRINK | F_SEAL_GROW);
    descriptors[EMPTY_FILE] = make_file(0, F_SEAL_SHRINK | F_SEAL_GROW);
    descriptors[PIPE] = ends[0];
    descriptors[NO_FILE] = open("/dev/null", O_RDWR | O_CLOEXEC);
    descriptors[FOLDER] = open("/", O_RDONLY | O_CLOEXEC | O_DIRECTORY);
    descriptors[SOCKET] = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0);
}

/* ---- messages made from the input ---- */

struct input {
    const uint8_t *at, *end;
    struct descriptor sock; /* the messages are sent from this socket */
    struct peer_card to;
    int sent;
};

static uint8_t next(struct input *in)
{
    return in->at < in->end ? *in->at++ : 0;
}

/* Composes the body of a message: a nonce, a size and padding. Returns its length in bytes. */
static size_t make_body(struct input *in, unsigned char body[MAX_LENGTH])
{
    struct handover message = { .bytes = ARENA_BYTES };
    uint8_t form = next(in);
    size_t bytes = form & 1 ? next(in) % (MAX_LENGTH + 1u) : sizeof message;

    memcpy(message.nonce, form & 2 ? other.head->nonce : expected.head->nonce, ARENA_NONCE);
    if (form & 4)
        message.nonce[next(in) % ARENA_NONCE] ^= next(in);
    if (form & 8)
        for (size_t i = 0; i < sizeof message.bytes; i++)
            message.bytes = message.bytes << 8 | next(in);
    memset(body, next(in), MAX_LENGTH);
    memcpy(body, &message, sizeof message);
    return bytes;
}

static void add_control(struct msghdr *msg, int type, const void *data, size_t bytes)
{
    struct cmsghdr *c = (struct cmsghdr *)(void *)((char *)msg->msg_control + msg->msg_controllen);

    c->cmsg_level = SOL_SOCKET;
    c->cmsg_type = type;
    c->cmsg_len = CMSG_LEN(bytes);
    memcpy(CMSG_DATA(c), data, bytes);
    msg->msg_controllen += CMSG_SPACE(bytes);
}

static void send_one(struct input *in)
{
    _Alignas(struct cmsghdr) char control[CMSG_SPACE(sizeof(int[MAX_DESCRIPTORS])) +
                                          CMSG_SPACE(sizeof(struct ucred))] = { 0 };
    struct sockaddr_un address = { .sun_family = AF_UNIX };
    unsigned char body[MAX_LENGTH];
    struct iovec iov = { body, make_body(in, body) };
    struct msghdr msg = {
        .msg_name = &address, .msg_iov = &iov, .msg_iovlen = 1, .msg_control = control
    };
    size_t name = strnlen(in->to.socket, HANDOVER_NAME);
    int fds[MAX_DESCRIPTORS], count = next(in) % (MAX_DESCRIPTORS + 1);
    uint8_t who = next(in);

    memcpy(address.sun_path + 1, in->to.socket, name);
    msg.msg_namelen = (socklen_t)(offsetof(struct sockaddr_un, sun_path) + 1 + name);
    for (int i = 0; i < count; i++)
        fds[i] = descriptors[next(in) % KINDS];
    if (count != 0)
        add_control(&msg, SCM_RIGHTS, fds, (size_t)count * sizeof *fds);
    if (who & 1) { /* root may claim to be another user */
        struct ucred from = { .pid = getpid(),
                              .uid = who & 2 && geteuid() == 0 ? 65534 : geteuid(),
                              .gid = getegid() };
        add_control(&msg, SCM_CREDENTIALS, &from, sizeof from);
    }
    MUST(sendmsg(in->sock.fd, &msg, MSG_DONTWAIT | MSG_NOSIGNAL) >= 0 || errno == EAGAIN);
}

/* Sends a message whenever hud_peers_map polls, and finally the arena that hud_peers_map waits
 * for. */
static void progress(void *arg)
{
    struct input *in = arg;

    if (in->at < in->end && in->sent++ < MAX_MESSAGES)
        send_one(in);
    else
        hud_handover_send(&in->sock, &expected, in->to.socket);
}

/* ---- properties that must hold ---- */

static void check_peers(struct peers *peers, int missing, char *const *base)
{
    MUST(missing == 0 || missing == 2); /* a message with the expected nonce but no arena fails the
                                         * set-up */
    MUST(missing != 0 || memcmp(((struct arena_head *)(void *)base[1])->nonce, expected.head->nonce,
                                ARENA_NONCE) == 0);
    for (struct peer *p = peers->first; p; p = p->next)
        MUST(!p->head || memcmp(p->nonce, expected.head->nonce, ARENA_NONCE) == 0);
}

static void run_team(struct input *in)
{
    struct peers peers;
    struct peer_card cards[2];
    char *base[2];

    hud_peers_init(&peers);
    hud_peers_card(&peers, &own, &cards[0]);
    cards[1] = cards[0];
    cards[1].process ^= 1; /* another process, which cannot be reached through /proc */
    cards[0].by_proc = cards[1].by_proc = 0;
    memcpy(cards[1].nonce, expected.head->nonce, ARENA_NONCE);
    in->sock = hud_handover_open(cards[1].socket);
    in->to = cards[0];
    check_peers(&peers, hud_peers_map(&peers, &own, cards, 2, 0, progress, in, base), base);
    descriptor_close(&in->sock);
    hud_peers_destroy(&peers);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t bytes)
{
    static bool begun;
    struct input in = { .at = data, .end = data + bytes };

    if (!begun)
        begin();
    begun = true;
    int open_before = open_descriptors();
    long mapped_before = count_mappings("memfd:").named;
    run_team(&in);
    MUST(open_descriptors() == open_before);
    MUST(count_mappings("memfd:").named == mapped_before);
    return 0;
}
