/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * query.c - the program `query`: the library's facts for `huddle`, as JSON on standard output.  It
 * has the library's code itself, which knows no JSON.
 *
 *   query info TOPIC                            hud_info_json(TOPIC)
 *   query wisdom MPI                            hud_wisdom_json(MPI)
 *   query lines NAME MPI cache|named            hud_lines_json(NAME, MPI) of standard input
 *   query explain COLL BYTES RANKS MAP [TOPOLOGY [COPIES]]   hud_explain_json of the question
 *   query choices COLL RANKS MAX MAP [TOPOLOGY [COPIES]]     hud_choices_json, to MAX ranks
 *                                               COPIES: of another machine, CALL_NS,KERNEL_GBPS,
 *                                               OWN_GBPS: how long the kernel takes for a copy of
 *                                               no bytes, how fast it copies, how fast a core does
 *                                               in its own caches
 *   query team --ranks N [--bind core|none]     N forked processes form a team through the public
 *                                               header, run barriers and broadcasts whose bytes are
 *                                               verified, and print hud_team_json of each of them
 *
 * Exit status: 0, 1 failed, 2 bad arguments.  If a member hangs or dies, the program ends as well.
 * It never runs longer than LIMIT_S.
 */
#include "tools/query/query.h"
#include "cost/kernel.h"
#include "fork_team/fork_team.h"
#include "tools/query/answers.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { LIMIT_S = 120, ROUNDS = 3 };

/* Returns byte i of a broadcast, different for each root and round. */
static unsigned char expected(size_t i, int root, int round)
{
    return (unsigned char)(i * 7 + (size_t)root * 31 + (size_t)round * 101 + 1);
}

/* Broadcasts and verifies the bytes.  Returns HUD_OK, HUD_PASS, or -1 for wrong bytes or an
 * error. */
static int check_bcast(hud_team *team, const struct fork_rank *self, size_t bytes, int root,
                       int round)
{
    unsigned char *data = calloc(1, bytes);
    int status = data ? HUD_OK : -1;

    for (size_t i = 0; data && self->rank == root && i < bytes; i++)
        data[i] = expected(i, root, round);
    if (data)
        status = hud_bcast(team, &(struct hud_view){ .base = data, .bytes = bytes }, root);
    for (size_t i = 0; status == HUD_OK && i < bytes; i++)
        if (data[i] != expected(i, root, round))
            status = -1;
    free(data);
    return status == HUD_OK || status == HUD_PASS ? status : -1;
}

/* Runs barriers, and broadcasts from every root in turn (at most 8 roots).  Returns how many calls
 * were handled, or -1 if one failed. */
static int exercise(hud_team *team, const struct fork_rank *self, int *calls)
{
    static const size_t sizes[] = { 8, 112, 4096, 65536 };
    int handled = 0;

    *calls = 0;
    for (int round = 0; round < ROUNDS; round++) {
        int status = hud_barrier(team);
        if (status != HUD_OK && status != HUD_PASS)
            return -1;
        handled += status == HUD_OK, ++*calls;
        for (size_t s = 0; s < sizeof sizes / sizeof *sizes; s++)
            for (int root = 0; root < self->ranks && root < 8; root++) {
                status = check_bcast(team, self, sizes[s], root, round);
                if (status < 0)
                    return -1;
                handled += status == HUD_OK, ++*calls;
            }
    }
    return handled;
}

/* Runs in each forked process: exercises the team and prints its description. */
static int describe(struct fork_rank *self, void *arg)
{
    char *json = NULL;
    int calls = 0, handled = -1;

    (void)arg;
    if (fork_team_join(self, NULL) == HUD_OK)
        handled = exercise(self->team, self, &calls);
    if (handled >= 0)
        hud_team_json(self->team, &json);
    fork_team_leave(self); /* all ranks have described their teams; later a rank may
                              wait for a reader of its pipe */
    if (!json)
        return 1;
    fprintf(self->out, "{\"rank\": %d, \"cpu\": %d, \"calls\": %d, \"handled\": %d, \"team\": %s}",
            self->rank, self->cpu, calls, handled, json);
    free(json);
    return 0;
}

static void copy_out(int from)
{
    char piece[4096];
    ssize_t n;

    while ((n = read(from, piece, sizeof piece)) > 0)
        fwrite(piece, 1, (size_t)n, stdout);
    close(from);
}

static int query_team(int ranks, bool bind)
{
    struct fork_team team = { .ranks = ranks, .bind = bind, .limit_s = LIMIT_S, .body = describe };
    int from[FORK_TEAM_MAX];

    if (fork_team_start(&team, from) != 0)
        return 1;
    printf("{\"ranks\": %d, \"bind\": \"%s\", \"members\": [", ranks, bind ? "core" : "none");
    for (int r = 0; r < ranks; r++) {
        printf(r ? ",\n" : "\n");
        copy_out(from[r]);
    }
    printf("\n]}\n");
    int failed = fork_team_end(&team);
    if (failed)
        fprintf(stderr, "huddle: query: a member of the team failed\n");
    return failed != 0;
}

