/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * rules.h - tables of choices: which algorithm, with which parameters, for which calls.  A tuning
 * file and the built-in table have the same format (TOML).  The first rule that matches a call
 * serves it.
 *
 *   [[bcast]]               a rule for a collective; every line but `algorithm` is optional
 *   ranks = "2-8"           ranks of the team: a number, "min-max", or "min-"
 *   bytes = "4K-1M"         bytes of the message
 *   oversubscribed = false  true: more ranks than processors that they may use
 *   direct = true           the ranks can reach each other's memory
 *   quick = true            and the kernel copies quickly (core/arena/direct.h), or HUDDLE_CMA=on
 *   intel = true            the processors are Intel's
 *   divided = true          some level of the memory hierarchy has the ranks in several units, or
 *                           they are not bound to one; false: each level has all in one unit
 *   within = "numa"         the lowest level of the memory hierarchy with one unit that holds all
 *                           ranks; "machine": no level has one; "unit": some level has one
 *   cheaper_than = "slices" only from the size on from which the time model (model.h) predicts less
 *                           time than for that algorithm
 *   algorithm = "queue"     or "mpi": falls back to the MPI
 *   fragment = "16K"        a parameter of the algorithm
 *   fallback = true         for readers and tests: for calls of an earlier row whose algorithm does
 *                           not handle them
 *   second = true           never serves, but is tried against the rule that does (HUDDLE_ADAPT)
 *   evidence = "E7"         for readers: entries of docs/evidence/ that have times of such calls
 *   like = "E7"             for readers, in its place: entries of other ranks, sizes or processors,
 *                           from which the rule is taken over
 *   holds = "6/9 1.12"      for readers: simulated, the best at 6 of 9 points of the range of what
 *                           is assumed of machines, and at most 1.12 times the best's time
 *
 *   [network]               between nodes (cost/network.h), as huddle tune --network measures it
 *   alpha_ns = 21000
 *   beta_ps = 8100          of a byte
 *   overhead_ns = 4000
 *   send_ns = 1500          the same, if it is left out
 *
 *   [machine]               the machine that a file was measured on.  The file is used only there,
 *                           unless HUDDLE_TUNING names it
 *   processors = 128
 *   cpu = "..."
 */
#ifndef HUD_RULES_H
#define HUD_RULES_H

#include "coll/coll.h"
#include "core/config/config.h"
#include "cost/network.h"
#include "topo/topo.h"

#include <limits.h>

enum { RULE_EVIDENCE = 32 };

struct rule {
    int kind;           /* enum coll_kind */
    int row;            /* of alg.def; -1: falls back to the MPI */
    int than;           /* it must be cheaper than this row by the time model; -1: none */
    int line;           /* of the file */
    int oversubscribed; /* 0, 1, or -1: either */
    int direct, quick, intel, divided; /* the same */
    int fallback;                 /* 1: for calls of another row that its algorithm cannot handle */
    int second;                   /* 1: only a second candidate (core/choose/second.c) */
    char evidence[RULE_EVIDENCE]; /* "": none */
    bool like;                    /* it is of other calls, or of other processors */
    int best, points;             /* of `holds`; 0 points: it says nothing */
    int regret_percent;
    long min_ranks, max_ranks;
    size_t min_bytes, max_bytes;
    char within[TOPO_NAME]; /* "": anywhere */
    bool given[ALG_PARAMS]; /* which of: */
    long param[ALG_PARAMS];
};

struct rules {
    const struct rule *rule;
    int count;
    char file[PATH_MAX];         /* "": there is none */
    uint64_t digest;             /* of the text */
    bool elsewhere;              /* measured on another machine */
    struct cost_network network; /* alpha_ns 0: it has none */
};

/* Reads a table from its text.  False: error holds one line (what, the value, what is accepted),
 * and the table is empty. */
bool hud_rules_read(struct rules *rules, const char *file, const char *text, size_t bytes,
                    char *error, size_t error_bytes);
void hud_rules_free(struct rules *rules);

/*
 * The tuning file that a value of HUDDLE_TUNING names: a path; "off", none; "", the user's
 * ($XDG_CONFIG_HOME/huddle/tuning.toml, or ~/.config/...) or the site's (etc/huddle/tuning.toml of
 * the prefix), if it was measured on such a machine.  False: error holds a line.
 */
bool hud_rules_find(struct rules *rules, const char *setting, char *error, size_t error_bytes);

/* The table that serves where no tuning file does.  It is part of the library and cannot be wrong.
 * NULL: it is not compiled (compiled.h), and there is no memory to read it into; once read, it
 * stays. */
const struct rules *hud_rules_builtin(void);
/* Of its text. */
uint64_t hud_rules_builtin_digest(void);

#endif
