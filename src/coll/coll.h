/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * coll.h - the description of a collective.  coll.def has a row for each collective, and
 * coll/<name>.c its descriptor: how many bytes each rank sends to each rank, which rank's entry
 * must come before which rank's exit, and a lower bound of the bytes that any algorithm must move.
 * No other code distinguishes collectives by name: settings, the choice of algorithms, the call
 * checker, the race checker, the simulator, tests, benchmarks and the CLI all read this
 * description.
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
    COLL_ROOTED = 1 << 0,      /* one rank is special, the same on all ranks */
    COLL_REDUCES = 1 << 1,     /* contributions are combined by an operation */
    COLL_UNSIZED = 1 << 2,     /* ranks need not know a common size, so sizes neither choose
                                  algorithms nor are compared */
    COLL_BLOCKS = 1 << 3,      /* bytes are of a block from one rank to another; otherwise of the
                                  message */
    COLL_SAME_TO_ALL = 1 << 4, /* a rank's contribution goes to each rank as a whole */
    COLL_COUNTS = 1 << 5,      /* blocks of any sizes, which all ranks know */
    COLL_VIEWS = 1 << 6,       /* blocks of any sizes, each in a buffer of its own:
                                  coll_in_views, coll_out_views */
    COLL_ONE_BUFFER = 1 << 7,  /* the root's buffer is sent, the others' are filled, which may be
                                  shorter: the root announces the size */
    COLL_EXCLUSIVE = 1 << 8,   /* a reduction of the ranks before a rank; rank 0 gets nothing */
    COLL_TO_ROOT = 1 << 9      /* only the root receives; in other rooted collectives, only the
                                  root sends */
};

/* The flags again, as constants: COLL_FLAGS_BCAST. */
#define COLL(ID, name, mpi_name, also, flags, doc) COLL_FLAGS_##ID = (flags),
enum coll_flags_of {
#include "coll/coll.def"
    COLL_FLAGS_END
};
#undef COLL

/* The arguments of a call that determine how many bytes each rank sends to each rank. */
struct coll_args {
    size_t bytes;
    int ranks, root;
    /* Returns the bytes from one rank to another.  Used only with COLL_COUNTS, where all senders
     * have the same counts, and COLL_VIEWS. */
    size_t (*block)(const void *host, int from, int to);
    const void *host;
};

/*
 * Lower bounds for m bytes and P ranks, K of them on each socket (lab/cost/limits.h): bytes that
 * ...
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

/* The descriptor of a collective. */
struct coll_meaning {
    /* Returns the bytes that rank `to` gets from rank `from` or, in a reduction, the bytes of
     * `from` in the result of `to`.  A result has the contributions of all ranks, or of the ranks
     * from 0 up to some rank. */
    size_t (*block_bytes)(const struct coll_args *args, int from, int to);
    /* Returns whether rank `exit` may leave the call only after rank `entry` has entered it. */
    bool (*needs)(const struct coll_args *args, int entry, int exit);
    const struct coll_cost *cost; /* NULL: no limit is known */
};

struct hud_collective {
    const char *name;     /* name in alg.def, in settings, in statistics */
    const char *mpi_name; /* "MPI_Bcast" */
    const char *also;     /* another MPI collective that it serves, in lower case, or NULL */
    const char *doc;      /* "broadcasts" */
    unsigned flags;       /* enum coll_flags */
    const struct coll_meaning *meaning;
};

extern const struct hud_collective hud_collectives[COLL_KINDS];

int hud_coll_kind(const char *name); /* returns -1 if there is no such collective */

static inline const char *coll_name(int kind)
{
    return hud_collectives[kind].name;
}

/* Returns the flags of a collective.  Kind -1, a barrier, has no flags. */
static inline unsigned coll_flags(int kind)
{
    return kind < 0 ? 0 : hud_collectives[kind].flags;
}

static inline bool coll_has(int kind, unsigned flags)
{
    return (coll_flags(kind) & flags) != 0;
}

/* Reports whether only the root sends, according to the flags. */
static inline bool coll_from_root(unsigned flags)
{
    return (flags & COLL_ROOTED) && !(flags & COLL_TO_ROOT);
}

/* Reports whether a sending rank has a view for each rank.  coll_out_views() does the same for a
 * receiving rank.  Otherwise the rank has a single view. */
static inline bool coll_in_views(unsigned flags)
{
    return (flags & COLL_VIEWS) && !(flags & (COLL_SAME_TO_ALL | COLL_TO_ROOT));
}

static inline bool coll_out_views(unsigned flags)
{
    return (flags & COLL_VIEWS) && !coll_from_root(flags);
}

/* The bytes from one rank to another, with their positions in the sender's and in the receiver's
 * buffer. */
struct coll_piece {
    size_t in_at, out_at, bytes;
};

struct coll_piece hud_coll_piece(int kind, const struct coll_args *args, int from, int to);

/* Reports whether `in` of a rank's call has a view for each rank.  coll_out_each() does the same
 * for `out`. */
static inline bool coll_in_each(int kind, int root, int rank)
{
    return coll_in_views(coll_flags(kind)) && (!coll_has(kind, COLL_ROOTED) || rank == root);
}

static inline bool coll_out_each(int kind, int root, int rank)
{
    return coll_out_views(coll_flags(kind)) && (!coll_has(kind, COLL_ROOTED) || rank == root);
}

/* Returns how many ranks, from rank 0 on, contribute to a rank's result of a reduction. */
int hud_coll_sources(int kind, const struct coll_args *args, int to);

/* Returns how many bytes a rank sends.  hud_coll_out_bytes() returns how many bytes the rank
 * receives. */
size_t hud_coll_in_bytes(int kind, const struct coll_args *args, int rank);
size_t hud_coll_out_bytes(int kind, const struct coll_args *args, int rank);

#define COLL_DEFINE(name)                                                                          \
    extern const struct coll_meaning hud_coll_##name;                                              \
    const struct coll_meaning hud_coll_##name

#endif