/* Prints that a question is wrong. */
static int refuse(const char *wrong, char **words, int count)
{
    fprintf(stderr, "huddle: query: %s", wrong);
    for (int i = 0; i < count && words[i]; i++)
        fprintf(stderr, " %s", words[i]);
    fputc('\n', stderr);
    return 2;
}

static int query_info(char **words)
{
    char *json;

    if (hud_info_json(words[0], &json) != HUD_OK)
        return refuse("no topic", words, 1);
    puts(json);
    free(json);
    return 0;
}

static int query_wisdom(char **words)
{
    char *json;

    if (hud_wisdom_json(words[0], &json) != HUD_OK)
        return refuse("out of memory: wisdom", words, 1);
    puts(json);
    free(json);
    return 0;
}

/* Reads a table of at most 1 MB from standard input. */
static int query_lines(char **words)
{
    enum { ROOM = 1 << 20 };
    char *json, *text = malloc(ROOM);
    struct hud_lines q = { words[0], words[1], !strcmp(words[2], "named"), text, 0 };

    q.bytes = text ? fread(text, 1, ROOM, stdin) : 0;
    if (hud_lines_json(&q, &json) != HUD_OK) {
        free(text);
        return refuse("out of memory: lines", words, 1);
    }
    free(text);
    puts(json);
    free(json);
    return 0;
}

/* Reads "CALL_NS,KERNEL_GBPS,OWN_GBPS" of a machine, on which the kernel copies between processes.
 * Returns false if the text is not understood. */
static bool read_copies(const char *text, struct hud_described *known)
{
    double call_ns, kernel_gbps, own_gbps;
    int end = 0;

    if (sscanf(text, "%lf,%lf,%lf%n", &call_ns, &kernel_gbps, &own_gbps, &end) != 3 ||
        text[end] != '\0' || !(kernel_gbps > 0) || !(own_gbps > 0))
        return false;
    known->direct = 1;
    known->quick = cost_kernel_is_quick(call_ns + COST_KERNEL_BYTES / kernel_gbps,
                                        COST_KERNEL_BYTES / own_gbps);
    return true;
}

/* Reads the machine of a question.  words has a topology and the speeds of copies, or NULL in
 * their place. */
static bool read_machine(char **words, struct hud_question *q, struct hud_described *known)
{
    q->topology = words[0];
    q->described = words[0] && words[1] ? known : NULL;
    return !q->described || read_copies(words[1], known);
}

/* Explains a choice.  words: collective, bytes, ranks, map, and optionally a topology and speeds
 * of copies. */
static int query_explain(char **words)
{
    struct hud_described known = { 0 };
    struct hud_question q = { words[0], strtoull(words[1], NULL, 10), atoi(words[2]), words[3] };
    char *json;

    if (!read_machine(words + 4, &q, &known) || hud_explain_json(&q, &json) != HUD_OK)
        return refuse("not understood: explain", words, 6);
    puts(json);
    free(json);
    return 0;
}

/* Lists the choices.  words: collective, ranks, maximum ranks, map, and optionally a topology and
 * speeds of copies. */
static int query_choices(char **words)
{
    struct hud_described known = { 0 };
    struct hud_question q = { words[0], 0, atoi(words[1]), words[3] };
    char *json;

    if (!read_machine(words + 4, &q, &known) ||
        hud_choices_json(&q, atoi(words[2]), &json) != HUD_OK)
        return refuse("not understood: choices", words, 6);
    puts(json);
    free(json);
    return 0;
}

int main(int argc, char **argv)
{
    bool bind = true;
    int ranks = 0;

    hud_rules_prefix_up = HUD_TOOL_DEPTH;
    if (argc == 2 && !strcmp(argv[1], "version"))
        return printf("\"%s\"\n", hud_version()) < 0;
    if (argc == 3 && !strcmp(argv[1], "info"))
        return query_info(argv + 2);
    if (argc == 3 && !strcmp(argv[1], "wisdom"))
        return query_wisdom(argv + 2);
    if (argc == 5 && !strcmp(argv[1], "lines"))
        return query_lines(argv + 2);
    if (argc >= 6 && argc <= 8 && !strcmp(argv[1], "explain"))
        return query_explain(argv + 2);
    if (argc >= 6 && argc <= 8 && !strcmp(argv[1], "choices"))
        return query_choices(argv + 2);
    for (int i = 2; argc > 1 && !strcmp(argv[1], "team") && i + 1 < argc; i += 2) {
        if (!strcmp(argv[i], "--ranks"))
            ranks = atoi(argv[i + 1]);
        else if (!strcmp(argv[i], "--bind"))
            bind = strcmp(argv[i + 1], "none") != 0;
    }
    if (ranks >= 1 && ranks <= FORK_TEAM_MAX)
        return query_team(ranks, bind);
    fprintf(stderr,
            "huddle: query: usage: query version | info TOPIC | wisdom MPI | lines NAME MPI "
            "cache|named | "
            "explain COLL BYTES RANKS MAP [TOPOLOGY [COPIES]] | "
            "choices COLL RANKS MAX MAP [TOPOLOGY [COPIES]] | "
            "team --ranks 1..%d [--bind core|none]\n",
            FORK_TEAM_MAX);
    return 2;
}
