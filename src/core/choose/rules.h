/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * rules.h - tables of choices: which algorithm, with which parameters, for which calls.  A tuning
 * file and the built-in table are the same kind of file (TOML); of all rules that fit a call the
 * first one serves.
 *
 *   [[bcast]]               a rule for a collective; every line but `algorithm` may be left out
 *   ranks = "2-8"           of the team: a number, "least-most", or "least-"
 *   bytes = "4K-1M"         of the message
 *   oversubscribed = false         ranks outnumber the processors they may use
 *   direct = true           the ranks can reach each other's memory
 *   within = "numa"         the lowest level of the memory hierarchy that holds all ranks;
 *                           "machine": none does; "unit": one does
 *   cheaper_than = "slices" only from where the time model (model.h) says that its algorithm takes
 *   less than that one
 *   algorithm = "queue"     or "mpi": left to the MPI
 *   fragment = "16K"        a parameter of the algorithm
 *   fallback = true         for people and tests: for calls that a row before is for, but whose
 *                           algorithm cannot take them
 *   evidence = "E7"         for people: entries of docs/evidence/
 *
 *   [machine]               of a file that was measured: it serves only there, unless it was named
 *                           by HUDDLE_TUNING
 *   processors = 128
 *   cpu = "..."
 */
#ifndef HUD_RULES_H
#define HUD_RULES_H

#include "coll/coll.h"
#include "core/config/config.h"
#include "topo/topo.h"

#include <limits.h>

enum { RULE_EVIDENCE = 32 };

struct rule {
    int kind;           /* enum coll_kind */
    int row;            /* of alg.def, -1: left to the MPI */
    int than;           /* the row that it must be cheaper than by the time model, -1: none */
    int line;           /* of the file */
    int oversubscribed; /* 0, 1, or -1: either */
    int direct;         /* the same */
    bool fallback;      /* for calls that another row is for, but cannot take */
    char evidence[RULE_EVIDENCE]; /* "": none */
    long min_ranks, max_ranks;
    size_t min_bytes, max_bytes;
    char within[TOPO_NAME]; /* "": anywhere */
    bool given[ALG_PARAMS]; /* which of: */
    long param[ALG_PARAMS];
};

struct rules {
    struct rule *rule;
    int count, room;
    char file[PATH_MAX]; /* "": there is none */
    uint64_t digest;     /* of the text */
    bool elsewhere;      /* measured on another machine */
};

/* Reads a table from its text.  False: error holds one line (what, the value, what is accepted),
 * and the table is empty. */
bool hud_rules_read(struct rules *rules, const char *file, const char *text, size_t bytes,
                    char *error, size_t error_bytes);
void hud_rules_free(struct rules *rules);

/*
 * The tuning file that a value of HUDDLE_TUNING names: a path; "off", none; "", the user's
 * ($XDG_CONFIG_HOME/huddle/tuning.toml, or ~/.config/...) or the site's
 * (SYSCONFDIR/huddle/tuning.toml), if it was measured on such a machine.  False: error holds a
 * line.
 */
bool hud_rules_find(struct rules *rules, const char *setting, char *error, size_t error_bytes);

/* The table that serves where no tuning file does.  It is part of the library and cannot be wrong.
 * NULL: no memory to read it into; once read, it stays. */
const struct rules *hud_rules_builtin(void);
/* Of its text. */
uint64_t hud_rules_builtin_digest(void);

#endif
