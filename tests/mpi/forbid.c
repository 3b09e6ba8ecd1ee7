/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * forbid.c - runs a command whose listed system calls fail, as in a locked-down container.
 *
 *   forbid NAME[,NAME...] COMMAND [ARG...]
 */
#include "forbid.h"

int main(int argc, char **argv)
{
    if (argc < 3) {
        fprintf(stderr, "usage: forbid NAME[,NAME...] COMMAND [ARG...]\n");
        return 2;
    }
    if (forbid(argv[1]) != 0)
        return 125;
    execvp(argv[2], argv + 2);
    perror(argv[2]);
    return 127;
}
