/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * probe.c - the program `probe`: the library's facts for `huddle`, as JSON on standard output.
 *
 *   probe info TOPIC                            hud_info_json(TOPIC)
 *   probe explain COLL BYTES RANKS MAP [TOPOLOGY [KNOWN]]   hud_explain_json of that
 *   probe choices COLL RANKS MAX MAP [TOPOLOGY [KNOWN]]     hud_choices_json of that, to MAX ranks
 *                                               KNOWN: of another machine than this one, a list of
 *                                               "intel", "direct", "quick"; "": none of these
 *   probe team --ranks N [--bind core|none]     N forked processes form a team through the public
 *                                               header, run barriers and broadcasts whose bytes are
 *                                               verified, and print hud_team_json of each of them
 *
 * Exit status: 0, 1 failed, 2 bad arguments.  If a member hangs or dies, the probe ends as well; it
 * never runs longer than LIMIT_S.
 */
#include "members/members.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { LIMIT_S = 120, ROUNDS = 3 };

/* Bytes of round k of a root: no two rounds alike. */
static unsigned char expected(size_t i, int root, int round)
{
    return (unsigned char)(i * 7 + (size_t)root * 31 + (size_t)round * 101 + 1);
}

/* Returns HUD_OK, HUD_PASS, or -1: wrong bytes or an error. */
static int check_bcast(hud_team *team, const struct member *m, size_t bytes, int root, int round)
{
    unsigned char *data = calloc(1, bytes);
    int status = data ? HUD_OK : -1;

    for (size_t i = 0; data && m->rank == root && i < bytes; i++)
        data[i] = expected(i, root, round);
    if (data)
        status = hud_bcast(team, &(struct hud_view){ .base = data, .bytes = bytes }, root);
    for (size_t i = 0; status == HUD_OK && i < bytes; i++)
        if (data[i] != expected(i, root, round))
            status = -1;
    free(data);
    return status == HUD_OK || status == HUD_PASS ? status : -1;
}

/* A barrier and broadcasts from every root in turn (at most 8 roots).  Returns how many were
 * handled, -1: one was wrong. */
static int exercise(hud_team *team, const struct member *m, int *calls)
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
            for (int root = 0; root < m->ranks && root < 8; root++) {
                status = check_bcast(team, m, sizes[s], root, round);
                if (status < 0)
                    return -1;
                handled += status == HUD_OK, ++*calls;
            }
    }
    return handled;
}

/* One forked process. */
static int describe(struct member *m, void *arg)
{
    struct hud_exchange exchange = members_exchange(m);
    struct hud_host host = members_host(m);
    hud_context *context = NULL;
    hud_team *team = NULL;
    char *json = NULL;
    int calls = 0, handled = -1;

    (void)arg;
    if (hud_context_create(&host, &context) == HUD_OK &&
        hud_team_create(context, &exchange, &team) == HUD_OK)
        handled = exercise(team, m, &calls);
    if (handled >= 0 && hud_team_json(team, &json) == HUD_OK)
        fprintf(m->out, "{\"rank\": %d, \"cpu\": %d, \"calls\": %d, \"handled\": %d, \"team\": %s}",
                m->rank, m->cpu, calls, handled, json);
    free(json);
    members_meet(m); /* nobody's memory goes while another still describes its team */
    hud_team_free(team);
    hud_context_destroy(context);
    return handled >= 0 && json ? 0 : 1;
}

static void copy_out(int from)
{
    char piece[4096];
    ssize_t n;

    while ((n = read(from, piece, sizeof piece)) > 0)
        fwrite(piece, 1, (size_t)n, stdout);
    close(from);
}

static int probe_team(int ranks, bool bind)
{
    int from[MEMBERS_MAX];

    alarm(LIMIT_S);
    if (members_start(ranks, bind, describe, NULL, from) != 0)
        return 1;
    printf("{\"ranks\": %d, \"bind\": \"%s\", \"members\": [", ranks, bind ? "core" : "none");
    for (int r = 0; r < ranks; r++) {
        printf(r ? ",\n" : "\n");
        copy_out(from[r]);
    }
    printf("\n]}\n");
    int failed = members_end();
    if (failed)
        fprintf(stderr, "huddle: probe: a member of the team failed\n");
    return failed != 0;
}

/* Prints why the library has no answer: what it lacks, or else that the question is wrong. */
static int refuse(const char *wrong, char **words, int count)
{
    const char *missing = hud_missing_library();

    fprintf(stderr, "huddle: probe: %s", missing ? missing : wrong);
    for (int i = 0; i < count && words[i] && !missing; i++)
        fprintf(stderr, " %s", words[i]);
    fputc('\n', stderr);
    return missing ? 1 : 2;
}

static int probe_info(char **words)
{
    char *json;

    if (hud_info_json(words[0], &json) != HUD_OK)
        return refuse("no topic", words, 1);
    puts(json);
    free(json);
    return 0;
}

/* "intel,direct,quick", or some of them.  False: not understood. */
static bool read_known(const char *text, struct hud_described *known)
{
    const struct {
        const char *name;
        int *is_so;
    } words[] = { { "intel", &known->intel },
                  { "direct", &known->direct },
                  { "quick", &known->quick } };
    bool good = true;

    for (size_t n; good && *text; text += n + (text[n] == ',')) {
        n = strcspn(text, ",");
        good = false;
        for (size_t i = 0; i < sizeof words / sizeof *words; i++)
            if (strlen(words[i].name) == n && strncmp(words[i].name, text, n) == 0) {
                *words[i].is_so = 1;
                good = true;
            }
    }
    return good;
}

/* The machine of a question; words: a topology and what is known, or NULL in their place. */
static bool read_machine(char **words, struct hud_question *q, struct hud_described *known)
{
    q->topology = words[0];
    q->described = words[0] && words[1] ? known : NULL;
    return !q->described || read_known(words[1], known);
}

/* words: collective, bytes, ranks, map, and perhaps a topology and what is known */
static int probe_explain(char **words)
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

/* words: collective, ranks, most ranks, map, and perhaps a topology and what is known */
static int probe_choices(char **words)
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

    if (argc == 2 && !strcmp(argv[1], "version"))
        return printf("\"%s\"\n", hud_version()) < 0;
    if (argc == 3 && !strcmp(argv[1], "info"))
        return probe_info(argv + 2);
    if (argc >= 6 && argc <= 8 && !strcmp(argv[1], "explain"))
        return probe_explain(argv + 2);
    if (argc >= 6 && argc <= 8 && !strcmp(argv[1], "choices"))
        return probe_choices(argv + 2);
    for (int i = 2; argc > 1 && !strcmp(argv[1], "team") && i + 1 < argc; i += 2) {
        if (!strcmp(argv[i], "--ranks"))
            ranks = atoi(argv[i + 1]);
        else if (!strcmp(argv[i], "--bind"))
            bind = strcmp(argv[i + 1], "none") != 0;
    }
    if (ranks >= 1 && ranks <= MEMBERS_MAX)
        return probe_team(ranks, bind);
    fprintf(stderr,
            "huddle: probe: usage: probe version | info TOPIC | explain COLL BYTES RANKS MAP "
            "[TOPOLOGY [KNOWN]] | choices COLL RANKS MAX MAP [TOPOLOGY [KNOWN]] | team --ranks "
            "1..%d [--bind core|none]\n",
            MEMBERS_MAX);
    return 2;
}
