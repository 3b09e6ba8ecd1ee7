/* SPDX-License-Identifier: BSD-3-Clause */
/* ops.h - the kernels inside the library: a table per path (kernels.h), code for all paths
 * (fold.c), and the choice of a path (ops.c). */
#ifndef HUD_OPS_H
#define HUD_OPS_H

#include "huddle/huddle.h"

typedef void hud_combine(const struct hud_op *op, void *dst, const void *const *src, int sources,
                         size_t elements);
typedef hud_combine *const hud_ops_table[HUD_OPERATIONS][HUD_TYPES]; /* NULL: the operation is
                                                                        undefined for the type */

struct hud_ops_path {
    const char *name;
    hud_combine *const (*kernels)[HUD_TYPES];
};

/* Returns the i-th path that this processor supports, best first, and NULL after the last. */
const struct hud_ops_path *hud_ops_path_at(int i);

extern hud_ops_table hud_ops_baseline, hud_ops_avx2, hud_ops_avx512;

/* Combines a fixed number of sources in order, from the left.  dst may be a source, and otherwise
 * overlaps none. */
typedef void hud_form(void *dst, const void *const *src, size_t parts);

enum {
    HUD_FORM_MAX = 8
}; /* number of sources of the largest form; the others have 2, 3 and 4 sources */

/* Combines any number of sources with the forms of a kernel.  A form's index is its number of
 * sources. */
void hud_ops_fold(hud_form *const forms[HUD_FORM_MAX + 1], size_t part_bytes, void *dst,
                  const void *const *src, int sources, size_t parts);

#endif
