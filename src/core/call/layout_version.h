/* SPDX-License-Identifier: BSD-3-Clause */
/* layout_version.h - ranks of the same version understand each other's slices. */
#ifndef HUD_LAYOUT_VERSION_H
#define HUD_LAYOUT_VERSION_H

#include <stdint.h>

uint64_t hud_layout_version(void);

#endif
