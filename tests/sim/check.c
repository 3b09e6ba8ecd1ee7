/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * check.c - runs every algorithm, alone and mixed with the others, and the protocols of the core,
 * under the race checker.
 *
 *   sim_check [--algorithm COLL/NAME|all|core/NAME] [--ranks N[-M]] [--seed N | --seeds N]
 * [--teams N] [--one-lease] [--seconds N] [--mutate FILE:LINE[:R|:A|:L]] [--list]
 *
 * --teams: the number of calls that each rank has in flight, one per team. --one-lease: the teams
 * share one lease, which must be reported.
 *
 * Exit status: 0 if nothing was found, 1 if a report was printed, 2 for bad arguments, and 3 if the
 * mutated line was never reached.
 */
#include "leases.h"
#include "nodes.h"
#include "rollcalls.h"
#include "sequence.h"

#include <getopt.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { CLEAN, FOUND, USAGE, NOT_REACHED };

typedef bool run_fn(const struct sequence_options *options, struct sequence_sums *sums, FILE *to);

/* The protocols of the core in shared memory, named after files of src/core. */
static const struct protocol {
    const char *name;
    run_fn *run;
} protocols[] = { { "core/team_leave", leases_run }, { "core/rollcall", rollcalls_run } };
enum { PROTOCOLS = sizeof protocols / sizeof protocols[0] };

struct check {
    const struct alg *only, *nodes; /* an algorithm of spans, from alg.def */
    const struct protocol *protocol;
    bool mixed, given;        /* whether --algorithm was given */
    int min_ranks, max_ranks; /* range applied to rank_counts; a single number is used as it is */
    int teams;
    bool one_lease;
    uint64_t first_seed, seeds;
    long seconds; /* 0 for no limit */
    char *mutate_file;
    int mutate_line, mutate;
    struct sequence_sums sums;
    time_t began;
};

/* 33 is one more than the sources that a reduction reads at once (MEM_SOURCES). */
static const int rank_counts[] = { 2, 3, 4, 1, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17, 33 };

static void list(void)
{
    for (int a = 0; hud_sim_algs[a]; a++)
        printf("%s/%s\n", hud_sim_algs[a]->coll, hud_sim_algs[a]->name);
    puts("all");
    for (int i = 0; i < PROTOCOLS; i++)
        puts(protocols[i].name);
    for (int a = 0; hud_sim_nodes_algs[a]; a++)
        printf("%s/%s\n", hud_sim_nodes_algs[a]->coll, hud_sim_nodes_algs[a]->name);
}

/* Returns the algorithm of a table with this name, or NULL. */
static const struct alg *named(const struct alg *const *algs, const char *name)
{
    char full[128];

    for (int a = 0; algs[a]; a++) {
        snprintf(full, sizeof full, "%s/%s", algs[a]->coll, algs[a]->name);
        if (strcmp(full, name) == 0)
            return algs[a];
    }
    return NULL;
}

static bool find_algorithm(struct check *k, const char *name)
{
    k->given = true;
    k->mixed = strcmp(name, "all") == 0;
    for (int i = 0; i < PROTOCOLS; i++)
        if (strcmp(name, protocols[i].name) == 0)
            k->protocol = &protocols[i];
    k->only = named(hud_sim_algs, name);
    k->nodes = named(hud_sim_nodes_algs, name);
    return k->mixed || k->protocol || k->only || k->nodes;
}

/* Returns the kind of a mutation. R drops a release, A an acquire, no letter both, and L reads as a
 * last reader. */
static int kind_of(const char *kind)
{
    if (!kind)
        return SIM_DROP_RELEASE | SIM_DROP_ACQUIRE;
    return kind[1] == 'R' ? SIM_DROP_RELEASE : kind[1] == 'A' ? SIM_DROP_ACQUIRE : SIM_RETURN_LINES;
}

/* Parses FILE:LINE, optionally followed by :R, :A or :L. Changes the argument. */
static bool parse_mutation(struct check *k, char *text)
{
    char *line = strchr(text, ':'), *kind = line ? strchr(line + 1, ':') : NULL;

    if (!line)
        return false;
    *line = '\0';
    k->mutate_file = text;
    k->mutate_line = atoi(line + 1);
    k->mutate = kind_of(kind);
    return k->mutate_line > 0;
}

/* Parses N or N-M. */
static bool parse_ranks(struct check *k, const char *text)
{
    const char *dash = strchr(text, '-');

    k->min_ranks = atoi(text);
    k->max_ranks = dash ? atoi(dash + 1) : k->min_ranks;
    return k->min_ranks > 0 && k->max_ranks >= k->min_ranks;
}

