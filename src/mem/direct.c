/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * direct.c - copies between two processes' memories by the kernel: process_vm_readv and process_vm_writev, called until all has moved or nothing more does.
 *
 * A call moves at most 2 GB, less where a page is missing on either side.  What may refuse at any time: ptrace's rules (Yama, other users, a process
 * that must not be dumped), seccomp, another PID namespace, a page that is not there.  The caller has heard from that process within the same operation.
 */
#define _GNU_SOURCE
#include "mem/mem.h"

#include <errno.h>
#include <sys/uio.h>

/* The C library's for either direction. */
typedef ssize_t move_fn(pid_t pid, const struct iovec *local, unsigned long locals, const struct iovec *remote, unsigned long remotes,
                        unsigned long flags);

static size_t move(move_fn *call, int pid, uint64_t there, uint64_t here, size_t bytes)
{
    size_t done = 0;

    while (done < bytes) {
        struct iovec local = { (void *)(uintptr_t)(here + done), bytes - done },
                     remote = { (void *)(uintptr_t)(there + done), bytes - done };
        ssize_t moved = call(pid, &local, 1, &remote, 1, 0);
        if (moved > 0)
            done += (size_t)moved;
        else if (moved == 0 || errno != EINTR)
            break;
    }
    return done;
}

size_t hud_mem_read(int pid, uint64_t from, void *to, size_t bytes)
{
    return move(process_vm_readv, pid, from, (uint64_t)(uintptr_t)to, bytes);
}

size_t hud_mem_write(int pid, uint64_t to, const void *from, size_t bytes)
{
    return move(process_vm_writev, pid, to, (uint64_t)(uintptr_t)from, bytes);
}
