/* SPDX-License-Identifier: BSD-3-Clause */
/* test_rules.c - reading tables of choices: accepted rules, error messages, and where a tuning file
 * is searched. */
#include "core/config/text.h"
#include "core/plan/plan.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

static struct rules rules;
static char error[2 * SET_TEXT];

static bool read_text(const char *text)
{
    return hud_rules_read(&rules, "t.rules", text, strlen(text), error, sizeof error);
}

static int end(void **state)
{
    (void)state;
    hud_rules_free(&rules);
    return 0;
}

static void built_in_table_has_rules_for_all_collectives(void **state)
{
    const struct rules *builtin = hud_rules_builtin();
    bool every[COLL_KINDS] = { false };

    (void)state;
    for (int i = 0; i < builtin->count; i++)
        every[builtin->rule[i].kind] |= builtin->rule[i].row >= 0;
    for (int kind = 0; kind < COLL_KINDS; kind++)
        assert_true(every[kind]);
}

static void rules_are_read_completely(void **state)
{
    (void)state;
    assert_true(read_text(
        "# a comment\n\n  \t\r\n"
        "machine note=\"anything # here\"\n"
        "bcast ranks=2-8 bytes=4K-1M oversubscribed=no within=numa -> queue fragment=16K\n"
        "\tbarrier divided=no quick=yes ranks=64 -> mpi#none\r\n"
        "bcast bytes=1M- -> queue fragment=8192 | evidence=E7,E12 # why\n"
        "allreduce cheaper_than=slices -> levels | ns=32000 samples=214 "
        "runner_up=slices:35000 mpi_ns=88000 date=2026-11-29 evidence=prior"));
    const struct rule *r = rules.rule;
    assert_int_equal(rules.count, 4);
    assert_int_equal(r[0].min_ranks, 2);
    assert_int_equal(r[0].max_ranks, 8);
    assert_int_equal(r[0].min_bytes, 4096);
    assert_int_equal(r[0].max_bytes, 1 << 20);
    assert_int_equal(r[0].oversubscribed, 0);
    assert_string_equal(r[0].within, "numa");
    assert_string_equal(hud_shm_algs[r[0].row]->name, "queue");
    assert_true(r[0].given[0] && !r[0].given[1]);
    assert_int_equal(r[0].param[0], 16384);
    assert_int_equal(r[0].line, 5);
    assert_true(r[0].ns == 0 && r[0].mpi_ns == 0 && r[0].runner_up_ns == 0 && r[0].samples == 0);
    assert_int_equal(r[1].row, -1);
    assert_int_equal(r[1].kind, COLL_BARRIER);
    assert_int_equal(r[1].oversubscribed, -1);
    assert_int_equal(r[1].quick, 1);
    assert_int_equal(r[2].quick, -1);
    assert_int_equal(r[1].divided, 0);
    assert_int_equal(r[2].divided, -1);
    assert_int_equal(r[1].min_ranks, 64);
    assert_int_equal(r[1].max_ranks, 64);
    assert_int_equal(r[2].param[0], 8192);
    assert_string_equal(r[2].evidence, "E7 E12");
    assert_int_equal(r[2].min_bytes, 1 << 20);
    assert_true(r[2].max_bytes == SIZE_MAX);
    assert_string_equal(r[1].evidence, "");
    assert_string_equal(r[3].evidence, "prior");
    assert_string_equal(hud_shm_algs[r[3].than]->name, "slices");
    assert_int_equal(r[3].ns, 32000);
    assert_int_equal(r[3].samples, 214);
    assert_int_equal(r[3].runner_up, r[3].than);
    assert_int_equal(r[3].runner_up_ns, 35000);
    assert_int_equal(r[3].mpi_ns, 88000);
    assert_string_equal(r[3].date, "2026-11-29");
}

static void lines_of_wisdom_are_read(void **state)
{
    (void)state;
    assert_true(read_text("allreduce -> levels | before=mpi:9 version=2\n"
                          "reduce reduction=ordered -> mpi\nscan reduction=exact -> mpi\n"
                          "allreduce reduction=inexact -> mpi"));
    const struct rule *r = rules.rule;
    assert_int_equal(rules.count, 4);
    assert_int_equal(r[0].before, -1);
    assert_int_equal(r[0].before_ns, 9);
    assert_int_equal(r[0].version, 2);
    assert_int_equal(r[0].reduction, -1);
    assert_int_equal(r[1].reduction, PLAN_IN_ORDER / COLL_KINDS);
    assert_int_equal(r[2].reduction, PLAN_ANY_ORDER / COLL_KINDS);
    assert_int_equal(r[3].reduction, PLAN_INEXACT / COLL_KINDS);
    assert_int_equal(r[1].version, 0);
}

