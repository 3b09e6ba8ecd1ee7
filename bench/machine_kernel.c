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

/* Median time of a copy of `bytes` from a child process; negative: the kernel refuses. */
static double kernel_ns(size_t bytes, int rounds)
{
    unsigned char *to = measured_buffer(bytes);
    double ns[CALL_ROUNDS], median = -1;

    exposed = measured_buffer(bytes);
    if (to && exposed) {
        memset(to, 1, bytes);
        memset(exposed, 2, bytes);
        pid_t child = fork();
        if (child == 0) {
            prctl(PR_SET_PDEATHSIG, SIGKILL);
            for (;;)
                pause();
        }
        for (int r = 0; child > 0 && r < rounds; r++)
            ns[r] = read_child(child, to, bytes);
        if (child > 0) {
            kill(child, SIGKILL);
            waitpid(child, NULL, 0);
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
