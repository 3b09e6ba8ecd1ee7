/* SPDX-License-Identifier: BSD-3-Clause */
/* direct.h - single copy: may this process access another's memory?  It tries, without asking for
 * permission (PR_SET_PTRACER). */
#ifndef HUD_DIRECT_H
#define HUD_DIRECT_H

#include "core/arena/peers.h"

/* Reads the nonce at the start of a peer's arena, through the peer's own mapping of it: only the
 * right process has it there. */
bool hud_direct_reads(const struct peer_card *own, const struct peer_card *peer);

/* Whether single copy would probably work in a team of processes of this user: a guess of one
 * process, for use before there is a team. */
bool hud_direct_likely(void);

#endif