static void rule_of_several_nodes_names_their_algorithms(void **state)
{
    const struct plan_facts one = { .ranks = 8 }, four = { .ranks = 8, .nodes = 4 };

    (void)state;
    assert_true(read_text("bcast nodes=4 -> nodes tree=chain fragment=8K | runner_up=nodes:9"));
    const struct rule *r = rules.rule;
    assert_int_equal(r->nodes, 4);
    assert_string_equal(hud_shm_nodes_algs[r->row]->name, "nodes");
    assert_int_equal(r->runner_up, r->row);
    assert_int_equal(r->param[0], SHAPE_CHAIN);
    assert_true(!r->given[1] && r->given[2] && r->param[2] == 8192);
    assert_string_equal(hud_rule_misfit(r, &one, COLL_BCAST, 8), "for another number of nodes");
    assert_null(hud_rule_misfit(r, &four, COLL_BCAST, 8));
}

#define NOT_WHOLE                                                                                  \
    "t.rules:1: network is not whole (accepted: alpha_ns above 0, beta_ps, overhead_ns up to "     \
    "alpha_ns, send_ns up to overhead_ns)"

static void network_is_read(void **state)
{
    static const char *const wrong[][2] = {
        { "network alpha_ns=5 beta=1\n",
          "t.rules:1: beta is not a value of network (accepted: alpha_ns, beta_ps, overhead_ns, "
          "send_ns)" },
        { "\nnetwork alpha_ns=-5\n",
          "t.rules:2: alpha_ns=-5 is not understood (accepted: 0 to 1000000000)" },
        { "network alpha_ns\n",
          "t.rules:1: alpha_ns= is not understood (accepted: 0 to 1000000000)" },
        { "network beta_ps=7 overhead_ns=2\nbarrier -> mpi\n", NOT_WHOLE },
        { "network alpha_ns=7 beta_ps=1 overhead_ns=2 send_ns=3\n", NOT_WHOLE },
        { "network alpha_ns=7 overhead_ns=6\n", NOT_WHOLE },
        { "network alpha_ns=7 beta_ps=1 overhead_ns=8\n", NOT_WHOLE },
        { "network alpha_ns=7 beta_ps=1 overhead_ns=7\nnetwork\n",
          "t.rules:2: network: a second line (accepted: one)" },
    };

    (void)state;
    assert_true(read_text("network alpha_ns=21000 beta_ps=8100 overhead_ns=400\nbarrier -> mpi\n"));
    assert_int_equal(rules.count, 1);
    assert_true(rules.network.alpha_ns == 21000 && rules.network.overhead_ns == 400 &&
                rules.network.send_ns == 400);
    assert_true(rules.network.beta_ns > 8.09 && rules.network.beta_ns < 8.11);
    hud_rules_free(&rules);
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        assert_false(read_text(wrong[i][0]));
        assert_string_equal(error, wrong[i][1]);
    }
    assert_true(read_text("barrier -> mpi\n"));
    assert_true(rules.network.alpha_ns == 0);
}

