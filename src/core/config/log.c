/* SPDX-License-Identifier: BSD-3-Clause */
/* log.c - lines for users, each in one write so that ranks do not mix their lines. */
#include "core/config/log.h"
#include "mem/kept_errno.h"

#include <stdarg.h>
#include <stdio.h>
#include <unistd.h>

void hud_log(const struct config *config, enum config_log level, const char *format, ...)
{
    char line[1024];
    va_list args;

    if (level > (enum config_log)config->number[SET_LOG])
        return;
    KEEP_ERRNO();
    int head = snprintf(line, sizeof line, "huddle: ");
    va_start(args, format);
    int body = vsnprintf(line + head, sizeof line - (size_t)head - 1, format, args);
    va_end(args);
    size_t bytes = (size_t)head + (size_t)(body < 0 ? 0 : body);
    if (bytes > sizeof line - 2)
        bytes = sizeof line - 2;
    line[bytes++] = '\n';
    ssize_t written = write(STDERR_FILENO, line, bytes);
    (void)written;
}
