/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * rules.h - tables of choices: which algorithm, with which parameters, for which calls.  A tuning
 * file and the built-in table have the same format, a line per rule.  The first rule that matches
 * a call, and whose algorithm handles the call, serves it.  '#' begins a comment.
 *
 *   COLLECTIVE [CONDITION...] -> ALGORITHM [PARAMETER=VALUE...] [| NOTE...]
 *
 *   bcast ranks=2-8 bytes=4K-1M within=numa -> queue fragment=16K | evidence=E7
 *
 * ALGORITHM may be mpi: the call falls back to the MPI.  No such rule serves reductions under
 * HUDDLE_REDUCE_ORDER=fixed.  The conditions, in any order:
 *
 *   ranks=2-8            ranks of the team: a number, MIN-MAX or MIN-
 *   nodes=4              the team spans so many nodes; ALGORITHM is one of alg/spans.def.  Only the
 *                        file of HUDDLE_WISDOM has a use for such a rule
 *   bytes=4K-1M          bytes of the message
 *   oversubscribed=no    yes: more ranks than processors that they may use
 *   direct=yes           the ranks can reach each other's memory
 *   quick=yes            and the kernel copies quickly (core/arena/direct.h), or HUDDLE_CMA=on
 *   divided=yes          some level of the memory hierarchy has the ranks in several units, or they
 *                        are not bound to one; no: each level has all in one unit
 *   reduction=exact      the bits of the result do not depend on the order of the ranks; ordered:
 *                        the ranks must be combined in order; inexact: any order is allowed, and
 *                        changes bits.  Only for collectives that reduce
 *   within=numa          the lowest level of the memory hierarchy with one unit that holds all
 *                        ranks; machine: no level has one; unit: some level has one
 *   cheaper_than=slices  only from the size on from which the time model (model.h) predicts less
 *                        time than for that algorithm
 *
 * The notes, in any order.  None changes what serves a call:
 *
 *   evidence=E7,E12      the series of lab/evidence/ with times of the algorithm for such calls;
 *                        prior: there is none
 *   ns=32000             time of a call by this rule
 *   samples=214          samples of such calls, of all candidates together
 *   runner_up=slices:35000  the second best algorithm, and its time in ns
 *   mpi_ns=88000         time of the MPI's own collective
 *   before=levels:115000 the choice without this rule, if another one, and its time in ns
 *   version=2            the algorithm's version (struct alg) that was measured; 0 if left out
 *   date=2026-11-29      date of the measurement
 *
 * Two other lines belong to a whole file:
 *
 *   machine processors=128 cpu="..." numa=2 kernel=6.1 virtual=none mpi="Open MPI 4.1.4"
 *     the machine that the file was measured on (machine.h), and the MPI.  The file is used only
 *     there, unless HUDDLE_TUNING or HUDDLE_WISDOM names it
 *   network alpha_ns=21000 beta_ps=8100 overhead_ns=4000 send_ns=1500
 *     the network between nodes (cost/network.h), as huddle tune --network measures it; beta_ps is
 *     per byte; without send_ns the overhead is used
 */
#ifndef HUD_RULES_H
#define HUD_RULES_H

#include "coll/coll.h"
#include "core/config/config.h"
#include "cost/network.h"
#include "topo/topo.h"

#include <limits.h>

/* Maximum bytes, with the final zero, of a list of series, of a date and of a line. */
enum { RULE_EVIDENCE = 32, RULE_DATE = 11, RULE_LINE = 1024 };

struct rule {
    int kind;           /* enum coll_kind */
    int row;            /* row of alg.def, or of spans.def if nodes is not 0; -1: falls back to the
                           MPI */
    int than;           /* the model must predict less time than for this row; -1: no condition */
    int line;           /* line number in the file */
    int nodes;          /* number of nodes of the teams; 0: teams on one node */
    int oversubscribed; /* 0: no; 1: yes; -1: no condition */
    int direct, quick, divided; /* 0: no; 1: yes; -1: no condition */
    int reduction; /* axis / COLL_KINDS of the only axis that the rule serves; -1: all axes */
    char evidence[RULE_EVIDENCE]; /* "E7 E12" or "prior"; empty if the rule has no such note */
    long min_ranks, max_ranks;
    size_t min_bytes, max_bytes;
    char within[TOPO_NAME]; /* empty: no condition */
    bool given[ALG_PARAMS]; /* whether the rule sets the parameter */
    long param[ALG_PARAMS]; /* the rule's values */
    uint64_t ns, mpi_ns;    /* measured times; 0: none */
    uint64_t runner_up_ns, before_ns;
    int samples;           /* number of samples of all candidates */
    int runner_up, before; /* rows of alg.def, or -1, if their times are not 0 */
    int version;           /* the algorithm's version */
    char date[RULE_DATE];  /* "2026-11-29"; empty if there is none */
};