static const struct {
    const char *text, *says;
} mistakes[] = {
    { "bcast bytes=x -> queue",
      "t.rules:1: bytes=x is not understood (accepted: 64K, 4K-1M, 1M-; K, M and G)" },
    { "\nbcast bytes=8-4 -> queue", "t.rules:2: bytes=8-4 is not understood" },
    { "bcast bytes -> queue", "t.rules:1: bytes= is not understood" },
    { "bcast ranks=2-x -> queue", "t.rules:1: ranks=2-x is not understood" },
    { "bcast ranks=\"2\"-x -> queue", "t.rules:1: -x -> queue: no space before the next word" },
    { "bcast ranks=\"2 -> queue", "t.rules:1: ranks=\"2 -> queue: the text has no end" },
    { "bcast ranks=2 ranks=3 -> queue", "t.rules:1: ranks: a second time (accepted: once)" },
    { "bcast ranks=2\n \tbarrier -> oak",
      "t.rules:1: bcast: the rule names no algorithm (accepted: -> ALGORITHM)" },
    { "bcast ranks=2 # -> queue", "t.rules:1: bcast: the rule names no algorithm" },
    { "bcast ->", "t.rules:1: ->  is not an algorithm of bcast (accepted: mpi, " },
    { "bcast -> groups", "t.rules:1: -> groups is not an algorithm of bcast (accepted: mpi, " },
    { "bcast -> queue=1", "t.rules:1: -> queue is not an algorithm of bcast (accepted: mpi, " },
    { "alltoallv bytes=8 -> mpi",
      "t.rules:1: bytes=8: each rank knows only its own bytes of alltoallv" },
    { "allreduce cheaper_than=tree -> levels",
      "t.rules:1: cheaper_than=tree: the time model does not know both it and levels "
      "(accepted: of allreduce slices, levels)" },
    { "allreduce cheaper_than=levels -> tree", "t.rules:1: cheaper_than=levels: the time" },
    { "allreduce cheaper_than=levels -> mpi", "t.rules:1: cheaper_than=levels: the time" },
    { "barrier cheaper_than=mcs -> groups",
      "t.rules:1: cheaper_than=mcs: the time model does not know both it and groups "
      "(accepted: of barrier none)" },
    { "bcast within=board -> queue", "t.rules:1: within=board is not understood" },
    { "bcast within=l2,l3 -> queue", "t.rules:1: within=l2,l3 is not understood" },
    { "bcast oversubscribed=1 -> queue",
      "t.rules:1: oversubscribed=1 is not understood (accepted: yes, no)" },
    { "bcast fragment=8192 -> queue", "t.rules:1: fragment is not a condition of a rule" },
    { "bcast evidence=E7 -> queue", "t.rules:1: evidence is not a condition of a rule" },
    { "bcast -> queue fragment=1T", "t.rules:1: fragment=1T is not understood" },
    { "bcast -> queue fragment=8K fragment=8K", "t.rules:1: fragment: a second time" },
    { "bcast -> queue tree=oak", "t.rules:1: tree=oak is not understood" },
    { "bcast -> queue ranks=2", "t.rules:1: ranks is not a parameter of queue (accepted: fra" },
    { "bcast -> mpi fragment=8K",
      "t.rules:1: fragment is not a parameter of mpi (accepted: none)" },
    { "bcast -> mpi | evidence=7", "t.rules:1: evidence=7 is not understood" },
    { "bcast -> mpi | evidence=E7,", "t.rules:1: evidence=E7, is not understood" },
    { "bcast -> mpi | evidence=E7 evidence=E8", "t.rules:1: evidence: a second time" },
    { "bcast -> mpi | evidence=prior,E7", "t.rules:1: evidence=prior,E7 is not understood" },
    { "bcast -> mpi | evidence", "t.rules:1: evidence= is not understood" },
    { "bcast -> mpi | second", "t.rules:1: second is not a note of a rule (accepted: evidence, " },
    { "bcast -> mpi | ranks=2", "t.rules:1: ranks is not a note of a rule (accepted: evidence, " },
    { "bcast -> mpi | ns=0", "t.rules:1: ns=0 is not understood" },
    { "bcast -> mpi | samples=many", "t.rules:1: samples=many is not understood" },
    { "bcast -> mpi | runner_up=oak:1", "t.rules:1: runner_up=oak:1 is not understood" },
    { "bcast -> mpi | runner_up=queue", "t.rules:1: runner_up=queue is not understood" },
    { "bcast -> mpi | before=oak:1", "t.rules:1: before=oak:1 is not understood" },
    { "bcast -> mpi | version=new", "t.rules:1: version=new is not understood" },
    { "bcast reduction=exact -> mpi",
      "t.rules:1: reduction=exact: bcast does not reduce (accepted: no reduction)" },
    { "scan reduction=any -> mpi",
      "t.rules:1: reduction=any is not understood (accepted: exact, ordered, inexact)" },
    { "bcast nodes=0 -> nodes", "t.rules:1: nodes=0 is not understood" },
    { "bcast nodes=2 -> queue", "t.rules:1: -> queue is not an algorithm of bcast (accepted: mpi, "
                                "nodes" }, /* baselines follow where the laboratory is built in */
    { "bcast nodes=2 -> nodes fragment=0", "t.rules:1: fragment=0 is not understood" },
    { "bcast nodes=2 -> nodes tree=oak", "t.rules:1: tree=oak is not understood" },
    { "bcast nodes=2 -> nodes queue=1",
      "t.rules:1: queue is not a parameter of nodes (accepted: tree" },
    { "bcast -> nodes", "t.rules:1: -> nodes is not an algorithm of bcast (accepted: mpi, " },
    { "bcast -> mpi | date=today", "t.rules:1: date=today is not understood" },
    { "bcast -> mpi | date=2026-11-290", "t.rules:1: date=2026-11-290 is not understood" },
    { "rotate -> queue", "t.rules:1: rotate: not understood" },
    { "answer=42", "t.rules:1: answer: not understood" },
    { "bcast=1 -> queue", "t.rules:1: bcast: not understood" },
    { "machine cpu", "t.rules:1: cpu: no value" },
    { "# old\n\n[[bcast]]\nranks = \"2-8\"\n",
      "t.rules:3: [[bcast]]: this is the TOML format of earlier versions (accepted: a line "
      "per rule; run `huddle tune` again)" },
    { "[machine]\ncpu = \"x\"\n", "t.rules:1: [machine]: this is the TOML format" },
    { "bcast ranks=2\033[31m3 -> queue", "t.rules:1: ranks=2?[31m3 is not understood" },
    { "\xff\xd8\x10JFIF", "t.rules:1: bytes that are not text: not understood" },
    { "bcast ranks=\xff -> queue", "t.rules:1: ranks=? is not understood" },
};

