/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * forker.c - a program that forks between its collectives. Children exit, _exit, exec, are killed,
 * or outlive the next collective.
 *
 * No child calls MPI. Exit handlers and destructors of a child must not affect the parent's job.
 */
#include "check.h"

#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

static void collectives(int round)
{
    static unsigned char got[100000], want[100000];

    for (int i = 0; i < 6; i++) {
        size_t bytes = (size_t[]){ 8, 100, 3000, 40000, 100000, 1 }[i];
        int root = (round + i) % world_size;
        pattern(want, bytes, (uint64_t)(round * 10 + i));
        memset(got, 0, bytes);
        if (world_rank == root)
            memcpy(got, want, bytes);
        MPI_Bcast(got, (int)bytes, MPI_BYTE, root, MPI_COMM_WORLD);
        check(memcmp(got, want, bytes) == 0, "round %d: wrong broadcast of %zu bytes from root %d",
              round, bytes, root);
        MPI_Barrier(MPI_COMM_WORLD);
    }
}

static void by_exit(void)
{
    exit(7);
}

static void by_underscore_exit(void)
{
    _exit(7);
}

static void by_exec(void)
{
    execlp("sh", "sh", "-c", "exit 7", (char *)NULL);
    _exit(1);
}

static void by_signal(void)
{
    raise(SIGKILL);
}

/* Continues to run while the parent calls collectives. */
static void late(void)
{
    pause_us(100000);
    exit(7);
}

static void (*const children[])(void) = { by_exit, by_underscore_exit, by_exec, by_signal, late };

static void child_ends(pid_t child, bool killed)
{
    int status = 0;

    waitpid(child, &status, 0);
    check(killed ? WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL
                 : WIFEXITED(status) && WEXITSTATUS(status) == 7,
          "a child ended with status %#x", (unsigned)status);
}

static void popens(void)
{
    char line[32] = "";
    FILE *pipe = popen("echo from the child", "r");

    check(pipe && fgets(line, sizeof line, pipe) && !strcmp(line, "from the child\n"),
          "popen gave '%s'", line);
    if (pipe)
        check(pclose(pipe) == 0, "pclose failed");
    check(system("exit 0") == 0, "system failed");
}

int main(int argc, char **argv)
{
    begin(&argc, &argv, MPI_THREAD_SINGLE);
    for (int round = 0; round < 12; round++) {
        void (*child)(void) =
            children[(size_t)(round + world_rank) % (sizeof children / sizeof *children)];
        fflush(NULL);
        pid_t pid = fork();
        if (pid == 0)
            child();
        collectives(round);
        child_ends(pid, child == by_signal);
        if (round % 4 == 0)
            popens();
    }
    section("fork");
    return finish("forker");
}
