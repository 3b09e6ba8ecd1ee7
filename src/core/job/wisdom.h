/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * wisdom.h - what a context knows about its machine: which candidate is the fastest for which
 * calls, learned by its teams, or by earlier programs (wisdom_file.h).
 *
 * Line      A rule in compact form: the teams, the sizes, the choice and its time.  A decision of a
 *           team is a line about one cell.  A line of a file may cover several cells.
 * States    Of lines about a cell the last two count.  The earlier one is the winner in another
 *           state of the machine, since a virtual machine may move its cores apart.  A new team
 *           verifies the last winner, and then compares both (core/plan/learner.h).
 * Checked   Another process may have disturbed the program that wrote a line of the file.  So the
 *           first team of this program that uses the line compares its choice with the one without
 *           the line.  Later teams find the result among the decisions of this program.
 * Shape     the number of ranks, and where they are, or their number of nodes.  Whether ranks can
 *           reach each other's memory is no part: a team ignores a candidate that it does not have.
 * Sharing   All ranks of a new team begin with what its rank 0 knows, so a duplicate of a
 *           communicator measures nothing again.  In the first round of the set-up each rank gives
 *           a digest of what it knows about teams of this size.  If all are equal, each rank
 *           uses its own lines.  Otherwise rank 0 writes the lines about such teams into an area of
 *           its arena, before the second round, and all ranks read these.  If rank 0 has just read
 *           the file, it passes on all its lines.  The other ranks keep them, and need not read the
 *           file.
 */
#ifndef HUD_WISDOM_H
#define HUD_WISDOM_H

#include "core/plan/wisdom_table.h"
#include "core/slice/team_leave.h"

struct learn;
struct wisdom_start;

enum { WISDOM_OWN = 4096 }; /* decisions that a context keeps for the file, at most */

struct wisdom_line {
    uint32_t name;      /* the name of the choice (hud_wisdom_name) */
    uint32_t ns;        /* time of a call, at most 4.29 s; 0: not known */
    int64_t balance_ns; /* balance of an open trial (hud_learner_balance) */
    int32_t min_ranks, max_ranks, nodes;
    int8_t oversubscribed, divided; /* conditions, as in struct rule */
    uint8_t kind;                   /* enum coll_kind */
    uint8_t axes;                   /* a bit for each axis / COLL_KINDS */
    uint8_t first_class, last_class;
    uint8_t open;      /* the trial of a team has not ended: name is its best candidate so far */
    uint8_t unchecked; /* nonzero: of the file, and no team has compared the choice yet */
    char within[TOPO_NAME];
};

/* Lines that a rank 0 writes for its team. */
struct wisdom_area {
    _Alignas(HUD_LINE) struct slice_head head; /* counts the ranks that have read the lines */
    _Alignas(HUD_LINE) struct wisdom_line line[];
};

struct wisdom {
    struct wisdom_line *line;
    int lines, room;
    int from_file;    /* the first lines, which are of the file */
    struct rule *own; /* decisions of teams with this rank as rank 0, to be written to the file */
    int owns, own_room;
    char *path;     /* absolute, of the file that the setting names by a relative path; or NULL */
    bool file_read; /* the file has been read, by this rank or another one */
    bool reader;    /* this rank has read the file */
    bool error_printed; /* this rank has printed the file's error */
    uint64_t digest;    /* hash of the lines about teams of digest_ranks ranks */
    int digest_ranks;   /* 0: to be computed */
};

/* Results of learning in a context, and memory of its learners. */
struct context_learn {
    struct wisdom wisdom;
    struct wisdom_start *starts;      /* the last made first */
    struct wisdom_start *spare_start; /* memory for another start, or NULL */
    struct learn *idle;               /* memory of teams that have ended */
};

/* Makes the line of a rule.  Returns false if the rule has a condition that no line has, covers no
 * cell, or is about an earlier version of its algorithm. */
bool hud_wisdom_line(const struct config *config, const struct rule *rule,
                     struct wisdom_line *line);

/* Returns a rule about a cell of teams of a shape, with today's date and without a choice. */
struct rule hud_wisdom_rule(const struct plan_facts *facts, int at);
/* Stores a decision about a cell, in place of earlier decisions.  before: the winner in another
 * state of the machine, or NULL.  writes: this rank has to write both to the file.  Does nothing if
 * memory runs out. */
void hud_wisdom_store(struct wisdom *wisdom, const struct config *config, const struct rule *rule,
                      const struct rule *before, bool writes);
/* Stores the best candidate so far of a trial that has not ended, for later teams of this program.
 * They continue with its balance.  Does nothing if memory runs out. */
void hud_wisdom_store_open(struct wisdom *wisdom, const struct config *config,
                           const struct rule *rule, int64_t balance_ns);
/* Puts lines of the file before the others. */
void hud_wisdom_add_file(struct wisdom *wisdom, const struct wisdom_line *line, int lines);
/* Returns a digest of the lines about teams of `ranks` ranks on a node.  Never 0. */
uint64_t hud_wisdom_digest(struct wisdom *wisdom, int ranks);
/* Copies the lines about teams of `ranks` ranks on a node to `to`.  Returns their number.  to may
 * be NULL. */
int hud_wisdom_copy(const struct wisdom *wisdom, int ranks, struct wisdom_line *to);
/* Copies the lines about such teams to `to`, or all lines if facts is NULL.  Returns their number.
 * to may be NULL. */
int hud_wisdom_select(const struct wisdom *wisdom, const struct plan_facts *facts,
                      struct wisdom_line *to);
/* Fills a table with the choices of lines about such a team.  Ignores invalid lines. */
void hud_wisdom_tabulate(const struct wisdom_line *line, int lines, const struct plan_facts *facts,
                         struct wisdom_table *table);
void hud_wisdom_free(struct wisdom *wisdom);

#endif
