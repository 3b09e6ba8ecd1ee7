/* SPDX-License-Identifier: BSD-3-Clause */
/* pages.c - asks the kernel where the pages of an arena are. */
#define _GNU_SOURCE
#include "core/arena/arena.h"

#include <stdlib.h>
#include <sys/syscall.h>
#include <unistd.h>

int hud_arena_pages(const struct arena *a, size_t offset, size_t bytes, int *nodes)
{
    size_t pages = bytes / a->page_bytes;
    void **where = malloc(pages * sizeof *where);
    int rc = -1;

    for (size_t i = 0; where && i < pages; i++)
        where[i] = (char *)a->head + offset + i * a->page_bytes;
    if (where)
        rc = syscall(SYS_move_pages, 0, pages, where, NULL, nodes, 0) == 0 ? 0 : -1;
    free(where);
    return rc;
}
