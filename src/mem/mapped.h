/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * mapped.h - single copy through mappings: XPMEM maps the memory of another process into this one.
 *
 * Its library is loaded at the first use, so that nothing depends on it.  A process offers its
 * whole memory to processes of its user, as MPIs do.  Ranges of a peer's memory are attached page
 * by page and, with MAPPED_KEEP, stay attached for later copies.  That is safe: when the peer
 * unmaps or replaces a page, the module's MMU notifier takes it out of every attachment
 * (xpmem_invalidate_range in its xpmem_mmu_notifier.c), and the next access asks the peer's page
 * table again (xpmem_fault_handler in xpmem_attach.c).
 *
 * An access to a page that the peer does not have, or whose process has ended, is a SIGBUS.  A
 * copy then ends early, as the kernel's would, by a handler that this file installs while memory is
 * open.  Other SIGBUS go to the handler that was there before.
 */
#ifndef HUD_MAPPED_H
#define HUD_MAPPED_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { MAPPED_KEPT = 16 }; /* most ranges of a peer that stay attached */

struct mem_mapped; /* of one peer */

/* The number by which others open this process's memory, until it is withdrawn as often as it was
 * offered; 0: no XPMEM here. */
int64_t hud_mapped_offer(void);
void hud_mapped_withdraw(void);

/* A peer's memory; NULL: refused, or no memory. */
struct mem_mapped *hud_mapped_open(int64_t offer, bool keeps);
void hud_mapped_close(struct mem_mapped *peer);

/* Copies from or to the peer's memory: all bytes, or an unknown part of them, and then 0. */
size_t hud_mapped_read(struct mem_mapped *peer, uint64_t from, void *to, size_t bytes);
size_t hud_mapped_write(struct mem_mapped *peer, uint64_t to, const void *from, size_t bytes);

#endif
