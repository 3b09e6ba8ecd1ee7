/* SPDX-License-Identifier: BSD-3-Clause */
/* touch.c - makes pages present. */
#define _GNU_SOURCE
#include "mem/touch.h"
#include "mem/kept_errno.h"

#include <stdatomic.h>
#include <stdint.h>
#include <sys/mman.h>
#include <unistd.h>

#ifndef MADV_POPULATE_READ
#define MADV_POPULATE_READ 22 /* Linux 5.14 */
#define MADV_POPULATE_WRITE 23
#endif

/* Reads a byte of each page, which makes the page present.  Does not write, because another rank
 * may own the contents. */
static void read_pages(const char *from, size_t bytes, size_t page)
{
    for (size_t at = 0; at < bytes; at += page)
        (void)atomic_load_explicit((const _Atomic char *)(from + at), memory_order_relaxed);
}

void hud_mem_touch(char *from, size_t bytes, bool owner)
{
    KEEP_ERRNO();
    size_t page = (size_t)sysconf(_SC_PAGESIZE), before = (uintptr_t)from % page,
           all = (before + bytes + page - 1) / page * page;

    if (bytes != 0 &&
        madvise(from - before, all, owner ? MADV_POPULATE_WRITE : MADV_POPULATE_READ) != 0)
        read_pages(from - before, all, page);
}
