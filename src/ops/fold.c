/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * fold.c - combines any number of sources with kernels for a few sources.
 *
 * The intermediate result is in a tile that stays in the L1 cache.  Each byte of each source is
 * read once.  The result is written once and last, so it may overwrite any source.
 */
#include "ops/ops.h"

#include <string.h>

enum { TILE = 4096 }; /* bytes */

/* Returns how many of the remaining sources the next form combines. */
static int form_of(int left)
{
    return left >= HUD_FORM_MAX ? HUD_FORM_MAX : left > 4 ? 4 : left;
}

static void fold_tile(hud_form *const forms[], size_t offset_bytes, void *dst,
                      const void *const *src, int sources, size_t parts)
{
    _Alignas(64) char tile[TILE];
    const void *now[HUD_FORM_MAX];

    for (int used = 0; used < sources;) {
        int carried = used != 0;
        int count = form_of(sources - used + carried);
        now[0] = tile;
        for (int i = carried; i < count; i++)
            now[i] = (const char *)src[used++] + offset_bytes;
        forms[count](used == sources ? (char *)dst + offset_bytes : tile, now, parts);
    }
}

void hud_ops_fold(hud_form *const forms[HUD_FORM_MAX + 1], size_t part_bytes, void *dst,
                  const void *const *src, int sources, size_t parts)
{
    if (sources == 1) {
        if (dst != src[0])
            memcpy(dst, src[0], parts * part_bytes);
    } else if (form_of(sources) == sources) {
        forms[sources](dst, src, parts);
    } else {
        size_t max = TILE / part_bytes;
        for (size_t done = 0; done < parts; done += max)
            fold_tile(forms, done * part_bytes, dst, src, sources,
                      parts - done < max ? parts - done : max);
    }
}
