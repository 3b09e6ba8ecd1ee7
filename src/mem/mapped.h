/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * mapped.h - single copy through mappings: XPMEM maps the memory of another process into this one.
 *
 * The library of XPMEM is loaded at first use, so that nothing depends on it.  A process offers its
 * whole memory to processes of the same user, as MPI libraries do.  Ranges of a peer's memory are
 * attached page by page.  If `keeps` is set, they stay attached for later copies.  That is safe:
 * when the peer unmaps or replaces a page, the module's MMU notifier takes it out of every
 * attachment (xpmem_invalidate_range in its xpmem_mmu_notifier.c), and the next access asks the
 * peer's page table again (xpmem_fault_handler in xpmem_attach.c).
 *
 * An access to a page that the peer does not have, or whose process has ended, raises SIGBUS.  The
 * copy then ends early, as a copy by the kernel would.  This file installs a handler for that while
 * any peer's memory is open.  Any other SIGBUS goes to the handler that was installed before.
 */
#ifndef HUD_MAPPED_H
#define HUD_MAPPED_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { MAPPED_KEPT = 16 }; /* maximum number of ranges of a peer that stay attached */

struct mem_mapped; /* the memory of one peer */

/* Returns the number by which other processes open this process's memory, until the offer is
 * withdrawn as many times as it was made.  Returns 0 if XPMEM is not available. */
int64_t hud_mapped_offer(void);
void hud_mapped_withdraw(void);

/* Opens a peer's memory.  Returns NULL if the kernel module refuses or there is no memory.  If
 * `keeps` is true, attached ranges are kept for later copies. */
struct mem_mapped *hud_mapped_open(int64_t offer, bool keeps);
void hud_mapped_close(struct mem_mapped *peer);

/* Copies from or to the peer's memory.  Returns `bytes` if all bytes were copied, and 0 if only an
 * unknown part of them was copied. */
size_t hud_mapped_read(struct mem_mapped *peer, uint64_t from, void *to, size_t bytes);
size_t hud_mapped_write(struct mem_mapped *peer, uint64_t to, const void *from, size_t bytes);

#endif
