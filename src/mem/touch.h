/* SPDX-License-Identifier: BSD-3-Clause */
/* touch.h - pages of shared memory that a process has never used, made present in its mapping. */
#ifndef HUD_TOUCH_H
#define HUD_TOUCH_H

#include <stdbool.h>
#include <stddef.h>

/* All pages of these bytes.  owner: this process will write there; else others do, and it will
 * read.  Without effect on what is there; never fails, as each page comes by itself when it is
 * used. */
void hud_mem_touch(char *from, size_t bytes, bool owner);

#endif
