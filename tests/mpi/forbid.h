/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * forbid.h - makes the listed system calls fail from now on in this process and in all processes it
 * starts, as in a locked-down container. A seccomp filter returns the error, EPERM for most calls.
 */
#ifndef HUD_TESTS_FORBID_H
#define HUD_TESTS_FORBID_H

#include <errno.h>
#include <linux/audit.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

static const struct {
    const char *name;
    unsigned number, error;
} calls[] = {
    { "memfd_create", SYS_memfd_create, EPERM },
    { "fallocate", SYS_fallocate, EOPNOTSUPP },
    { "mbind", SYS_mbind, EPERM },
    { "move_pages", SYS_move_pages, EPERM },
    { "get_mempolicy", SYS_get_mempolicy, EPERM },
    { "set_mempolicy", SYS_set_mempolicy, EPERM },
    { "sched_getaffinity", SYS_sched_getaffinity, EPERM },
    { "process_vm_readv", SYS_process_vm_readv, EPERM },
    { "process_vm_writev", SYS_process_vm_writev, EPERM },
    { "madvise", SYS_madvise, EPERM },
    { "futex", SYS_futex, EPERM },
    { "pidfd_open", SYS_pidfd_open, ENOSYS },
};

/* Installs a filter that compares a system call with each name in turn, and returns the error of
 * the matching name. */
static int forbid(char *names)
{
    struct sock_filter filter[64];
    unsigned short at = 0;

    filter[at++] =
        (struct sock_filter)BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr));
    for (char *rest = NULL, *name = strtok_r(names, ",", &rest); name;
         name = strtok_r(NULL, ",", &rest)) {
        size_t i = 0;
        while (i < sizeof calls / sizeof *calls && strcmp(name, calls[i].name) != 0)
            i++;
        if (i == sizeof calls / sizeof *calls || at > 60) {
            fprintf(stderr, "forbid: unknown call '%s'\n", name);
            return -1;
        }
        filter[at++] =
            (struct sock_filter)BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, calls[i].number, 0, 1);
        filter[at++] =
            (struct sock_filter)BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | calls[i].error);
    }
    filter[at++] = (struct sock_filter)BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW);
    struct sock_fprog program = { .len = at, .filter = filter };
    if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0 ||
        prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program) != 0) {
        perror("forbid: seccomp");
        return -1;
    }
    return 0;
}

#endif