/* Expects one line with the accepted values. */
static void mistakes_are_reported_with_their_line(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof mistakes / sizeof *mistakes; i++) {
        assert_false(read_text(mistakes[i].text));
        if (strncmp(error, mistakes[i].says, strlen(mistakes[i].says)) != 0 ||
            !hud_text_is_plain(error) || !strstr(error, "(accepted: "))
            fail_msg("%s\nis answered by\n%s", mistakes[i].text, error);
        assert_int_equal(rules.count, 0);
    }
}

static void lines_that_are_too_long_or_binary_are_rejected(void **state)
{
    enum { LONG = 5000 };
    char *text = malloc(LONG + 1);

    (void)state;
    assert_non_null(text);
    memset(text, 'x', LONG);
    text[LONG] = '\0';
    assert_false(read_text(text));
    assert_string_equal(error, "t.rules:1: a line of 5000 bytes (accepted: at most 1023)");
    text[0] = '#'; /* a comment may have any length */
    assert_true(read_text(text));
    free(text);
    assert_false(hud_rules_read(&rules, "t.rules", "a\n\0\nb", 5, error, sizeof error));
    assert_string_equal(error, "t.rules:1: a: not understood (accepted: lines that begin with "
                               "machine, network, barrier, bcast, allreduce...)");
    assert_false(hud_rules_read(&rules, "t.rules", "\n\0\nb", 4, error, sizeof error));
    assert_string_equal(error, "t.rules:2: a zero byte in the line (accepted: text)");
    assert_true(hud_rules_read(&rules, "t.rules", "bcast -> mpi\nbcast", 12, error, sizeof error));
    assert_int_equal(rules.count, 1); /* no byte behind the text was read */
}

static void long_path_is_shortened_in_messages(void **state)
{
    char file[600];

    (void)state;
    memset(file, 'p', sizeof file);
    memcpy(file + sizeof file - 9, "/t.rules", 9);
    assert_false(hud_rules_read(&rules, file, "answer=42", 9, error, sizeof error));
    assert_memory_equal(error, "...ppp", 6);
    assert_non_null(strstr(error, "p/t.rules:1: answer: not understood (accepted: "));
    assert_int_equal(error[strlen(error) - 1], ')'); /* the whole line */
}

static void write_file(const char *path, const char *text)
{
    FILE *f = fopen(path, "we");

    assert_non_null(f);
    assert_true(fputs(text, f) >= 0);
    assert_int_equal(fclose(f), 0);
}

