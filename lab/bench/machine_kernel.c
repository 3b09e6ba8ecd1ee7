/* SPDX-License-Identifier: BSD-3-Clause */
/* machine_kernel.c - how fast the kernel copies from another process. */

#include "fork_team/fork_team.h"
#include "machine.h"
#include "pinned.h"

#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/uio.h>
#include <sys/wait.h>
#include <unistd.h>

enum { CALL_ROUNDS = 500 };

static unsigned char *exposed; /* memory at the same address in the child */

static double read_child(pid_t child, unsigned char *to, size_t bytes)
{
    struct iovec local = { to, bytes }, remote = { exposed, bytes };
    double begin = pinned_ns();

    return process_vm_readv(child, &local, 1, &remote, 1, 0) == (ssize_t)bytes ? pinned_ns() - begin
                                                                               : -1;
}

/* Forks a child with this process's memory.  Returns a negative number on failure. */
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

/* Returns the median time of a copy of `bytes` from a child process, or a negative number if the
 * kernel refuses. */
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

enum { READERS_MAX = 64, WAIT_NS = 3000, MANY_BYTES = 4096 };

/* Shared by all processes.  Rank 0 has the bytes, and rewrites them before each round; the others
 * read them at the same moment. */
struct readers {
    struct pinned_meeting meeting;
    int reading; /* ranks 1 to `reading` read, the others wait */
    int rounds;
    size_t bytes;
    pid_t owner;
    double when_ns, end_ns[READERS_MAX];
    double ns[CALL_ROUNDS]; /* time until the last reader has its bytes; negative: refused */
};

static double last_of(const struct readers *s)
{
    double last = s->when_ns;

    for (int r = 1; r <= s->reading; r++) {
        if (s->end_ns[r] < 0)
            return -1;
        last = s->end_ns[r] > last ? s->end_ns[r] : last;
    }
    return last - s->when_ns;
}

static int body_read(struct fork_rank *self, void *arg)
{
    struct readers *s = arg;
    unsigned char *to = measured_buffer(s->bytes);

    if (!to)
        return 1;
    for (int r = 0; r < s->rounds; r++) {
        memset(self->rank == 0 ? exposed : to, r, s->bytes); /* each process has pages of its own */
        if (self->rank == 0)
            s->owner = getpid();
        pinned_meet(&s->meeting);
        if (self->rank == 0)
            s->when_ns = pinned_ns() + WAIT_NS;
        pinned_meet(&s->meeting);
        while (pinned_ns() < s->when_ns)
            ;
        if (self->rank > 0 && self->rank <= s->reading)
            s->end_ns[self->rank] = read_child(s->owner, to, s->bytes) < 0 ? -1 : pinned_ns();
        pinned_meet(&s->meeting);
        if (self->rank == 0)
            s->ns[r] = last_of(s);
    }
    return 0;
}

/* Returns the ns until `reading` ranks, of a rank on each core, have read `bytes` of rank 0, or a
 * negative number if they cannot. */
static double readers_ns(const struct measured *on, int reading, size_t bytes)
{
    int ranks = on->m->cores <= READERS_MAX ? on->m->cores : READERS_MAX;
    struct readers *s = fork_team_shared(sizeof *s);
    double ns = -1;

    if (!s)
        return -1;
    *s = (struct readers){ .meeting.threads = ranks,
                           .reading = reading < ranks ? reading : ranks - 1,
                           .rounds = bytes > MANY_BYTES ? PINNED_ROUNDS : CALL_ROUNDS,
                           .bytes = bytes };
    exposed = measured_buffer(bytes);
    if (exposed && fork_team_run(&(struct fork_team){
                       .ranks = ranks, .bind = true, .body = body_read, .arg = s }) == 0)
        ns = pinned_median(s->ns, s->rounds);
    ns = s->ns[0] < 0 ? -1 : ns; /* ns is sorted */
    free(exposed);
    munmap(s, sizeof *s);
    return ns;
}

static bool too_few(const struct measured *on, char note[MACHINE_NOTE])
{
    if (on->m->cores < 3)
        snprintf(note, MACHINE_NOTE, "two readers and their process need three cores");
    return on->m->cores < 3;
}

double measure_other(const struct measured *on, int class, char note[MACHINE_NOTE])
{
    int readers = on->m->cores <= READERS_MAX ? on->m->cores - 1 : READERS_MAX - 1;

    (void)class;
    if (too_few(on, note))
        return -1;
    double alone = readers_ns(on, 1, 8), all = readers_ns(on, readers, 8);
    snprintf(note, MACHINE_NOTE,
             "measured: the slowest of %d cores that read 8 bytes of one process at once, for each "
             "other one",
             readers);
    return alone < 0 || all < 0 ? -1 : all > alone ? (all - alone) / (readers - 1) : 0;
}

double measure_process(const struct measured *on, int class, char note[MACHINE_NOTE])
{
    int readers = on->m->cores <= READERS_MAX ? on->m->cores - 1 : READERS_MAX - 1;
    size_t bytes = 2 * measured_share(on); /* a number for which the time of the call itself hardly
                                              counts */

    (void)class;
    if (too_few(on, note))
        return -1;
    double ns = readers_ns(on, readers, bytes);
    snprintf(note, MACHINE_NOTE, "measured: process_vm_readv of %zu KB of one process by %d cores",
             bytes >> 10, readers);
    return ns <= 0 ? -1 : (double)bytes * readers / ns;
}
