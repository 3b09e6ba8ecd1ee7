/* SPDX-License-Identifier: BSD-3-Clause */
/* test_explain.c - which algorithm would be used, and why, on a machine of 2 sockets, 4 NUMA nodes
 * and 128 cores, and on this machine. */
#define _GNU_SOURCE /* sched_setaffinity, memfd_create */
#include "core/plan/plan.h"
#include "tools/query/answers.h"
#include "topo/topo.h"

#include <jansson.h>
#include <sched.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

#define MACHINE "pack:2 numa:2(memory=32GiB) core:32 pu:1"

static json_t *answer;
static struct hud_described known; /* facts about MACHINE */

/* Queries a machine, or this machine if the arguments are NULL. */
static void ask_of(const char *machine, const struct hud_described *known_of,
                   const char *collective, size_t bytes, int ranks, const char *map)
{
    const struct hud_question q = { collective, bytes, ranks, map, machine, known_of };
    char *text;

    json_decref(answer);
    assert_int_equal(hud_explain_json(&q, &text), HUD_OK);
    answer = json_loads(text, 0, NULL);
    assert_non_null(answer);
    free(text);
}

static void ask(const char *collective, size_t bytes, int ranks, const char *map)
{
    ask_of(MACHINE, &known, collective, bytes, ranks, map);
}

/* Returns the value at a path such as "why.by". */
static const json_t *at(const char *path)
{
    const json_t *j = answer;
    char key[32];

    for (; *path; path += strcspn(path, ".") + (path[strcspn(path, ".")] == '.')) {
        snprintf(key, sizeof key, "%.*s", (int)strcspn(path, "."), path);
        j = json_object_get(j, key);
    }
    return j;
}

static const char *text_at(const char *path)
{
    const char *text = json_string_value(at(path));

    return text ? text : "(none)";
}

static void built_in_table_is_used(void **state)
{
    (void)state;
    ask("bcast", 8, 64, "core");
    assert_string_equal(text_at("serves.algorithm"), "inline");
    assert_string_equal(text_at("why.by"), "built-in table");
    assert_true(json_integer_value(at("why.line")) > 1);
    assert_string_equal(text_at("facts.within"), "socket");
    assert_false(json_is_true(at("facts.oversubscribed")));
    assert_int_equal(json_integer_value(at("facts.processors")), 128);
    ask("barrier", 0, 129, "core");
    assert_true(json_is_true(at("facts.oversubscribed")));
    assert_string_equal(text_at("facts.within"), "machine");
}

/* Reports whether any rule with this algorithm has the verdict. */
static bool is_verdict_on(const char *algorithm, const char *verdict)
{
    size_t i;
    const json_t *rule;

    json_array_foreach(
        at("rules"), i,
        rule) if (strcmp(json_string_value(json_object_get(rule, "algorithm")), algorithm) == 0 &&
                  strcmp(json_string_value(json_object_get(rule, "verdict")), verdict) ==
                      0) return true;
    return false;
}

/* Returns the verdict of the first rule with this algorithm. */
static const char *verdict_on(const char *algorithm)
{
    size_t i = 0;
    const json_t *rule;

    while ((rule = json_array_get(at("rules"), i++)) &&
           strcmp(json_string_value(json_object_get(rule, "algorithm")), algorithm) != 0)
        ;
    return rule ? json_string_value(json_object_get(rule, "verdict")) : "(none)";
}

static int forget_known(void **state)
{
    (void)state;
    known = (struct hud_described){ 0 };
    return 0;
}

/* Queries three ranks with large blocks. The given facts about the machine count, and not the
 * kernel of this machine. */
static void single_copy_is_used_if_facts_and_setting_allow_it(void **state)
{
    static const struct {
        struct hud_described known;
        const char *cma;
        bool direct, quick;
    } cases[] = { { { .quick = 1 }, "auto", false, false },
                  { { .direct = 1 }, "auto", true, false },
                  { { .direct = 1, .quick = 1 }, "auto", true, true },
                  { { .quick = 1 }, "on", false, false },
                  { { .direct = 1, .quick = 1 }, "off", false, false },
                  { { .direct = 1 }, "on", true, true } };

    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        known = cases[i].known;
        setenv("HUDDLE_CMA", cases[i].cma, 1);
        ask("alltoall", 1 << 20, 3, "core");
        assert_int_equal(json_is_true(at("facts.direct")), cases[i].direct);
        assert_int_equal(json_is_true(at("facts.quick")), cases[i].quick);
        assert_string_equal(text_at("serves.algorithm"), cases[i].quick ? "cma_write" : "windows");
    }
    ask("alltoall", 1 << 20, 17, "core");
    assert_string_equal(verdict_on("cma_write"), "for other numbers of ranks");
    setenv("HUDDLE_CMA", "off", 1);
    ask("alltoall", 1 << 20, 3, "core");
    unsetenv("HUDDLE_CMA");
    assert_true(json_is_false(at("facts.direct")));
    assert_string_equal(text_at("serves.algorithm"), "windows");
    assert_true(is_verdict_on("cma_write", "for ranks that can reach each other's memory"));
}

