/* SPDX-License-Identifier: BSD-3-Clause */
/* direct.h - single copy: may this process access another's memory?  It tries, without asking for
 * permission (PR_SET_PTRACER). */
#ifndef HUD_DIRECT_H
#define HUD_DIRECT_H

#include "core/arena/peers.h"

/* How a process reaches another one's memory: by system calls, or mapped (mem/mapped.h). */
enum direct_way { DIRECT_CALLS = 1, DIRECT_MAPPED = 2 };

/* Reads the nonce at the start of a peer's arena, through the peer's own mapping: only the right
 * process has the nonce there. */
bool hud_direct_reads(const struct peer_card *own, const struct peer_card *peer);

/* Returns a mapping of a process's memory through which the nonce was read, or NULL. */
struct mem_mapped *hud_direct_maps(const struct peer_card *peer, bool keeps);

/* Returns whether single copy would probably work in a team of processes of this user: a guess
 * of a single process, before there is a team. */
bool hud_direct_likely(void);
/* Returns whether mappings of other processes' memory would probably work in such a team. */
bool hud_direct_may_map(void);

/* Returns whether single copy pays (cost/kernel.h).  Tried once in a process, in some .1 ms;
 * false if a try is impossible. */
bool hud_direct_is_quick(void);

#endif
