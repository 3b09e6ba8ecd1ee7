/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * member.h - what each member of a team publishes about itself: its progress in its slice, and its
 * waits in its arena.  Members read it during a long wait, `huddle who` at any time.
 *
 * Line                  written by   read by                 value means
 *   member.calls[s]     its owner    long waiters            calls that the owner has made of slot
 *                                                            s of the plan; the last slot counts
 *                                                            calls that fell back
 *   member.shape[s][c%4] its owner   long waiters            call c of slot s: its collective, its
 *                                                            root, and its bytes (of a broadcast
 *                                                            as this member has them, with the
 *                                                            call's number) or a hash of its
 *                                                            blocks' (member_shape); written
 *                                                            before it is counted
 *   member.agreements   its owner    members that have       huddle's own allreduces, which the
 *                                    given up                slots count, too; counted here first
 *   member.unslotted    its owner    members that have       calls of the program that no slot
 *                                    given up                counts, because they failed before
 *   member.follows      its owner    long waiters            odd: the owner has left a broadcast to
 *                                                            make it in its root's slot, and its
 *                                                            counts change in two steps
 *                                                            (follow_root.h)
 *   member.before[c%16] its owner    members that have       calls in huddle before call c of those
 *                                    given up                that fell back; written before call c
 *                                                            is counted
 *   member.gave_up      its owner    long waiters            1 + status with which the owner left
 *                                                            the team's calls for good; 0: it has
 *                                                            not
 *   member.ends         any          its owner               nonzero: a member has given up
 *   member.left         its owner    long waiters            nonzero: the owner has freed the team,
 *                                                            and its process may end
 *   member.reported     any          any (exchange)          nonzero in rank 0's slice: the line
 *                                                            about calls that differ has been
 *                                                            printed
 *   member.reach.*      its owner    direct copiers          see mem_shm.h
 *   member.reach.proof  any          any                     see mem/direct.c
 *   member.lines.way    its owner    who reads its lines     see mem/lines.h
 *   member.lines.out    its owner    those whose lines it    see mem/lines.h
 *                                    reads
 *   head.note[i]        its owner    long waiters,           struct wait_note: a wait of one of the
 *                                    huddle who              owner's threads
 *   head.obituary       any          any (exchange)          nonzero: the line about the end of the
 *                                                            owner's process has been printed
 */
#ifndef HUD_MEMBER_H
#define HUD_MEMBER_H

#include "mem/counter.h"
#include "mem/mem.h"
#include "mem/note.h"

enum {
    MEMBER_SLOTS = 41 /* slots of a plan, and calls that fell back */,
    MEMBER_FELL_BACK = MEMBER_SLOTS - 1,
    MEMBER_BEFORE = 16,   /* latest calls that fell back whose place is kept: realign.c */
    MEMBER_SHAPES = 4,    /* latest calls of a slot whose shapes are kept: mismatch_detect.c */
    MEMBER_ROOT_BIT = 40, /* a shape has bytes below, from there on the root and 1, or 0 */
    MEMBER_KIND_BIT = 56, /* lowest bit of the collective */
    MEMBER_CALL_BIT = 61, /* lowest bit of the number of a broadcast among the team's calls */
    NOTE_MISSING = 8,
    NOTE_COUNT = 4
};

struct member_state {
    _Alignas(HUD_LINE) mem_counter calls[MEMBER_SLOTS];
    mem_counter shape[MEMBER_SLOTS][MEMBER_SHAPES];
    _Alignas(HUD_LINE) mem_counter gave_up, ends, left, reported, agreements, unslotted, follows;
    mem_counter before[MEMBER_BEFORE];
    struct mem_reach reach;
    struct lines_member lines;
};

#define MEMBER_SIZES (((uint64_t)1 << MEMBER_ROOT_BIT) - 1) /* the bits of a shape's size */

#define MEMBER_CALLS (~UINT64_C(0) << MEMBER_CALL_BIT) /* the bits of its number */

/* Packs a shape.  kind: enum coll_kind.  root: -1 if there is none.  size: bytes, or a hash. */
static inline uint64_t member_shape(int kind, int root, uint64_t size)
{
    return ((uint64_t)kind << MEMBER_KIND_BIT) | ((uint64_t)(root + 1) << MEMBER_ROOT_BIT) |
           (size & MEMBER_SIZES);
}

/* Adds the low bits of a number that tells the latest broadcasts of a member apart, and is the same
 * on all ranks in the same call. */
static inline uint64_t member_shape_of_call(uint64_t shape, int number)
{
    return shape | (uint64_t)number << MEMBER_CALL_BIT;
}

static inline int member_shape_kind(uint64_t shape)
{
    return (int)((shape & ~MEMBER_CALLS) >> MEMBER_KIND_BIT);
}

static inline int member_shape_root(uint64_t shape)
{
    return (int)(shape >> MEMBER_ROOT_BIT & 0xffff) - 1;
}

static inline uint64_t member_shape_size(uint64_t shape)
{
    return shape & MEMBER_SIZES;
}

/* Publishes that a call of the slot begins: first its shape, then its number. */
static inline void member_count(struct member_state *mine, int slot, uint64_t call, uint64_t shape)
{
    mem_count_put(&mine->shape[slot][call % MEMBER_SHAPES], shape);
    mem_count_put(&mine->calls[slot], call);
}

/* Publishes a call of the program that no slot counts. */
static inline void member_count_unslotted(struct member_state *mine)
{
    mem_count_step(&mine->unslotted);
}

/* A long wait.  The numbers of team and call are the same on all its members.  Texts end with a
 * zero byte. */
struct wait_note {
    uint64_t team, call, bytes;
    uint64_t since_ns; /* CLOCK_MONOTONIC */
    int32_t world_rank, rank, size, root;
    int32_t owner;   /* the rank in whose slice the awaited flag is */
    int32_t missing; /* members that are in no long wait of this call */
    struct {
        int32_t rank, pid; /* pid 0: not known here */
    } absent[NOTE_MISSING];
    int32_t line;
    char collective[16], algorithm[24], file[48], label[16], communicator[64];
};

union wait_words {
    struct wait_note note;
    uint64_t word[MEM_NOTE_WORDS];
};
_Static_assert(sizeof(struct wait_note) <= sizeof(uint64_t[MEM_NOTE_WORDS]), "a note holds a wait");

#endif
