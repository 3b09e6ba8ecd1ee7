/* SPDX-License-Identifier: BSD-3-Clause */
/* stats_block.h - the counters of a rank's calls, in the head of its arena. */
#ifndef HUD_STATS_BLOCK_H
#define HUD_STATS_BLOCK_H

#include "base/reason.h"
#include "coll/coll.h"
#include "mem/counter.h"

struct stats_coll {
    mem_counter calls, bytes, ns; /* ns only while statistics are on */
    mem_counter empty; /* calls of zero bytes, which return at once; not counted in `calls` */
    mem_counter reason_calls[REASON_COUNT]; /* [REASON_NONE]: handled */
};

/* Only counters. */
struct stats {
    struct stats_coll coll[COLL_KINDS];
    mem_counter arena_bytes, leased_bytes, leased_peak_bytes, leases,
        teams_refused; /* the ledger */
    mem_counter pages_home,
        pages_elsewhere; /* committed pages, as verified once each; both 0: not known */
    mem_counter messages, message_bytes; /* sent to other nodes */
    mem_counter decided, changed; /* HUDDLE_WISDOM: cells of teams whose rank 0 this is, and those
                                     decided against the first choice */
    mem_counter known, learned, tried; /* HUDDLE_WISDOM: calls handled by a known choice, by a
                                          decision of this run, and in trials.  Trials that fell
                                          back are in reason_calls[REASON_TRIED] */
};

#endif
