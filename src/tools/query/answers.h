/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * answers.h - huddle's facts as JSON, for the program `query`: the CLI, tests and documents ask it.
 * libhuddle itself knows no JSON.
 */
#ifndef HUD_ANSWERS_H
#define HUD_ANSWERS_H

#include "huddle/huddle.h"

/*
 * Stores the JSON of a topic in *json, to be released with free():
 *   "settings"    every setting: name, value, default, unit, doc, MCA name
 *   "collectives" every collective: name, name in MPI, a second MPI name (or null), doc;
 *                 rooted; reduces; sized (its bytes choose the algorithm); moves (has data);
 *                 blocks (bytes are of a block per member, not of a message); same_to_all;
 *                 counts and views (block_bytes; a view per member); limits (bounds of time known)
 *   "statistics"  the counters of the library: reasons why calls fall back
 *   "algorithms"  every algorithm: collective, name, doc, source, whether only for comparison,
 *                 whether direct (ranks must be able to access each other's memory), parameters
 *                 (with values to try)
 *   "machine"     topology in huddle's view: processor's name, active levels, units, NUMA nodes,
 *                 allowed processors
 * Returns HUD_OK, HUD_ERR_ARGUMENT (NULL or an unknown topic) or HUD_ERR_MEMORY. */
int hud_info_json(const char *topic, char **json);

/* Stores the JSON of the place of an MPI's wisdom on this machine (core/job/wisdom_file.h): "file"
 * is its path, which need not exist, or "" if no home folder is known; "named": HUDDLE_WISDOM names
 * it; "machine" is its line `machine`.  mpi: "Open MPI 4.1.4".  Returns HUD_OK, HUD_ERR_ARGUMENT
 * (NULL) or HUD_ERR_MEMORY. */
int hud_wisdom_json(const char *mpi, char **json);

/* The text of a file of rules, and how a program finds the file. */
struct hud_lines {
    const char *name; /* path of the file */
    const char *mpi;  /* MPI of the program, such as "Open MPI 4.1.4" */
    int named;        /* nonzero: HUDDLE_WISDOM names the file */
    const char *text;
    size_t bytes;
};

/* Stores as JSON the use that programs on this machine make of a file of wisdom: "lines", the
 * numbers, from 1, of decisions of this version; "other", [{"line", "why"}], decisions of another
 * version of their algorithm; "error", the complaint about the first line of another form
 * (hud_rules_read_some), or ""; "elsewhere", whether the file is of another machine; "not_used",
 * why a program uses no line, or ""; "not_written", why a program adds no line, or "".  Returns
 * HUD_OK, HUD_ERR_ARGUMENT (NULL) or HUD_ERR_MEMORY. */
int hud_lines_json(const struct hud_lines *lines, char **json);

/* Facts about a machine other than this one; each is nonzero or 0. */
struct hud_described {
    int direct, quick; /* values as in "facts" of hud_explain_json */
};

/* A question: which algorithm would run on a hypothetical team? */
struct hud_question {
    const char *collective; /* "bcast" */
    size_t bytes;           /* size of the message; ignored for a barrier */
    int ranks;              /* >= 1, all on one node */
    const char *map; /* how ranks are bound: "core", one after the other; "numa", "socket": round
                        robin over the nodes or sockets; "none" */
    const char *topology; /* a machine as hwloc describes it, "pack:2 numa:2 core:32 pu:1", or the
                             path of an XML dump; NULL: this machine */
    const struct hud_described *described; /* NULL: as on this machine, with its tuning file */
};

/* Answers a question as JSON, with this process's settings: "serves" (algorithm and parameters;
 * null: falls back to the MPI), "why" (the deciding setting or line of a file), "facts" (inputs of
 * rules: oversubscribed, processors, within, groups; direct: processes
 * of the same user can access each other's memory, here a guess; quick: direct, and the kernel
 * copies quickly), "rules" (every rule of the collective, in order, with its verdict), "pieces"
 * (all sizes), "ordered" (all sizes of noncommutative operations; null: no difference), "no_room"
 * (candidates for which the memory does not suffice, with HUDDLE_WISDOM), "lease"
 * (bytes, slots), "tuning" (the tuning file in force, or ""; a described machine has none unless
 * HUDDLE_TUNING names a file).  Returns HUD_OK, HUD_ERR_ARGUMENT (a bad question; *json is NULL) or
 * HUD_ERR_MEMORY. */
int hud_explain_json(const struct hud_question *question, char **json);

/* Stores the JSON of all choices of a collective, for teams of question->ranks to max_ranks ranks
 * and messages of any size (question->bytes is ignored): "processors", "direct", "quick", and
 * "bands": ranges of ranks, each with "min_ranks", "max_ranks", "oversubscribed", and "pieces" and
 * "ordered" as in hud_explain_json.  Adjacent ranges with equal choices are merged.  Errors as
 * above. */
int hud_choices_json(const struct hud_question *question, int max_ranks, char **json);

/* Stores the JSON of a team after its first collective: members, facts for rules (oversubscribed,
 * divided, within), direct (the ranks can access each other's memory), quick (the kernel copies
 * quickly), single_copy (how), levels, groups, lease (bytes, offset), the algorithm for each size
 * and why, "learned" of cells (HUDDLE_WISDOM), and for this rank's slice the NUMA node of
 * every page, the rank's node, and the number of pages on other nodes; for the arena the kind of
 * the pages and the bytes in huge pages.  For a team without a lease, stores the reason. */
int hud_team_json(hud_team *team, char **json);

/* Returns sockets, cores, NUMA nodes (OS number, bytes, processors), levels and units as a JSON
 * object in a string for free(), or NULL if out of memory. */
struct topo;
char *hud_topo_json(const struct topo *machine);

#endif
