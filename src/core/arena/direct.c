/* SPDX-License-Identifier: BSD-3-Clause */
/* direct.c - tries single copy by real reads.  Without a team, a guess from what this process may
 * do to itself and from Yama's rule. */
#include "core/arena/direct.h"

#include <stdio.h>
#include <unistd.h>

bool hud_direct_reads(const struct peer_card *own, const struct peer_card *peer)
{
    unsigned char nonce[ARENA_NONCE];
    uint64_t at = peer->address + offsetof(struct arena_head, nonce);

    if (peer_pid(own, peer) == 0)
        return false;
    return hud_mem_read(peer->pid, at, nonce, sizeof nonce) == sizeof nonce &&
           memcmp(nonce, peer->nonce, sizeof nonce) == 0;
}

struct mem_mapped *hud_direct_maps(const struct peer_card *peer, bool keeps)
{
    unsigned char nonce[ARENA_NONCE];
    uint64_t at = peer->address + offsetof(struct arena_head, nonce);
    struct mem_mapped *mapped = peer->offer != 0 ? hud_mapped_open(peer->offer, keeps) : NULL;

    if (mapped && (hud_mapped_read(mapped, at, nonce, sizeof nonce) != sizeof nonce ||
                   memcmp(nonce, peer->nonce, sizeof nonce) != 0)) {
        hud_mapped_close(mapped);
        mapped = NULL;
    }
    return mapped;
}

/* 0, and where there is no Yama: as for a debugger; 1: only parents, and 2: nobody, but for the
 * administrator; 3: nobody. */
static int yama(void)
{
    FILE *f = fopen("/proc/sys/kernel/yama/ptrace_scope", "re");
    int scope = f ? fgetc(f) - '0' : 0;

    if (f)
        fclose(f);
    return scope;
}

bool hud_direct_likely(void)
{
    char from = 1, to = 0;
    int scope = yama();

    return (scope == 0 || (scope < 3 && geteuid() == 0)) &&
           hud_mem_read((int)getpid(), (uint64_t)(uintptr_t)&from, &to, 1) == 1;
}

bool hud_direct_may_map(void)
{
    bool offers = hud_mapped_offer() != 0;

    if (offers)
        hud_mapped_withdraw();
    return offers;
}