/* Verifies that memory is the described machine's: 1 % for all ranks, at most 10M each, of which a
 * team gets at most 1536K. */
static void memory_of_the_described_machine_counts(void **state)
{
    (void)state;
    ask("allreduce", 4 << 20, 128, "core");
    assert_string_equal(text_at("serves.algorithm"), "levels");
    assert_in_range(json_integer_value(at("lease.bytes")), 1 << 20, 1536 << 10);
    ask_of("pack:2 numa:2(memory=64MiB) core:32 pu:1", &known, "allreduce", 4 << 20, 128, "core");
    assert_in_range(json_integer_value(at("lease.bytes")), 0, 20000);
}

/* Limits memory. A window of an exchange has lines for each rank. */
static void verdict_reports_lack_of_memory(void **state)
{
    (void)state;
    setenv("HUDDLE_MEMORY", "1M", 1);
    ask("alltoallv", 0, 32, "none");
    assert_true(is_verdict_on("windows", "serves"));
    setenv("HUDDLE_MEMORY", "200K", 1);
    ask("alltoallv", 0, 500, "none");
    setenv("HUDDLE_MEMORY", "1M", 1);
    assert_string_equal(text_at("why.by"), "no rule whose algorithm fits into the memory");
    assert_true(is_verdict_on("windows", "not enough memory for its algorithm"));
    ask("alltoall", 1 << 20, 8, "core");
    assert_true(is_verdict_on("inline", "for other sizes"));
    ask("alltoall", 1 << 10, 100, "core");
    assert_true(is_verdict_on("inline", "its algorithm does not support this call"));
    unsetenv("HUDDLE_MEMORY");
}

/* Expects an impossible setting to be reported together with the setting preventing its use. */
static void forced_algorithm_reports_what_prevents_it(void **state)
{
    static const struct {
        const char *collective, *algorithm, *name, *value, *by;
    } cases[] = {
        { "bcast", "queue", "HUDDLE_MEMORY", "24K",
          "memory has no room for it (raise HUDDLE_MEMORY=24K)" },
        { "bcast", "queue", "HUDDLE_LEASE", "8K",
          "memory has no room for it (raise HUDDLE_LEASE=8K)" },
        { "alltoallv", "cma_read", "HUDDLE_CMA", "off",
          "the ranks cannot reach each other's memory (HUDDLE_CMA=off, HUDDLE_XPMEM=off)" },
        { "allreduce", "tree", "HUDDLE_REDUCE_ORDER", "fixed",
          "it does not combine the ranks in their order" },
    };

    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        char force[64] = "HUDDLE_", by[160];
        for (size_t c = 0; cases[i].collective[c]; c++)
            force[7 + c] = (char)(cases[i].collective[c] - 'a' + 'A');
        snprintf(by, sizeof by, "setting, but %s", cases[i].by);
        setenv(force, cases[i].algorithm, 1);
        setenv(cases[i].name, cases[i].value, 1);
        ask(cases[i].collective, 64 << 10, 4, "core");
        unsetenv(cases[i].name);
        unsetenv(force);
        assert_true(json_is_null(at("serves")));
        assert_string_equal(text_at("why.by"), by);
    }
}

/* Limits memory. A collective with an alternative gives way to a collective without: scans use
 * slices, and broadcast keeps its queue. */
static void every_collective_is_handled_with_little_memory(void **state)
{
    (void)state;
    setenv("HUDDLE_MEMORY", "200K", 1);
    ask("scan", 8, 2, "core");
    assert_string_equal(text_at("serves.algorithm"), "slices");
    ask("bcast", 64 << 10, 2, "core");
    assert_string_equal(text_at("serves.algorithm"), "queue");
    unsetenv("HUDDLE_MEMORY");
}

