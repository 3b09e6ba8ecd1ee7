/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * toml.h - reads a TOML file with tables of plain values, with line numbers.
 */
#ifndef HUD_TOML_H
#define HUD_TOML_H

#include <stdbool.h>
#include <stddef.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Calls in the order of the file.  A nonzero answer ends the reading. */
struct toml_visitor {
    int (*table)(void *arg, const char *name,
                 int line); /* [name], or one more of [[name]], begins */
    int (*pair)(void *arg, const char *key, const char *value,
                int line); /* of that table; numbers and booleans as text */
    int (*strange)(void *arg, const char *what,
                   int line); /* not a table of plain values, or not TOML */
    void *arg;
};

/* Returns 0, or what a call of the visitor answered.  No pair of the top level is reported as one:
 * it is strange. */
int hud_toml_read(const char *text, size_t bytes, const struct toml_visitor *visitor);

/* The same by toml++, which hud_toml_read asks for texts that are not plain. */
int hud_toml_parse(const char *text, size_t bytes, const struct toml_visitor *visitor);
bool hud_toml_is_plain(const char *text, size_t bytes);

/* The same of a text that is known to be plain. */
int hud_toml_read_plain(const char *text, size_t bytes, const struct toml_visitor *visitor);

#ifdef __cplusplus
}
#endif
#endif
