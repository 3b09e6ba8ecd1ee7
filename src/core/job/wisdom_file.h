/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * wisdom_file.h - what is known about this machine and this MPI, between programs: a file in the
 * user's cache folder, a line per cell, in the format of tuning files (core/plan/rules.h).
 *
 * Place     $XDG_CACHE_HOME/huddle/wisdom-MPI-KEY.rules, or ~/.cache/huddle/...: a file for each
 *           MPI and its version, and each kind of machine (core/plan/machine.h).
 *           HUDDLE_WISDOM=FILE names another file.  A named file is used whatever machine it was
 *           measured on, the file in the cache folder only if it is of this machine and MPI.  Both
 *           are written only if they are of this machine and MPI.  Otherwise a line reports it.
 * Readers   A rank reads the file at most once, when it is first the rank 0 of a team, if no other
 *           rank has given it the lines (wisdom.h).  So of a job whose first team has all ranks of
 *           a node, one rank of the node reads.
 * Writers   A team's rank 0 writes what the team has decided, when its context is destroyed.  A
 *           rank without such decisions opens nothing.  The rank that has read the file waits up to
 *           WISDOM_WAIT_MS for other writers.  The others try once: what they know is mostly about
 *           the same cells, and is learned again.
 * Merging   The writer reads the file again, and keeps all lines but those about cells that it has
 *           decided itself.  Of these an earlier line with another choice may remain, as the winner
 *           in another state of the machine, with its samples and its date.  Lines that this
 *           version does not understand, or that are about another version of an algorithm, are
 *           kept as they are: another version of huddle may share the home.  Above WISDOM_MAX bytes
 *           the oldest lines go, first those without a date.  Comments, and lines that are not text
 *           or longer than RULE_LINE, are not kept.
 * Lock      Writers lock the file, write a file next to it and rename it (wisdom_replace.h).
 * Failures  A file is read and replaced only if it is a regular file (no link) of this user or
 *           root, of at most WISDOM_MAX bytes.  After any failure the old file is untouched.  There
 *           is no fsync: it would take some 10 ms of MPI_Finalize, and what a crash of the machine
 *           loses is learned again.  A file that is then empty or zeros is read as no knowledge.
 *           Of a file that is then too short the last line is unfinished.  That line is not read,
 *           without a warning, and goes with the next write.
 *           The job's rank 0 prints a warning about a failure, other ranks only with
 *           HUDDLE_LOG=info.  A home in which nobody can write gives no line.
 */
#ifndef HUD_WISDOM_FILE_H
#define HUD_WISDOM_FILE_H

#include "core/config/config.h"
#include "core/job/wisdom_replace.h"
#include "core/plan/machine.h"
#include "core/plan/rules.h"

#include <limits.h>
#include <stdbool.h>
#include <sys/types.h>

enum { WISDOM_MAX = 256 << 10 };

/* Where the file is, and the lines with which it begins. */
struct wisdom_place {
    char path[PATH_MAX];
    char mpi[64];
    bool named;                      /* the setting names the file */
    char machine[MACHINE_LINE + 80]; /* the line `machine` */
};

/* Finds the place for an MPI's name, such as "Open MPI 4.1.4".  setting: the value of
 * HUDDLE_WISDOM.  Returns false if there is no place, since no home folder is known. */
bool hud_wisdom_place(const char *setting, const char *mpi, struct wisdom_place *place);

/* Reads the file.  *why: what is wrong with it, or "".  A file that does not exist has no rules. */
enum { WISDOM_WHY = 2 * SET_TEXT };
void hud_wisdom_read(const struct wisdom_place *place, struct rules *rules, char why[WISDOM_WHY]);

/* Returns whether a program under the place's MPI on this machine does not use the rules of the
 * file, or with `writes` adds no rules to the file.  *why: the reason, or "". */
bool hud_wisdom_refuses(const struct wisdom_place *place, const struct rules *rules, bool writes,
                        char why[WISDOM_WHY]);

/*
 * Writes rules into the file, in place of those with the same conditions.  waits: for other
 * writers.  Returns true if the file has the rules now.  Otherwise *why has the reason, which is ""
 * if another process is writing.
 */
bool hud_wisdom_write(const struct wisdom_place *place, const struct rule *rule, int rules,
                      bool waits, char why[WISDOM_WHY]);

/*
 * Makes the new text of a file from its old text (wisdom_merge.c).  Returns its bytes, 0 if nothing
 * changes, or -1 if out of memory.  to: has room for WISDOM_MAX bytes.  kept: the rules of the old
 * text, by hud_rules_read_some.
 */
ssize_t hud_wisdom_merge(const char *machine, const char *old, size_t old_bytes,
                         const struct rules *kept, const struct rule *rule, int rules, char *to);

#endif