static void ranks_are_placed_according_to_the_map(void **state)
{
    (void)state;
    ask("barrier", 0, 32, "core");
    assert_string_equal(text_at("facts.within"), "numa");
    assert_true(json_is_false(at("facts.divided")));
    ask("barrier", 0, 2, "numa");
    assert_string_equal(text_at("facts.within"), "socket");
    assert_true(json_is_true(at("facts.divided")));
    ask("barrier", 0, 2, "socket");
    assert_string_equal(text_at("facts.within"), "machine");
    ask("barrier", 0, 2, "none");
    assert_string_equal(text_at("facts.within"), "machine");
}

static void map_accepts_every_name_of_a_level(void **state)
{
    const struct hud_question q = {
        "barrier", 0, 2, "socket", "pack:2 numa:1 core:2 pu:1", &known
    };
    char *text;

    (void)state;
    assert_int_equal(hud_explain_json(&q, &text), HUD_OK);
    assert_non_null(strstr(text, "\"within\": \"machine\""));
    free(text);
}

static void setting_takes_precedence_over_rules(void **state)
{
    (void)state;
    setenv("HUDDLE_BCAST", "inline", 1);
    ask("bcast", 8, 4, "core");
    assert_string_equal(text_at("why.by"), "setting");
    ask("bcast", 1 << 20, 4, "core");
    assert_true(json_is_null(at("serves")));
    assert_string_equal(text_at("why.by"), "setting, but it does not support this call");
    assert_string_equal(
        json_string_value(json_object_get(json_array_get(at("rules"), 0), "verdict")),
        "a setting overrides it");
    unsetenv("HUDDLE_BCAST");
}

static void disabled_team_reports_the_reason(void **state)
{
    static const struct {
        const char *name, *value, *by;
        int ranks;
    } cases[] = { { "HUDDLE", "off", "switched off", 4 },
                  { "HUDDLE_MEMORY", "0", "no lease", 4 },
                  { "HUDDLE_LOG", "info", "one rank", 1 },
                  { "HUDDLE_BCAST", "oak", "bad setting", 4 } };

    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        setenv(cases[i].name, cases[i].value, 1);
        ask("bcast", 8, cases[i].ranks, "core");
        assert_true(json_is_null(at("serves")));
        assert_string_equal(text_at("why.by"), cases[i].by);
        unsetenv(cases[i].name);
    }
}

/* An unnamed tuning file, so that no failure leaves a file behind. */
static FILE *tuning;

static void write_tuning(const char *text)
{
    char path[64];

    if (!tuning)
        tuning = fdopen(memfd_create("tuning", MFD_CLOEXEC), "we");
    assert_non_null(tuning);
    fputs(text, tuning);
    fflush(tuning);
    snprintf(path, sizeof path, "/proc/self/fd/%d", fileno(tuning));
    setenv("HUDDLE_TUNING", path, 1);
}

static int forget_tuning(void **state)
{
    (void)state;
    unsetenv("HUDDLE_TUNING");
    if (tuning)
        fclose(tuning);
    tuning = NULL;
    return 0;
}

static void line_of_the_tuning_file_is_reported(void **state)
{
    (void)state;
    write_tuning("bcast ranks=3 -> mpi\n"
                 "bcast bytes=1M -> queue tree=chain\n");
    ask("bcast", 1 << 20, 4, "core");
    assert_string_equal(text_at("why.by"), "tuning file");
    assert_string_equal(text_at("tuning"), getenv("HUDDLE_TUNING"));
    assert_int_equal(json_integer_value(at("why.line")), 2);
    assert_string_equal(text_at("serves.parameters.tree"), "chain");
    assert_string_equal(
        json_string_value(json_object_get(json_array_get(at("rules"), 0), "verdict")),
        "for other numbers of ranks");
    assert_true(is_verdict_on("queue", "an earlier rule serves"));
    ask("bcast", 8, 3, "core");
    assert_true(json_is_null(at("serves")));
    assert_int_equal(json_integer_value(at("why.line")), 1);
}

/* Describes this machine, as `huddle lab simulate` does, or another machine, to which this
 * machine's processors and tuning file do not apply. */
static void facts_of_this_machine_do_not_apply_to_another(void **state)
{
    char folder[] = "/tmp/huddle-test-XXXXXX", path[2][64];

    (void)state;
    assert_non_null(mkdtemp(folder));
    snprintf(path[0], sizeof path[0], "%s/huddle", folder);
    snprintf(path[1], sizeof path[1], "%s/huddle/tuning.rules", folder);
    assert_int_equal(mkdir(path[0], 0700), 0);
    FILE *file = fopen(path[1], "we");
    assert_non_null(file);
    fputs("bcast -> levels\n", file);
    fclose(file);
    setenv("XDG_CONFIG_HOME", folder, 1);
    ask_of(MACHINE, NULL, "bcast", 64 << 10, 2, "core");
    bool here = strcmp(text_at("serves.algorithm"), "levels") == 0;
    ask("bcast", 64 << 10, 2, "core");
    unsetenv("XDG_CONFIG_HOME");
    unlink(path[1]);
    rmdir(path[0]);
    rmdir(folder);
    assert_true(here);
    assert_string_equal(text_at("tuning"), "");
    assert_string_equal(text_at("serves.algorithm"), "queue");
    assert_false(json_is_true(at("facts.direct")));
}

