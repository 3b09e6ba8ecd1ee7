/* SPDX-License-Identifier: BSD-3-Clause */
/* place.h - the placement of a team's ranks: rank 0 writes it in its slice, all read it. */
#ifndef HUD_PLACE_H
#define HUD_PLACE_H

#include "base/process_atomics.h"
#include "core/slice/hello.h"
#include "core/slice/place_table.h"

struct hud_context;

/* The machine as a context knows it, and the places of ranks on it. */
struct context_machine {
    struct topo *topo; /* loaded by the job's rank 0 at once, by others when they are the rank 0 of
                          a team whose members' places are not known from a former team */
    bool topo_loaded;
    struct places {
        struct place_table *table; /* the table of hud_place_keep; NULL: none */
        int ranks;
    } places;                   /* places of the largest team so far */
    struct topo_cpus seen_cpus; /* processors that all ranks seen so far may use */
    int seen_ranks;
    bool shares_processors; /* the ranks of this kernel have outnumbered their processors */
    int quota;              /* processors that the cgroup allowed when the context was created */
    _Atomic uint64_t no_yield_until_ns; /* end of a time in which set-ups do not yield, since other
                                           processes take time slices */
    _Atomic unsigned char usual_way;    /* how teams begin to treat lines (mem/lines.c) */
};

/* Returns whether ranks would wait for a processor that another waiting rank uses, as far as
 * rank `rank`, which is this rank, knows. */
bool hud_place_oversubscribed(struct hud_context *context, const union hello *hello, int rank,
                              int ranks);

/* Returns whether the ranks on this rank's kernel outnumber their processors, in this team or in
 * earlier teams.  Several nodes may share a kernel (containers).  Ignores quotas: each is of the
 * ranks of one node, for which hud_place_oversubscribed compares them. */
bool hud_place_shares_processors(struct hud_context *context, const union hello *hello, int rank,
                                 int ranks);

/* Writes the placement of all ranks as rank 0, which this rank is, knows it. */
void hud_place_write(struct hud_context *context, const union hello *hello, int ranks,
                     struct place_table *table);

/* Copies rank 0's table, of place_bytes(ranks) bytes, with all values in their ranges, whatever
 * is in shared memory.  An invalid table becomes a table without levels, on all ranks alike. */
void hud_place_read(const struct place_table *table, int ranks, struct place_table *copy);

/* Returns the bytes of memory for a table that can be kept. */
size_t hud_place_kept_bytes(int ranks);

/* Keeps *table, which hud_place_read has filled and which has hud_place_kept_bytes(ranks) bytes, in
 * place of the former table.  Sets *table to the former table, or to NULL if there was none.  Does
 * nothing if the former table is of a larger team, or if rank 0 did not know the places.  The
 * caller holds the context's lock. */
void hud_place_keep(struct places *places, struct place_table **table, const union hello *hello,
                    int ranks);

/* Fills all of a table but `oversubscribed`, with the places of ranks on a machine,
 * or none if the machine is NULL. */
void hud_place_see(const struct topo *machine, const char *off, const union hello *hello, int ranks,
                   struct place_table *table);
/* Fills all of a table but `oversubscribed` from the kept table.  Returns false, and writes
 * nothing, if the kept table lacks the processors of a rank, or memory has run out.  The caller
 * holds the context's lock. */
bool hud_place_recall(const struct places *places, const union hello *hello, int ranks,
                      struct place_table *table);

#endif
