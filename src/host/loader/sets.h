/* SPDX-License-Identifier: BSD-3-Clause */
/* sets.h - for how many MPIs of a process dlsym hands out functions; for C and assembler. */
#ifndef HUD_SETS_H
#define HUD_SETS_H

#define HUD_HANDED_SETS 3

#endif
