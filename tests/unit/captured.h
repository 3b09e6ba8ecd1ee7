/* SPDX-License-Identifier: BSD-3-Clause */
/* captured.h - the text that a process and its children write to standard error. */
#ifndef HUD_TESTS_CAPTURED_H
#define HUD_TESTS_CAPTURED_H

/* Redirects standard error to a file. */
void captured_begin(void);

/* Restores standard error. Returns the text written since captured_begin(). */
const char *captured_end(void);

#endif
