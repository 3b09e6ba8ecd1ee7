/* SPDX-License-Identifier: BSD-3-Clause */
/* wisdom_context.h - the file of wisdom of a context: reads it at the first team that needs it, and
 * writes the decisions when the context ends. */
#ifndef HUD_WISDOM_CONTEXT_H
#define HUD_WISDOM_CONTEXT_H

#include <stdbool.h>

struct hud_context;

/* Keeps the absolute path of a file that the setting names: a program may change its folder. */
void hud_wisdom_keep_path(struct hud_context *context);
/* Adds the lines of the file to the context's wisdom, if no rank has read the file.  Returns
 * whether this call has read the file. */
bool hud_wisdom_load(struct hud_context *context);
/* Writes the decisions of this rank's teams. */
void hud_wisdom_save(struct hud_context *context);

#endif
