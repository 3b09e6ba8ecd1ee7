/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * coll.h - the description of a collective.  coll.def has a row for each, and coll/<name>.c its
 * descriptor: how much each rank sends to each, which rank's entry must come before which rank's
 * exit, and bytes that no algorithm can save.  No other code distinguishes collectives by name:
 * settings, the choice, the call checker, the race checker, the simulator, tests, bench and CLI
 * read this.
 */
#ifndef HUD_COLL_H
#define HUD_COLL_H

#include <stdbool.h>
#include <stddef.h>

#define COLL(ID, ...) COLL_##ID,
enum coll_kind {
#include "coll/coll.def"
    COLL_KINDS
};
#undef COLL

/*
 * Properties of a collective.  A message is a rank's contribution, or the data that the root sends.
 * It is divided over the ranks in their order, unless it goes to each rank as a whole.
 */
enum coll_flags {
    COLL_ROOTED = 1 << 0,  /* one rank is special, the same for all */
    COLL_REDUCES = 1 << 1, /* contributions become one by an operation */
    COLL_UNSIZED = 1 << 2, /* no size that all ranks know: sizes neither choose nor are compared */
    COLL_BLOCKS = 1 << 3,  /* bytes are of a block from one rank to one rank; otherwise of the
                              message */
    COLL_SAME_TO_ALL = 1 << 4, /* a rank's contribution goes to each as a whole */
    COLL_COUNTS = 1 << 5,      /* blocks of any sizes, which all ranks know */
    COLL_VIEWS = 1 << 6, /* blocks of any sizes, in a buffer each: coll_in_views, coll_out_views */
    COLL_ONE_BUFFER = 1 << 7, /* the root's is sent, the others' are filled.  They may be shorter:
                                 the root announces the size */
    COLL_EXCLUSIVE = 1 << 8,  /* a reduction of the ranks before a rank: rank 0 gets nothing */
    COLL_TO_ROOT = 1 << 9     /* the root alone receives; other rooted ones send from it alone */
};

/* The flags again, as constants: COLL_FLAGS_BCAST. */
#define COLL(ID, name, mpi_name, also, flags, doc) COLL_FLAGS_##ID = (flags),
enum coll_flags_of {
#include "coll/coll.def"
    COLL_FLAGS_END
};
#undef COLL

/* The arguments of a call that determine how many bytes each rank sends to each. */
struct coll_args {
    size_t bytes;
    int ranks, root;
    /* COLL_COUNTS (the same for all senders), COLL_VIEWS: bytes from one rank to another; otherwise
     * not used
     */
    size_t (*block)(const void *host, int from, int to);
    const void *host;
};

/*
 * Of m bytes and P ranks, K of them on each socket (src/cost/limits.h): bytes that ...
 */
struct coll_cost {
    struct {
        double m, pm, m_p; /* m_p: of m / P */
    } core; /* ... one core must move, without its own data, even if the others help */
    struct {
        double m, pm, p2m;
    } memory; /* ... must be read or written in all */
    struct {
        double m, km, k2m;
    } link; /* ... must go from one socket to another */
};

/* A descriptor of a collective. */
struct coll_meaning {
    /* Bytes of rank `from` that rank `to` gets, or, in a reduction, that enter its result.  A
     * result has contributions of the ranks from 0 on: of all, or of those up to some rank. */
    size_t (*block_bytes)(const struct coll_args *args, int from, int to);
    /* Rank `exit` may leave the call only after rank `entry` has entered it. */
    bool (*needs)(const struct coll_args *args, int entry, int exit);
    const struct coll_cost *cost; /* NULL: no limit is known */
};

struct hud_collective {
    const char *name;     /* as in alg.def, in settings, in statistics */
    const char *mpi_name; /* "MPI_Bcast" */
    const char *also;     /* another MPI collective that it serves, in lower case; NULL: none */
    const char *doc;      /* "broadcasts" */
    unsigned flags;       /* enum coll_flags */
    const struct coll_meaning *meaning;
};

extern const struct hud_collective hud_collectives[COLL_KINDS];

int hud_coll_kind(const char *name); /* -1: none of that name */

static inline const char *coll_name(int kind)
{
    return hud_collectives[kind].name;
}

/* -1, a barrier: none. */
static inline unsigned coll_flags(int kind)
{
    return kind < 0 ? 0 : hud_collectives[kind].flags;
}

static inline bool coll_has(int kind, unsigned flags)
{
    return (coll_flags(kind) & flags) != 0;
}

/* Of these flags: the root alone sends. */
static inline bool coll_from_root(unsigned flags)
{
    return (flags & COLL_ROOTED) && !(flags & COLL_TO_ROOT);
}

/* A rank that sends has a view for each rank; and one that receives.  Otherwise it has one view. */
static inline bool coll_in_views(unsigned flags)
{
    return (flags & COLL_VIEWS) && !(flags & (COLL_SAME_TO_ALL | COLL_TO_ROOT));
}

static inline bool coll_out_views(unsigned flags)
{
    return (flags & COLL_VIEWS) && !coll_from_root(flags);
}

/* The bytes from one rank to another: their positions in the sender's and in the receiver's buffer.
 */
struct coll_piece {
    size_t in_at, out_at, bytes;
};

struct coll_piece hud_coll_piece(int kind, const struct coll_args *args, int from, int to);

/* `in`, `out` of a rank's call has a view for each rank. */
static inline bool coll_in_each(int kind, int root, int rank)
{
    return coll_in_views(coll_flags(kind)) && (!coll_has(kind, COLL_ROOTED) || rank == root);
}

static inline bool coll_out_each(int kind, int root, int rank)
{
    return coll_out_views(coll_flags(kind)) && (!coll_has(kind, COLL_ROOTED) || rank == root);
}

/* Of a reduction: how many ranks, from rank 0 on, a rank's result has contributions of. */
int hud_coll_sources(int kind, const struct coll_args *args, int to);

/* Bytes that a rank sends, and that it gets. */
size_t hud_coll_in_bytes(int kind, const struct coll_args *args, int rank);
size_t hud_coll_out_bytes(int kind, const struct coll_args *args, int rank);

#define COLL_DEFINE(name)                                                                          \
    extern const struct coll_meaning hud_coll_##name;                                              \
    const struct coll_meaning hud_coll_##name

#endif