static void file_of_the_user_is_found_if_for_this_machine(void **state)
{
    char folder[] = "rules.XXXXXX", path[256], here[256], full[600], text[512], cpu[256];

    (void)state;
    assert_non_null(mkdtemp(folder));
    assert_non_null(getcwd(here, sizeof here));
    snprintf(full, sizeof full, "%s/%s", here, folder);
    setenv("XDG_CONFIG_HOME", full, 1);
    snprintf(path, sizeof path, "%s/huddle", folder);
    assert_int_equal(mkdir(path, 0700), 0);
    snprintf(path, sizeof path, "%s/huddle/tuning.rules", folder);
    assert_true(hud_rules_find(&rules, "", error, sizeof error)); /* the file does not exist yet */
    assert_int_equal(rules.count, 0);

    hud_topo_cpu_name(cpu, sizeof cpu);
    snprintf(text, sizeof text, "machine processors=%ld cpu=\"%s\"\nbarrier -> mpi\n",
             sysconf(_SC_NPROCESSORS_ONLN), cpu);
    write_file(path, text);
    assert_true(hud_rules_find(&rules, "", error, sizeof error));
    assert_int_equal(rules.count, 1);
    hud_rules_free(&rules);
    assert_true(hud_rules_find(&rules, "off", error, sizeof error));
    assert_int_equal(rules.count, 0);

    write_file(path, "machine processors=100000\nbarrier -> mpi\n");
    assert_true(hud_rules_find(&rules, "", error, sizeof error));
    assert_int_equal(rules.count, 0);
    assert_true(hud_rules_find(&rules, path, error, sizeof error)); /* a file given by name is
                                                                     * used */
    assert_int_equal(rules.count, 1);
    hud_rules_free(&rules);

    write_file(path, "barrier -> oak\n");
    assert_false(hud_rules_find(&rules, "", error, sizeof error));
    write_file(path, " \t\r\n\n");
    assert_false(hud_rules_find(&rules, "", error, sizeof error));
    assert_non_null(
        strstr(error, "tuning.rules: the file is empty (accepted: a rule in each line"));
    unlink(path);
    assert_false(hud_rules_find(&rules, path, error, sizeof error));
    assert_non_null(strstr(error, "there is no such file"));
    assert_false(hud_rules_find(&rules, "/dev/null", error, sizeof error));
    assert_memory_equal(error, "HUDDLE_TUNING=/dev/null ", 24);
    /* not given by name: a path that cannot be opened counts as absent; opening a pipe does not
     * wait for a writer */
    setenv("XDG_CONFIG_HOME", "/dev/null", 1);
    assert_true(hud_rules_find(&rules, "", error, sizeof error));
    assert_false(hud_rules_find(&rules, "/dev/null/tuning.rules", error, sizeof error));
    assert_int_equal(mkfifo(path, 0600), 0);
    assert_false(hud_rules_find(&rules, path, error, sizeof error));
    unlink(path);
    snprintf(path, sizeof path, "%s/huddle", folder);
    rmdir(path);
    rmdir(folder);
}

/* Reads files without an end or with a wrong size: a device, a folder, a file larger than its size,
 * an empty file, and a file that is too large. */
static void special_files_are_rejected(void **state)
{
    static const char *const paths[] = { "/dev/zero", "/dev/null",      "/dev/tty",
                                         "/",         "/proc/self/mem", "bad\n\xff" };
    char path[] = "rules.XXXXXX";
    int fd = mkstemp(path);

    (void)state;
    for (size_t i = 0; i < sizeof paths / sizeof *paths; i++) {
        assert_false(hud_rules_find(&rules, paths[i], error, sizeof error));
        assert_non_null(strstr(error, "(accepted: "));
        assert_true(hud_text_is_plain(error));
    }
    assert_false(
        hud_rules_find(&rules, "/proc/self/status", error, sizeof error)); /* its size is 0 */
    assert_memory_equal(error, "HUDDLE_TUNING=/proc/self/status:1: ", 35);
    assert_true(fd >= 0);
    assert_false(hud_rules_find(&rules, path, error, sizeof error));
    assert_memory_equal(error, "HUDDLE_TUNING=rules.", 20);
    assert_non_null(strstr(error, ": the file is empty (accepted: "));
    assert_false(hud_rules_read_file(&rules, "HUDDLE_LAB_PRIOR", path, error, sizeof error));
    assert_memory_equal(error, "HUDDLE_LAB_PRIOR=rules.", 23);
    assert_int_equal(write(fd, "#", 1), 1); /* a comment shows that somebody wrote the file */
    assert_true(hud_rules_find(&rules, path, error, sizeof error));
    assert_int_equal(ftruncate(fd, 0), 0);
    assert_int_equal(lseek(fd, 0, SEEK_SET), 0);
    assert_int_equal(write(fd, "b", 1), 1);
    assert_int_equal(ftruncate(fd, 1 << 20), 0);
    assert_false(hud_rules_find(&rules, path, error, sizeof error));
    assert_non_null(strstr(error, ":1: ")); /* read, and full of zeros */
    assert_int_equal(ftruncate(fd, (1 << 20) + 1), 0);
    assert_false(hud_rules_find(&rules, path, error, sizeof error));
    assert_non_null(strstr(error, "at most 1M"));
    close(fd);
    unlink(path);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(built_in_table_has_rules_for_all_collectives),
        cmocka_unit_test_teardown(rules_are_read_completely, end),
        cmocka_unit_test_teardown(rule_of_several_nodes_names_their_algorithms, end),
        cmocka_unit_test(mistakes_are_reported_with_their_line),
        cmocka_unit_test_teardown(lines_that_are_too_long_or_binary_are_rejected, end),
        cmocka_unit_test(long_path_is_shortened_in_messages),
        cmocka_unit_test(special_files_are_rejected),
        cmocka_unit_test_teardown(lines_of_wisdom_are_read, end),
        cmocka_unit_test_teardown(network_is_read, end),
        cmocka_unit_test_teardown(file_of_the_user_is_found_if_for_this_machine, end),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
