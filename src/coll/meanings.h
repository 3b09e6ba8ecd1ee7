/* SPDX-License-Identifier: BSD-3-Clause */
/* meanings.h - functions of struct coll_meaning that several collectives share: the bytes from rank
 * to rank, and which ranks a rank must wait for. */
#ifndef HUD_COLL_MEANINGS_H
#define HUD_COLL_MEANINGS_H

#include "coll/coll.h"

static inline size_t coll_bytes_from_each(const struct coll_args *args, int from, int to)
{
    (void)from, (void)to;
    return args->bytes;
}

static inline bool coll_needs_each(const struct coll_args *args, int entry, int exit)
{
    (void)args, (void)entry, (void)exit;
    return true;
}

static inline size_t coll_bytes_from_root(const struct coll_args *args, int from, int to)
{
    (void)to;
    return from == args->root ? args->bytes : 0;
}

static inline bool coll_needs_root(const struct coll_args *args, int entry, int exit)
{
    (void)exit;
    return entry == args->root;
}

static inline size_t coll_bytes_to_root(const struct coll_args *args, int from, int to)
{
    (void)from;
    return to == args->root ? args->bytes : 0;
}

static inline bool coll_root_needs_each(const struct coll_args *args, int entry, int exit)
{
    (void)entry;
    return exit == args->root;
}

/* Returns the bytes of a block, where blocks have counts of their own. */
static inline size_t coll_bytes_by_count(const struct coll_args *args, int from, int to)
{
    return args->block(args->host, from, to);
}

static inline bool coll_needs_by_count(const struct coll_args *args, int entry, int exit)
{
    return args->block(args->host, entry, exit) != 0;
}

#endif
