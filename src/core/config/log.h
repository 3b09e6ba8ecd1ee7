/* SPDX-License-Identifier: BSD-3-Clause */
/* log.h - one line on standard error, "huddle: ...", if the context's level allows it.  Never
 * fails. */
#ifndef HUD_LOG_H
#define HUD_LOG_H

#include "core/config/config.h"

void hud_log(const struct config *config, enum config_log level, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

#endif
