/* SPDX-License-Identifier: BSD-3-Clause */
/* machine_kernel.c - how fast the kernel copies from another process. */

#include "machine.h"
#include "pinned.h"

#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/uio.h>
#include <sys/wait.h>
#include <unistd.h>

enum { CALL_ROUNDS = 500 };

static unsigned char *exposed; /* the child has it at the same address */

static double read_child(pid_t child, unsigned char *to, size_t bytes)
{
    struct iovec local = { to, bytes }, remote = { exposed, bytes };
    double begin = pinned_ns();

    return process_vm_readv(child, &local, 1, &remote, 1, 0) == (ssize_t)bytes ? pinned_ns() - begin
                                                                               : -1;
}

/* A child with this process's memory; negative: there is none. */
static pid_t expose(void)
{
    pid_t child = fork();

    if (child != 0)
        return child;
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    for (;;)
        pause();
}

static void hide(pid_t child)
{
    kill(child, SIGKILL);
    waitpid(child, NULL, 0);
}

/* Median time of a copy of `bytes` from a child process; negative: the kernel refuses. */
static double kernel_ns(size_t bytes, int rounds)
{
    unsigned char *to = measured_buffer(bytes);
    double ns[CALL_ROUNDS], median = -1;

    exposed = measured_buffer(bytes);
    if (to && exposed) {
        memset(to, 1, bytes);
        memset(exposed, 2, bytes);
        pid_t child = expose();
        for (int r = 0; child > 0 && r < rounds; r++)
            ns[r] = read_child(child, to, bytes);
        if (child > 0) {
            hide(child);
            median = pinned_median(ns, rounds);
            median = ns[0] < 0 ? -1 : median;
        }
    }
    free(to);
    free(exposed);
    return median;
}

double measure_call(const struct measured *on, int class, char note[MACHINE_NOTE])
{
    (void)on, (void)class;
    snprintf(note, MACHINE_NOTE, "measured: process_vm_readv of 8 bytes");
    return kernel_ns(8, CALL_ROUNDS);
}

double measure_kernel(const struct measured *on, int class, char note[MACHINE_NOTE])
{
    double small = kernel_ns(measured_share(on), CALL_ROUNDS / 4),
           large = kernel_ns(2 * measured_share(on), CALL_ROUNDS / 4);

    (void)class;
    snprintf(note, MACHINE_NOTE,
             "measured: process_vm_readv, by the time of %zu KB more from its own cache",
             measured_share(on) >> 10);
    return small < 0 || large <= small ? -1 : (double)measured_share(on) / (large - small);
}

/* ---- several readers of one process ---- */

struct readers {
    struct pinned_meeting meeting;
    pid_t child;
    size_t bytes;
    struct {
        unsigned char *to;
        bool failed;
    } * of; /* [threads] */
    double begin_ns;
    double gbps[PINNED_ROUNDS]; /* of all together, until the last has its bytes */
};

static void body_read(void *arg, int thread)
{
    struct readers *c = arg;

    for (int r = 0; r < PINNED_ROUNDS; r++) {
        pinned_meet(&c->meeting);
        if (thread == 0)
            c->begin_ns = pinned_ns();
        pinned_meet(&c->meeting);
        if (read_child(c->child, c->of[thread].to, c->bytes) < 0)
            c->of[thread].failed = true;
        pinned_meet(&c->meeting);
        if (thread == 0)
            c->gbps[r] = (double)c->bytes * c->meeting.threads / (pinned_ns() - c->begin_ns);
    }
}

/* What threads get together that each copy `bytes` of one process; negative: nothing. */
static double readers_gbps(const struct measured *on, int threads, size_t bytes)
{
    struct readers c = { .meeting.threads = threads, .bytes = bytes };
    bool there = (c.of = calloc((size_t)threads, sizeof *c.of)) != NULL &&
                 (exposed = measured_buffer(bytes)) != NULL;
    double gbps = -1;

    for (int i = 0; there && i < threads; i++)
        if ((there = (c.of[i].to = measured_buffer(bytes)) != NULL))
            memset(c.of[i].to, 1, bytes);
    if (there) {
        memset(exposed, 2, bytes);
        c.child = expose();
        /* Core 0 is left idle, as that of a rank that waits until the others have read. */
        if (c.child > 0 && pinned_run(on->os + 1, threads, body_read, &c) == 0)
            gbps = pinned_max(c.gbps, PINNED_ROUNDS);
        if (c.child > 0)
            hide(c.child);
        free(exposed);
    }
    for (int i = 0; c.of && i < threads; i++) {
        gbps = c.of[i].failed ? -1 : gbps;
        free(c.of[i].to);
    }
    free(c.of);
    return gbps;
}

double measure_process(const struct measured *on, int class, char note[MACHINE_NOTE])
{
    int readers = on->m->cores - 1;
    size_t bytes = 2 * measured_share(on); /* so many that the call itself hardly counts */

    (void)class;
    if (readers < 2)
        return snprintf(note, MACHINE_NOTE, "two readers and their process need three cores"), -1;
    snprintf(note, MACHINE_NOTE, "measured: process_vm_readv of %zu KB of one process by %d cores",
             bytes >> 10, readers);
    return readers_gbps(on, readers, bytes);
}
