/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * agree.h - checks whether all ranks of a reduction have announced the same message, cut in the
 * same way.
 *
 * An entry of a reduction also tells how its owner cuts the message.  Unless all entries are equal,
 * nothing is copied, and the call reports HUD_ERR_TRUNCATE on all ranks, because each has seen an
 * entry that differs from its own.
 */
#ifndef HUD_ALG_AGREE_H
#define HUD_ALG_AGREE_H

#include "alg/single_copy/bounce.h"

/*
 * Waits for all ranks' entries.  Returns true if they have the same message, cut in the same way.
 * If not, ends the operation on all ranks.  Data which a rank may have put into its bounce buffer
 * before counts as a fragment.
 */
static inline bool single_agree(struct mem *m, const struct coll *c,
                                const struct single_exposed *mine)
{
    bool alike = true;

    for (int k = 1; k < mem_size(m); k++) {
        struct single_exposed other = single_await_entry(m, c, single_other(m, k));
        alike = alike && other.bytes == mine->bytes && other.cut == mine->cut;
    }
    if (alike)
        return true;
    for (int k = 1; k < mem_size(m); k++)
        single_report(m, c, single_other(m, k), 0, 0);
    for (int k = 1; k < mem_size(m); k++) {
        single_await_report(m, c, single_other(m, k));
        bounce_add_fragments(m, single_other(m, k), 1);
    }
    block_truncate(m);
    return false;
}

#endif
