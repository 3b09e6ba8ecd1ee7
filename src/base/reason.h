/* SPDX-License-Identifier: BSD-3-Clause */
/* reason.h - the reasons why huddle does not handle a call. */
#ifndef HUD_REASON_H
#define HUD_REASON_H

/*
 * Why a call is not handled.
 *
 *   OFF to PRIVATE       The team has no set-up, or the set-up has failed.  Such a reason holds for
 *                        the team's life.
 *   BROKEN               An error has ended huddle's part in the team, for the rest of its life.
 *   EARLY                The team makes its first calls (HUDDLE_FIRST).
 *   FORCED to OPERATION  The reason concerns this call only.
 *   UNLIKE               The ranks make different calls.
 */
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
    R(FASTER, "native collective faster")                                                          \
    R(TRIED, "trial of the native collective")                                                     \
    R(REFUSED, "no algorithm")                                                                     \
    R(NONBLOCKING, "nonblocking not handled")                                                      \
    R(ELEMENT, "elements too large")                                                               \
    R(OPERATION, "operation not supported")                                                        \
    R(UNLIKE, "ranks call differently")

#define REASON_ENUM(name, text) REASON_##name,
enum reason { REASONS(REASON_ENUM) REASON_COUNT };
#undef REASON_ENUM

extern const char *const hud_reason_text[REASON_COUNT];

/* Remedies for calls that fell back because ranks are on other nodes, by HUDDLE_NODES. */
extern const char *const hud_nodes_remedy_off, *const hud_nodes_remedy_auto,
                                                   *const hud_nodes_remedy_on;

#endif
