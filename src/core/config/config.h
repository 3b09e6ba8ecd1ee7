/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * config.h - the settings.  One table (config.def, and one row per parameter of each algorithm)
 * gives the environment variables HUDDLE_*, Open MPI's MCA parameters coll_huddle_*, the CLI's help
 * and the reference page.  Settings for experiments begin with HUDDLE_LAB_; all parameters of
 * algorithms do.
 */
#ifndef HUD_CONFIG_H
#define HUD_CONFIG_H

#include "alg/alg.h"
#include "huddle/huddle.h"

#include <stdbool.h>
#include <stdint.h>

/* One row, for callers that list settings.  All strings live as long as the process. */
struct setting {
    const char *name;                     /* "HUDDLE_MEMORY" */
    const char *mca;                      /* "memory": the MCA parameter is coll_huddle_memory */
    const char *preset, *unit, *accepted; /* default, "B" or "", accepted values as text */
    const char *doc;
    bool lab; /* HUDDLE_LAB_*: for experiments; it is no MCA parameter, and lists leave it out */
};

/* Returns the rows, *count of them (count may be NULL).  Fixed for the life of the process. */
HUD_API const struct setting *hud_settings(int *count);

#define SETTING(id, ...) SET_##id,
enum set {
#include "core/config/config.def"
    SET_FIXED /* the algorithms' parameters follow */
};
#undef SETTING

#define ALG(coll, name) SET_ALG_##coll##_##name,
enum {
#include "alg/alg.def"
    SET_ALGS /* algorithms */
};
#undef ALG

#define ALG_PRODUCT_ONLY
#define ALG(coll, name) +1
enum {
    SET_PRODUCT_ALGS = 0 /* algorithms of the product; all others are in the laboratory */
#include "alg/alg.def"
};
#undef ALG
#undef ALG_PRODUCT_ONLY

#define SET_LAB "HUDDLE_LAB_"
enum { SET_MAX = SET_FIXED + SET_ALGS * ALG_PARAMS, SET_TEXT = 256, SET_KEPT = SET_MAX * 160 };
enum { SET_ERRORS = 16 };      /* bad values that are reported, at most */
enum { SET_GIVEN = 16 << 10 }; /* bytes of all values that were given */

enum config_switch { SWITCH_OFF, SWITCH_ON, SWITCH_REQUIRE }; /* the last: of HUDDLE alone */
enum config_wisdom { WISDOM_OFF, WISDOM_ON, WISDOM_READ, WISDOM_FILE };
enum config_devices { DEVICES_AUTO, DEVICES_OFF };
enum config_nodes { NODES_OFF, NODES_ON, NODES_AUTO };
enum config_single_copy { SINGLE_COPY_OFF, SINGLE_COPY_ON, SINGLE_COPY_AUTO };
enum config_nonblocking { NONBLOCKING_OFF, NONBLOCKING_ON, NONBLOCKING_AUTO };
enum config_order { ORDER_ANY, ORDER_FIXED };
enum config_xpmem { XPMEM_OFF, XPMEM_COPY, XPMEM_KEEP };
enum config_tree { TREE_AUTO, TREE_FIRST }; /* then enum shape_kind */
enum config_death { DEATH_WAIT, DEATH_ABORT };
enum { CHECK_ABORT = 2 }; /* value of HUDDLE_CHECK, besides enum config_switch */
enum config_log { LOG_QUIET, LOG_ERROR, LOG_WARN, LOG_INFO, LOG_DEBUG };
enum config_choice {
    CHOICE_AUTO,
    CHOICE_MPI,
    CHOICE_FIRST
}; /* then the collective's algorithms in the order of alg.def */

/* Returns the row with the most similar name, or NULL if none is similar. */
HUD_API const struct setting *hud_setting_nearest(const char *name);
/* Returns why a value of the setting is refused, "not valid" or "out of range", or NULL if it is
 * accepted. */
HUD_API const char *hud_setting_refusal(int at, const char *value);

/* Effective values of one context.  A copy would point into the original. */
struct config {
    long number[SET_MAX];             /* WORD: index; BYTES: bytes, -1 for auto */
    const char *text[SET_MAX];        /* the values as given, for display and for TEXT */
    const char *origin[SET_MAX];      /* "default", "environment", "host" */
    uint32_t digest[SET_MAX];         /* digest of a value on which all ranks must agree, else 0 */
    uint64_t agree;                   /* digest of all digests; must be the same on all ranks */
    long param[SET_ALGS][ALG_PARAMS]; /* values of alg.def's row r */
    bool given[SET_ALGS][ALG_PARAMS]; /* the user has set it */
    char error[2 * SET_TEXT];         /* the first bad value, one line; "" */
    char more[SET_ERRORS - 1][2 * SET_TEXT]; /* further ones, a line each */
    int more_count;
    int untold;    /* bad values of which the last line has only the number */
    bool required; /* HUDDLE=require: a process with an error ends; number[SET_ON] is SWITCH_ON */
    bool check_aborts;    /* HUDDLE_CHECK=abort: calls that differ end the job; number[SET_CHECK] is
                          SWITCH_ON */
    size_t used;          /* bytes of kept */
    char kept[SET_GIVEN]; /* the texts of values that were given */
};

/* Reads HUDDLE_* of the environment, then "NAME=VALUE" strings of the host (NULL-terminated or
 * NULL).  On a bad value the default remains and error is set. */
void hud_config_read(const char *const *host, struct config *config);

/*
 * The settings that determine at which calls a team is set up, for a front end before it has a
 * context: ranks that differ in them cannot find that out in a set-up.  MANNER_REQUESTS:
 * HUDDLE_NONBLOCKING is on, or auto and the host does not wait alone.  0 if there is no memory to
 * read them.
 */
enum config_manner { MANNER_CHECKED = 1, MANNER_REQUESTS = 2, MANNERS = 4 };
HUD_API unsigned hud_config_manner(const char *const *host, bool waits_alone);
/* Returns whether communicators of a job may span nodes by those settings; false if they cannot be
 * read.  With HUDDLE_NODES=auto only if the job has at most CONFIG_SPAN_RANKS ranks: each rank asks
 * its launcher about all others, so the launcher's time grows with the square of the ranks. */
enum { CONFIG_SPAN_RANKS = 512 };
HUD_API bool hud_config_spans(const char *const *host, int ranks);
/* Returns false if those settings have HUDDLE_DEVICES=off. */
HUD_API bool hud_config_asks_devices(const char *const *host);

/* Parses a number from min (>= 0) to max, with K, M or G if it is bytes.  False: not valid. */
bool hud_config_number(const char *text, bool bytes, long min, long max, long *number);
/* Parses the value of an algorithm's parameter (its row, its index).  False: not valid; *accepted
 * has the accepted values. */
bool hud_config_param(int alg, int param, const char *text, long *number, const char **accepted);

/* Index in the algorithms' table that a collective's setting forces, or FORCED_NONE (auto), or
 * FORCED_MPI (the MPI's own). */
enum { FORCED_NONE = -1, FORCED_MPI = -2 };
int hud_config_forced(const struct config *config, int coll_kind);
/* Returns the name of the setting. */
const char *hud_config_choice(int coll_kind);

#endif
