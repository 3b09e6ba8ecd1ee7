/* SPDX-License-Identifier: BSD-3-Clause */
/* report.c - lines for the user that do not belong to a context. */
#include "host/report.h"

#include "base/launcher_env.h"
#include "base/required.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { REPORT_LINE = 512 }; /* the names of all collectives have 200 bytes */

void hud_report_warn(const char *format, ...)
{
    const char *level = getenv("HUDDLE_LOG");
    va_list args;

    if ((level != NULL && (strcmp(level, "quiet") == 0 || strcmp(level, "error") == 0)) ||
        launched_rank() > 0)
        return;
    char line[REPORT_LINE];
    va_start(args, format);
    vsnprintf(line, sizeof line, format, args);
    va_end(args);
    fprintf(stderr, "huddle: %s\n", line);
}

static void print_line(const void *line)
{
    fprintf(stderr, "huddle: HUDDLE=require ends the job: %s\n", (const char *)line);
}

void hud_report_refuse(const char *format, ...)
{
    const char *setting = getenv("HUDDLE");
    char line[REPORT_LINE];
    va_list args;

    va_start(args, format);
    vsnprintf(line, sizeof line, format, args);
    va_end(args);
    if (setting != NULL && strcmp(setting, "require") == 0)
        required_end(launched_rank() < 0, print_line, line);
    hud_report_warn("%s", line);
}