static bool parse(struct check *k, int argc, char **argv)
{
    static const struct option options[] = { { "algorithm", required_argument, NULL, 'a' },
                                             { "ranks", required_argument, NULL, 'r' },
                                             { "seed", required_argument, NULL, 's' },
                                             { "seeds", required_argument, NULL, 'n' },
                                             { "teams", required_argument, NULL, 'f' },
                                             { "one-lease", no_argument, NULL, 'o' },
                                             { "seconds", required_argument, NULL, 't' },
                                             { "mutate", required_argument, NULL, 'm' },
                                             { "list", no_argument, NULL, 'l' },
                                             { NULL, 0, NULL, 0 } };
    bool good = true;

    for (int o; (o = getopt_long(argc, argv, "", options, NULL)) != -1;) {
        if (o == 'l') {
            list();
            exit(CLEAN);
        }
        if (o == 'a')
            good = good && find_algorithm(k, optarg);
        else if (o == 'r')
            good = good && parse_ranks(k, optarg);
        else if (o == 's')
            k->first_seed = strtoull(optarg, NULL, 10), k->seeds = 1;
        else if (o == 'n')
            k->seeds = strtoull(optarg, NULL, 10);
        else if (o == 'f')
            good = good && (k->teams = atoi(optarg)) > 0;
        else if (o == 'o')
            k->one_lease = true;
        else if (o == 't')
            k->seconds = atol(optarg);
        else if (o == 'm')
            good = good && parse_mutation(k, optarg);
        else
            good = false;
    }
    return good && optind == argc;
}

static bool out_of_time(const struct check *k)
{
    return k->seconds != 0 && time(NULL) - k->began >= k->seconds;
}

static bool run_one(struct check *k, run_fn *run, const struct alg *only, int ranks, uint64_t seed)
{
    const struct sequence_options options = { .ranks = ranks,
                                              .teams = k->teams,
                                              .one_lease = k->one_lease,
                                              .only = only,
                                              .seed = seed,
                                              .mutate_file = k->mutate_file,
                                              .mutate_line = k->mutate_line,
                                              .mutate = k->mutate };

    return run(&options, &k->sums, stdout);
}

/* Runs each algorithm alone, all mixed, and the protocols, or only the algorithm asked for. */
static bool run_seed(struct check *k, int ranks, uint64_t seed)
{
    bool clean = true, one = k->teams == 1; /* spans and protocols have no teams */

    for (int a = 0; clean && hud_sim_algs[a]; a++)
        if (!k->given || hud_sim_algs[a] == k->only)
            clean = run_one(k, sequence_run, hud_sim_algs[a], ranks, seed);
    if (clean && (!k->given || k->mixed))
        clean = run_one(k, sequence_run, NULL, ranks, seed);
    if (clean && one && (!k->given || k->mixed || k->nodes))
        clean = run_one(k, nodes_run, k->nodes, ranks, seed);
    for (int i = 0; clean && one && i < PROTOCOLS; i++)
        if (!k->given || k->protocol == &protocols[i])
            clean = run_one(k, protocols[i].run, NULL, ranks, seed);
    return clean;
}

static bool run_ranks(struct check *k, int ranks)
{
    for (uint64_t seed = k->first_seed; seed < k->first_seed + k->seeds && !out_of_time(k); seed++)
        if (!run_seed(k, ranks, seed))
            return false;
    return true;
}

static bool run_all(struct check *k)
{
    if (k->min_ranks == k->max_ranks)
        return run_ranks(k, k->min_ranks);
    for (uint64_t seed = k->first_seed; seed < k->first_seed + k->seeds; seed++)
        for (size_t i = 0; i < sizeof rank_counts / sizeof *rank_counts; i++)
            if (rank_counts[i] >= k->min_ranks && rank_counts[i] <= k->max_ranks) {
                if (out_of_time(k))
                    return true;
                if (!run_seed(k, rank_counts[i], seed))
                    return false;
            }
    return true;
}

int main(int argc, char **argv)
{
    struct check k = {
        .min_ranks = 1, .max_ranks = INT_MAX, .teams = 1, .seeds = 15, .began = time(NULL)
    };

    if (!parse(&k, argc, argv)) {
        fprintf(
            stderr,
            "usage: %s [--algorithm COLL/NAME|all|core/NAME] [--ranks N[-M]] [--seed N | --seeds "
            "N] [--teams N] [--one-lease] [--seconds N] [--mutate "
            "FILE:LINE[:R|:A|:L]] [--list]\n",
            argv[0]);
        return USAGE;
    }
    bool clean = run_all(&k);
    printf("%lu runs, %lu calls (%lu truncated), %lu events%s\n", k.sums.runs, k.sums.calls,
           k.sums.truncated, k.sums.events, clean ? ", clean" : "");
    if (clean && k.mutate_file && k.sums.mutated == 0) {
        printf("%s:%d was never reached\n", k.mutate_file, k.mutate_line);
        return NOT_REACHED;
    }
    return clean ? CLEAN : FOUND;
}
