/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * direct.h - single copy: may this process reach into another's memory?  Found out by doing it;
 * huddle asks for no permission (PR_SET_PTRACER) and takes what the kernel allows.
 */
#ifndef HUD_DIRECT_H
#define HUD_DIRECT_H

#include "core/arena/peers.h"

/* Reads the nonce at the start of a peer's arena, through the peer's own mapping of it: only the
 * right process has it there. */
bool hud_direct_reads(const struct peer_card *own, const struct peer_card *peer);

/* What a team of processes of this user would find here, as far as one process can tell: a guess,
 * for who asks before there is a team. */
bool hud_direct_likely(void);

#endif
