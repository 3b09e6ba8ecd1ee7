/* SPDX-License-Identifier: BSD-3-Clause */
/* model.h - the answers of the program `model` about a described machine. */
#ifndef HUD_TOOLS_MODEL_H
#define HUD_TOOLS_MODEL_H

#include <jansson.h>

/* Answers a request.  Returns NULL after printing the part that was not understood. */
json_t *model_description(const json_t *request);
json_t *model_machine(const json_t *request);

#endif
