/* SPDX-License-Identifier: BSD-3-Clause */
/* coll.h - the collectives that huddle takes, and why it does not take a call. */
#ifndef HUD_COLL_H
#define HUD_COLL_H

#include <stdbool.h>

enum coll_kind {
    COLL_BARRIER,
    COLL_BCAST,
    COLL_REDUCE,
    COLL_ALLREDUCE,
    COLL_REDUCE_SCATTER,
    COLL_ALLTOALL,
    COLL_ALLTOALLV,
    COLL_KINDS
};

/* One that applies an operation. */
static inline bool coll_reduces(int kind)
{
    return kind == COLL_REDUCE || kind == COLL_ALLREDUCE || kind == COLL_REDUCE_SCATTER;
}

/* One that has a root. */
static inline bool coll_rooted(int kind)
{
    return kind == COLL_BCAST || kind == COLL_REDUCE;
}

extern const char *const hud_coll_names[COLL_KINDS]; /* as in alg.def and in statistics */
int hud_coll_kind(const char *name);                 /* -1: none of that name */

/* Why a call was passed on.  A reason of a team (all but the last five) holds for the team's life.
 * */
#define REASONS(R)                                                                                 \
    R(NONE, "handled")                                                                             \
    R(OFF, "switched off")                                                                         \
    R(SETTING, "bad setting")                                                                      \
    R(DIFFER, "settings differ")                                                                   \
    R(VERSION, "versions differ")                                                                  \
    R(ONE_RANK, "one rank")                                                                        \
    R(ABSENT, "ranks without huddle here")                                                         \
    R(NODES, "spans nodes")                                                                        \
    R(ARENA, "no shared memory")                                                                   \
    R(REACH, "arenas out of reach")                                                                \
    R(LEASE, "no lease")                                                                           \
    R(EXCHANGE, "set-up failed")                                                                   \
    R(PRIVATE, "out of private memory")                                                            \
    R(BROKEN, "given up after an error")                                                           \
    R(EARLY, "before HUDDLE_FIRST")                                                                \
    R(FORCED, "native collective forced")                                                          \
    R(REFUSED, "no algorithm")                                                                     \
    R(ELEMENT, "elements too large")                                                               \
    R(OPERATION, "operation not supported")                                                        \
    R(UNLIKE, "ranks call differently")

#define REASON_ENUM(name, text) REASON_##name,
enum reason { REASONS(REASON_ENUM) REASON_COUNT };
#undef REASON_ENUM

extern const char *const hud_reason_text[REASON_COUNT];

#endif