/* Expects the verdict at every rule of an ignored file. */
static void tuning_file_with_too_many_rules_is_ignored_and_reported(void **state)
{
    (void)state;
    for (int i = 0; i < PLAN_RULES; i++)
        write_tuning("bcast bytes=1 -> queue\n");
    write_tuning("allreduce -> exchange\n");
    ask("allreduce", 1 << 20, 4, "core");
    assert_string_equal(text_at("why.by"), "built-in table");
    assert_string_equal(
        json_string_value(json_object_get(json_array_get(at("rules"), 0), "verdict")),
        "the file has too many rules");
    write_tuning("rotate\n");
    ask("allreduce", 1 << 20, 4, "core");
    assert_string_equal(text_at("tuning"), "");
}

/* Checks that on this machine a processor counts only if the ranks may use the processor, like in a
 * team. */
static void only_allowed_processors_count(void **state)
{
    struct topo_cpus mine, one = { { 0 } };
    int first = 0, quota = hud_topo_cpu_quota();

    (void)state;
    hud_topo_allowed(&mine);
    while ((mine.word[first / 64] >> (first % 64) & 1) == 0)
        first++;
    one.word[first / 64] = (uint64_t)1 << (first % 64);
    ask_of(NULL, NULL, "barrier", 0, 2, "core");
    assert_true(json_integer_value(at("facts.processors")) <= quota);
    assert_true(json_integer_value(at("facts.processors")) <= hud_topo_cpus_count(&mine));
    assert_int_equal(sched_setaffinity(0, sizeof one, (cpu_set_t *)&one), 0);
    ask_of(NULL, NULL, "barrier", 0, 2, "core");
    sched_setaffinity(0, sizeof mine, (cpu_set_t *)&mine);
    assert_int_equal(json_integer_value(at("facts.processors")), 1);
    assert_true(json_is_true(at("facts.oversubscribed")));
    ask("barrier", 0, 2, "core");
    assert_int_equal(json_integer_value(at("facts.processors")), 128);
}

static void invalid_queries_are_rejected(void **state)
{
    static const struct hud_question bad[] = { { "rotate", 8, 2, "core", NULL },
                                               { "bcast", 8, 0, "core", NULL },
                                               { "bcast", 8, 2, "moon", NULL },
                                               { "bcast", 8, 2, "core", "not a machine" },
                                               { NULL, 8, 2, "core", NULL } };
    char *text;

    (void)state;
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++)
        assert_int_equal(hud_explain_json(&bad[i], &text), HUD_ERR_ARGUMENT);
    assert_int_equal(hud_explain_json(NULL, &text), HUD_ERR_ARGUMENT);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(built_in_table_is_used),
        cmocka_unit_test_teardown(single_copy_is_used_if_facts_and_setting_allow_it, forget_known),
        cmocka_unit_test(memory_of_the_described_machine_counts),
        cmocka_unit_test(verdict_reports_lack_of_memory),
        cmocka_unit_test(every_collective_is_handled_with_little_memory),
        cmocka_unit_test(forced_algorithm_reports_what_prevents_it),
        cmocka_unit_test(ranks_are_placed_according_to_the_map),
        cmocka_unit_test(map_accepts_every_name_of_a_level),
        cmocka_unit_test(setting_takes_precedence_over_rules),
        cmocka_unit_test_teardown(facts_of_this_machine_do_not_apply_to_another, forget_known),
        cmocka_unit_test_teardown(line_of_the_tuning_file_is_reported, forget_tuning),
        cmocka_unit_test_teardown(tuning_file_with_too_many_rules_is_ignored_and_reported,
                                  forget_tuning),
        cmocka_unit_test(disabled_team_reports_the_reason),
        cmocka_unit_test(only_allowed_processors_count),
        cmocka_unit_test(invalid_queries_are_rejected),
    };
    int failed = cmocka_run_group_tests(tests, NULL, NULL);

    json_decref(answer);
    return failed;
}
