/* SPDX-License-Identifier: BSD-3-Clause */
/* version.c - the library's version, and its statuses in words. */
#include "huddle/huddle.h"

#define STRING_(x) #x
#define STRING(x) STRING_(x)

const char *hud_version(void)
{
    return STRING(HUD_VERSION_MAJOR) "." STRING(HUD_VERSION_MINOR) "." STRING(HUD_VERSION_PATCH);
}

const char *hud_error_string(int status)
{
    static const char *const text[] = { [HUD_OK] = "success",
                                        [HUD_PASS] = "not handled: use your own collective",
                                        [HUD_ERR_TRUNCATE] = "message truncated",
                                        [HUD_ERR_ARGUMENT] = "invalid argument",
                                        [HUD_ERR_MEMORY] = "out of memory",
                                        [HUD_ERR_UNLIKE] = "ranks make different calls",
                                        [HUD_ERR_FAILED] = "a rank has failed" };

    return status >= 0 && status < (int)(sizeof text / sizeof text[0]) ? text[status]
                                                                       : "unknown status";
}
