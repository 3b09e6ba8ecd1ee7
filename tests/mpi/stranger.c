/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * stranger.c - another user of the node who tries to hang a job. The program runs until the process
 * that started it ends. It lists the abstract sockets and binds names guessed from the names of
 * huddle's sockets. It fills the queues of huddle's sockets with garbage, forged messages and
 * descriptors.
 *
 * Run as root, it becomes uid 65533. Run it in the network namespace of the job, separate from
 * others: it must not affect the sockets of other programs.
 */
#define _GNU_SOURCE
#include <ctype.h>
#include <grp.h>
#include <signal.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

enum { UID = 65533, RANKS = 16, TAKEN = 512, PASSED = 253, MESSAGE = 24 };

static int taken[TAKEN]; /* sockets that hold names; the oldest is closed first */
static unsigned long takes, sends, scans;
static pid_t other;

static socklen_t address_of(const char *name, struct sockaddr_un *address)
{
    size_t length = strnlen(name, sizeof address->sun_path - 1);

    memset(address, 0, sizeof *address);
    address->sun_family = AF_UNIX;
    memcpy(address->sun_path + 1, name, length);
    return (socklen_t)(offsetof(struct sockaddr_un, sun_path) + 1 + length);
}

static void take(const char *name)
{
    struct sockaddr_un address;
    socklen_t bytes = address_of(name, &address);
    int fd = socket(AF_UNIX, SOCK_DGRAM, 0);

    if (fd >= 0 && bind(fd, (struct sockaddr *)&address, bytes) == 0) {
        int *slot = &taken[takes++ % TAKEN];
        if (*slot > 0)
            close(*slot);
        *slot = fd;
    } else if (fd >= 0) {
        close(fd);
    }
}

/* Binds the names of the other ranks, which may differ in the last number or in the last digit. */
static void take_neighbours(const char *name)
{
    char guess[sizeof((struct sockaddr_un *)0)->sun_path + 16];
    size_t end = strlen(name), stem = end;

    while (stem > 0 && isdigit((unsigned char)name[stem - 1]))
        stem--;
    for (int r = 0; r < RANKS; r++) {
        snprintf(guess, sizeof guess, "%.*s%d", (int)stem, name, r);
        take(guess);
        snprintf(guess, sizeof guess, "%.*s%x", (int)end - 1, name, (unsigned)r);
        take(guess);
    }
}

/* Sends a message. Returns false if the queue is full or the socket is gone. */
static int fling(int from, const char *name, size_t bytes, int descriptors)
{
    static const int standard = 1;
    char junk[4096];
    struct sockaddr_un address;
    struct iovec iov = { junk, bytes };
    union {
        char bytes[CMSG_SPACE(PASSED * sizeof(int))];
        struct cmsghdr align;
    } control;
    struct msghdr msg = { .msg_name = &address,
                          .msg_namelen = address_of(name, &address),
                          .msg_iov = &iov,
                          .msg_iovlen = 1 };

    for (size_t i = 0; i < bytes; i++)
        junk[i] = (char)rand();
    memset(&control, 0, sizeof control);
    if (descriptors > 0) {
        msg.msg_control = control.bytes;
        msg.msg_controllen = CMSG_SPACE((size_t)descriptors * sizeof(int));
        struct cmsghdr *c = CMSG_FIRSTHDR(&msg);
        c->cmsg_level = SOL_SOCKET;
        c->cmsg_type = SCM_RIGHTS;
        c->cmsg_len = CMSG_LEN((size_t)descriptors * sizeof(int));
        for (int i = 0; i < descriptors; i++)
            memcpy(CMSG_DATA(c) + (size_t)i * sizeof(int), &standard, sizeof standard);
    }
    int rc = sendmsg(from, &msg, MSG_DONTWAIT | MSG_NOSIGNAL) >= 0;
    sends += (unsigned long)rc;
    return rc;
}

static void flood(int from, const char *name)
{
    static const struct {
        size_t bytes;
        int descriptors;
    } kinds[] = { { MESSAGE, 1 },   { MESSAGE, 2 }, { MESSAGE, PASSED }, { MESSAGE, 0 }, { 1, 1 },
                  { 4096, PASSED }, { 0, 1 } };

    for (size_t i = 0; fling(from, name, kinds[i % 7].bytes, kinds[i % 7].descriptors) && i < 64;
         i++)
        ;
}

/* Reports whether the kernel chose the name, as for sockets that are bound without a name. */
static int is_autobound(const char *name)
{
    return strlen(name) == 5 && strspn(name, "0123456789abcdef") == 5;
}

/* Scans all sockets. One of the two processes only binds names, which must be fast, and the other
 * fills queues. */
static void scan(int from, int takes_names)
{
    char line[512];
    FILE *f = fopen("/proc/net/unix", "re");

    while (f && fgets(line, sizeof line, f)) {
        char *name = strchr(line, '@');
        if (!name)
            continue;
        name++;
        name[strcspn(name, "\n")] = '\0';
        if (takes_names && strncmp(name, "huddle", 6) == 0)
            take_neighbours(name);
        else if (!takes_names && (strncmp(name, "huddle", 6) == 0 || is_autobound(name)))
            flood(from, name);
    }
    if (f)
        fclose(f);
    scans++;
}

static void report(int number)
{
    (void)number;
    fprintf(stderr, "stranger: %lu scans, %lu names taken, %lu messages sent\n", scans, takes,
            sends);
    kill(other, SIGKILL);
    _exit(0);
}

int main(void)
{
    if (geteuid() == 0 && (setgroups(0, NULL) != 0 || setgid(UID) != 0 || setuid(UID) != 0)) {
        perror("stranger");
        return 1;
    }
    pid_t parent = getpid();
    other = fork();
    prctl(PR_SET_PDEATHSIG, other == 0 ? SIGKILL : SIGTERM);
    if (other > 0)
        signal(SIGTERM, report);
    int from = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0);
    while (from >= 0 && (other != 0 || getppid() == parent))
        scan(from, other != 0);
    return 0;
}
