/* SPDX-License-Identifier: BSD-3-Clause */
/* sets.h - the number of MPIs in a process for which dlsym returns entries; for C and assembler. */
#ifndef HUD_SETS_H
#define HUD_SETS_H

#define HUD_HANDED_SETS 3

#endif
