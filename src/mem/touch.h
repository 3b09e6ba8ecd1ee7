/* SPDX-License-Identifier: BSD-3-Clause */
/* touch.h - makes pages of shared memory present in the mapping of a process that has not used them
 * yet. */
#ifndef HUD_TOUCH_H
#define HUD_TOUCH_H

#include <stdbool.h>
#include <stddef.h>

/* Makes all pages of these bytes present.  `owner` is true if this process will write them, and
 * false if this process will only read them.  Does not change the contents.  Never fails, because a
 * page not made present now becomes present at its first use. */
void hud_mem_touch(char *from, size_t bytes, bool owner);

#endif