struct rules {
    const struct rule *rule;
    int count;
    char file[PATH_MAX];         /* path; empty if no file was read */
    uint64_t digest;             /* digest of the text */
    bool elsewhere;              /* the file was measured on another machine */
    char mpi[64];                /* the MPI with which it was measured; "": not known */
    int wrong;                   /* lines that hud_rules_read_some did not understand */
    struct cost_network network; /* alpha_ns 0: the file has no network line */
};

/* Returns the algorithms that a rule may name, terminated by NULL. */
static inline const struct alg *const *rule_algs(const struct rule *rule)
{
    return rule->nodes != 0 ? hud_shm_nodes_algs : hud_shm_algs;
}

/* Returns the algorithm of a row, or NULL for the MPI's own collective. */
static inline const struct alg *rule_alg(const struct rule *rule, int row)
{
    return row >= 0 ? rule_algs(rule)[row] : NULL;
}

/* Returns whether a rule was measured with the version that its algorithm has now. */
static inline bool rule_is_current(const struct rule *rule)
{
    const struct alg *alg = rule_alg(rule, rule->row);

    return rule->version == (alg ? alg->version : 0);
}

/* Reads a table from its text.  Returns false if the text is wrong: the table is then empty, and
 * error holds a line with the place, the value and the accepted values. */
bool hud_rules_read(struct rules *rules, const char *file, const char *text, size_t bytes,
                    char *error, size_t error_bytes);
void hud_rules_free(struct rules *rules);

/*
 * Reads a table of which only some lines are right, such as one that another version of huddle has
 * written.  Leaves out the other lines.  error is about the first of them that is no line of a
 * table at all, or "".  After RULES_WRONG such lines the rest of the text is left out.  Returns
 * false if memory has run out, so that lines may be missing.
 */
enum { RULES_WRONG = 64 };
bool hud_rules_read_some(struct rules *rules, const char *file, const char *text, size_t bytes,
                         char *error, size_t error_bytes);

/* The words of the condition `reduction`, by axis / COLL_KINDS, terminated by NULL. */
extern const char *const hud_rule_reductions[];

/* Writes a rule as a line without its newline, which hud_rules_read reads as the same rule.
 * Returns false if the line does not fit; RULE_LINE bytes are always enough. */
bool hud_rule_write(const struct rule *rule, char *line, size_t bytes);

/* Writes the choice of a rule as the line does, or its beginning if it does not fit. */
void hud_rule_write_choice(const struct rule *rule, char *text, size_t bytes);

/* Returns whether two rules have the same conditions, so that they serve the same calls. */
bool hud_rule_same_calls(const struct rule *a, const struct rule *b);
/* Returns whether two rules choose the same algorithm with the same parameters. */
bool hud_rule_same_choice(const struct rule *a, const struct rule *b);

/*
 * Reads the tuning file for a value of HUDDLE_TUNING: a path, "off" for none, or "".  With "" the
 * user's file is read ($XDG_CONFIG_HOME/huddle/tuning.rules, or ~/.config/...), or else the site's
 * (etc/huddle/tuning.rules of the prefix), if the file was measured on such a machine.  Returns
 * false if the file is wrong; error then holds a line.
 */
bool hud_rules_find(struct rules *rules, const char *setting, char *error, size_t error_bytes);

/* Reads the file of rules named by a setting.  Returns false if the file cannot be read or is
 * wrong; error then holds a line that begins with the setting's name. */
bool hud_rules_read_file(struct rules *rules, const char *setting, const char *path, char *error,
                         size_t error_bytes);

/* The number of folders from this code's file up to the prefix, below which the site's file is.  A
 * program that contains the code sets its own number. */
extern int hud_rules_prefix_up;

/* Returns the built-in table, which is used where no tuning file has a choice.  Returns NULL if the
 * table is not compiled (compiled.h) and there is no memory to read its text.  The table is never
 * freed. */
const struct rules *hud_rules_builtin(void);
/* Returns the digest of the built-in table's text. */
uint64_t hud_rules_builtin_digest(void);

#endif
