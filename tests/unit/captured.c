/* SPDX-License-Identifier: BSD-3-Clause */
/* captured.c - see captured.h. */
#include "captured.h"

#include <stdlib.h>
#include <unistd.h>

static int file, before;

void captured_begin(void)
{
    char path[] = "captured-XXXXXX";

    file = mkstemp(path);
    before = dup(STDERR_FILENO);
    unlink(path);
    dup2(file, STDERR_FILENO);
}

const char *captured_end(void)
{
    static char text[4096];
    ssize_t bytes = pread(file, text, sizeof text - 1, 0);

    dup2(before, STDERR_FILENO);
    close(before);
    close(file);
    text[bytes > 0 ? bytes : 0] = '\0';
    return text;
}
