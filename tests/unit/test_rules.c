/* SPDX-License-Identifier: BSD-3-Clause */
/* test_rules.c - reading tables of choices: what is understood, what is refused and in which words,
 * where a tuning file is looked for. */
#include "core/choose/rules.h"
#include "core/config/text.h"

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
    return hud_rules_read(&rules, "t.toml", text, strlen(text), error, sizeof error);
}

static int end(void **state)
{
    (void)state;
    hud_rules_free(&rules);
    return 0;
}

static void the_built_in_table_is_whole(void **state)
{
    const struct rules *builtin = hud_rules_builtin();
    bool every[COLL_KINDS] = { false };

    (void)state;
    for (int i = 0; i < builtin->count; i++)
        every[builtin->rule[i].kind] |= builtin->rule[i].row >= 0;
    for (int kind = 0; kind < COLL_KINDS; kind++)
        assert_true(every[kind]);
}

static void a_rule_is_read_as_a_whole(void **state)
{
    (void)state;
    assert_true(
        read_text("[machine]\nnote = \"anything\"\n"
                  "[[bcast]]\nranks = \"2-8\"\nbytes = \"4K-1M\"\noversubscribed = "
                  "false\nwithin = \"numa\"\nalgorithm = \"queue\"\nfragment = \"16K\"\n"
                  "[[barrier]]\nranks = 64\nintel = true\ndivided = false\nalgorithm = \"mpi\"\n"
                  "[[bcast]]\nbytes = \"1M-\"\nalgorithm = \"queue\"\nfragment = 8192\n"
                  "holds = \"6/9 1.05\"\nlike = \"E7\"\n"));
    const struct rule *r = rules.rule;
    assert_int_equal(rules.count, 3);
    assert_int_equal(r[0].min_ranks, 2);
    assert_int_equal(r[0].max_ranks, 8);
    assert_int_equal(r[0].min_bytes, 4096);
    assert_int_equal(r[0].max_bytes, 1 << 20);
    assert_int_equal(r[0].oversubscribed, 0);
    assert_string_equal(r[0].within, "numa");
    assert_string_equal(hud_shm_algs[r[0].row]->name, "queue");
    assert_true(r[0].given[0] && !r[0].given[1]);
    assert_int_equal(r[0].param[0], 16384);
    assert_int_equal(r[0].line, 3);
    assert_int_equal(r[1].row, -1);
    assert_int_equal(r[1].kind, COLL_BARRIER);
    assert_int_equal(r[1].oversubscribed, -1);
    assert_int_equal(r[1].intel, 1);
    assert_int_equal(r[2].intel, -1);
    assert_int_equal(r[1].divided, 0);
    assert_int_equal(r[2].divided, -1);
    assert_int_equal(r[1].min_ranks, 64);
    assert_int_equal(r[1].max_ranks, 64);
    assert_int_equal(r[2].param[0], 8192);
    assert_string_equal(r[2].evidence, "E7");
    assert_true(r[2].like && !r[1].like);
    assert_int_equal(r[2].min_bytes, 1 << 20);
    assert_true(r[2].max_bytes == SIZE_MAX);
    assert_int_equal(r[1].points, 0);
    assert_int_equal(r[2].best, 6);
    assert_int_equal(r[2].points, 9);
    assert_int_equal(r[2].regret_percent, 105);
}

static void the_network_is_read(void **state)
{
    static const char *const wrong[][2] = {
        { "[network]\nalpha_ns = 5\nbeta = 1\n",
          "t.toml:3: beta is no line of [network] (accepted: alpha_ns, beta_ps, overhead_ns, "
          "send_ns)" },
        { "[network]\nalpha_ns = -5\n",
          "t.toml:2: alpha_ns = -5 is not understood (accepted: 0 to 1000000000)" },
        { "[network]\nbeta_ps = 7\noverhead_ns = 2\n[[barrier]]\nalgorithm = \"mpi\"\n",
          "t.toml:1: [network] is not whole (accepted: alpha_ns above 0, beta_ps, overhead_ns up "
          "to alpha_ns, send_ns up to overhead_ns)" },
        { "[network]\nalpha_ns = 7\nbeta_ps = 1\noverhead_ns = 2\nsend_ns = 3\n",
          "t.toml:1: [network] is not whole (accepted: alpha_ns above 0, beta_ps, overhead_ns up "
          "to alpha_ns, send_ns up to overhead_ns)" },
        { "[network]\nalpha_ns = 7\noverhead_ns = 6\n", /* no beta_ps */
          "t.toml:1: [network] is not whole (accepted: alpha_ns above 0, beta_ps, overhead_ns up "
          "to alpha_ns, send_ns up to overhead_ns)" },
        { "[network]\nalpha_ns = 7\nbeta_ps = 1\noverhead_ns = 8\n",
          "t.toml:1: [network] is not whole (accepted: alpha_ns above 0, beta_ps, overhead_ns up "
          "to alpha_ns, send_ns up to overhead_ns)" },
    };

    (void)state;
    assert_true(read_text("[network]\nalpha_ns = 21000\nbeta_ps = 8100\noverhead_ns = 400\n"
                          "[[barrier]]\nalgorithm = \"mpi\"\n"));
    assert_int_equal(rules.count, 1);
    assert_true(rules.network.alpha_ns == 21000 && rules.network.overhead_ns == 400 &&
                rules.network.send_ns == 400);
    assert_true(rules.network.beta_ns > 8.09 && rules.network.beta_ns < 8.11);
    hud_rules_free(&rules);
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        assert_false(read_text(wrong[i][0]));
        assert_string_equal(error, wrong[i][1]);
    }
    assert_true(read_text("[[barrier]]\nalgorithm = \"mpi\"\n"));
    assert_true(rules.network.alpha_ns == 0);
}

static void every_mistake_is_named_with_its_line(void **state)
{
    static const struct {
        const char *text, *says;
    } cases[] = {
        { "[[bcast]]\nbytes = \"x\"\nalgorithm = \"queue\"", "t.toml:2: bytes = \"x\"" },
        { "[[bcast]]\nbytes = \"8-4\"\nalgorithm = \"queue\"", "t.toml:2: bytes = \"8-4\"" },
        { "[[bcast]]\nranks = \"2-x\"\nalgorithm = \"queue\"", "t.toml:2: ranks = \"2-x\"" },
        { "[[bcast]]\nalgorithm = \"groups\"",
          "t.toml:2: algorithm = \"groups\" is none of bcast's (accepted: mpi, " },
        { "[[allreduce]]\ncheaper_than = \"slices\"\nalgorithm = \"levels\"",
          "t.toml:2: cheaper_than = \"slices\": the time model knows no such two" },
        { "[[allreduce]]\nalgorithm = \"levels\"\ncheaper_than = \"tree\"",
          "t.toml:3: cheaper_than = \"tree\": the time model knows no such two of allreduce" },
        { "[[allreduce]]\nalgorithm = \"tree\"\ncheaper_than = \"levels\"",
          "t.toml:3: cheaper_than = \"levels\": the time model knows no such two of allreduce "
          "(accepted: after an algorithm of: slices, "
          "levels)" },
        { "[[barrier]]\nalgorithm = \"groups\"\ncheaper_than = \"mcs\"",
          "t.toml:3: cheaper_than = \"mcs\": the time model knows no such two of barrier "
          "(accepted: after an algorithm of: (none))" },
        { "[[bcast]]\nwithin = \"board\"\nalgorithm = \"queue\"", "t.toml:2: within = \"board\"" },
        { "[[bcast]]\nholds = \"10/9 1.12\"", "t.toml:2: holds = \"10/9 1.12\"" },
        { "[[bcast]]\nholds = \"6/9 0.99\"", "t.toml:2: holds = \"6/9 0.99\"" },
        { "[[bcast]]\nholds = \"6/9 1.5\"", "t.toml:2: holds = \"6/9 1.5\"" },
        { "[[bcast]]\nholds = \"6/9 1.125\"", "t.toml:2: holds = \"6/9 1.125\"" },
        { "[[bcast]]\nwithin = \"l2,l3\"\nalgorithm = \"queue\"", "t.toml:2: within = \"l2,l3\"" },
        { "[[bcast]]\noversubscribed = 1\nalgorithm = \"queue\"", "t.toml:2: oversubscribed = 1" },
        { "[[bcast]]\nfragment = 8192\nalgorithm = \"queue\"", "t.toml:2: fragment is no line" },
        { "[[bcast]]\nalgorithm = \"queue\"\nfragment = \"1T\"", "t.toml:3: fragment = \"1T\"" },
        { "[[bcast]]\nalgorithm = \"queue\"\ntree = \"oak\"", "t.toml:3: tree = \"oak\"" },
        { "[[bcast]]\nalgorithm = \"queue\"\nfragment = [1]",
          "t.toml:3: fragment: not understood" },
        { "[[bcast]]\nranks = 2", "t.toml:1: the rule names no algorithm" },
        { "[[bcast]]\nranks = 2\n[[barrier]]\nalgorithm = \"groups\"",
          "t.toml:1: the rule names no algorithm" },
        { "[[rotate]]\nalgorithm = \"queue\"", "t.toml:1: rotate: not understood" },
        { "answer = 42", "t.toml:1: answer: not understood" },
        { "[[bcast]\n", "t.toml:1: " },
    };

    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        assert_false(read_text(cases[i].text));
        if (strncmp(error, cases[i].says, strlen(cases[i].says)) != 0)
            fail_msg("%s\nis answered by\n%s", cases[i].text, error);
        assert_int_equal(rules.count, 0);
    }
}

/* What is no TOML is one line as well, in every build: toml++ has assertions that a malformed text
 * can reach. */
static void a_malformed_file_is_one_line(void **state)
{
    static const struct {
        const char *text, *says;
    } cases[] = {
        { "X=3\n[,", "t.toml:2: " },
        { "[,", "t.toml:1: " },
        { "[a\n", "t.toml:1: " },
        { "a = {b = ", "t.toml:1: " },
        { "a = [1, 2", "t.toml:1: " },
        { "[[bcast]]\nranks = \"2", "t.toml:2: " },
        { "[[bcast]]\nranks = 99999999999999999999", "t.toml:2: " },
        { "[[bcast]]\nranks = 07:60:00", "t.toml:2: " },
        { "[[bcast]]\nranks = \"\xff\"", "t.toml:" },
        { "[[bcast]]\nranks = \"2\\n\\u001b[31m3\"\nalgorithm = \"queue\"",
          "t.toml:2: ranks = \"2??[31m3\" is not understood" },
        { "[[bcast]]\n\"fr\\nagment\" = 1", "t.toml:2: fr?agment is no line of a rule" },
        { "[[bcast]]\nalgorithm = \"queue\\u0000\"", "t.toml:2: algorithm: not understood" },
        { "[[bcast]]\nalgorithm = \"mpi\"\n\"ranks\\u0000\" = 2",
          "t.toml:3: ranks: not understood" },
        { "[[\"bcast\\u0000\"]]\nalgorithm = \"mpi\"", "t.toml:1: bcast: not understood" },
        { "a = [[[[[[[[1]]]]]]]]", "t.toml:1: " },
        { "[[bcast]]\nr\xc3\xa9 = 1", "t.toml:2: " },
    };

    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        assert_false(read_text(cases[i].text));
        if (strncmp(error, cases[i].says, strlen(cases[i].says)) != 0 ||
            !hud_text_is_plain(error) || !strstr(error, "(accepted: "))
            fail_msg("%s\nis answered by\n%s", cases[i].text, error);
    }
}

/* Tables within tables are freed recursively: a stack would not hold those of a line of this
 * length. */
static void a_deep_file_does_not_overflow_the_stack(void **state)
{
    enum { DEEP = 500000 };
    char *text = malloc(2 * DEEP + 16);

    (void)state;
    assert_non_null(text);
    for (int form = 0; form < 2; form++) {
        char *at = text;
        at += sprintf(at, "%s", form == 0 ? "\n[a" : "\na");
        for (int i = 1; i < DEEP; i++)
            at += sprintf(at, ".a");
        sprintf(at, "%s", form == 0 ? "]\n" : " = 1\n");
        assert_false(read_text(text));
        assert_memory_equal(error, "t.toml:2: a line with more than 256 dots", 40);
    }
    free(text);
}

static void rules_in_one_line_are_read_in_order(void **state)
{
    (void)state;
    assert_true(read_text("bcast = [{ ranks = 2, algorithm = \"queue\", fragment = 8192 }, { "
                          "algorithm = \"mpi\" }]"));
    assert_int_equal(rules.count, 2);
    assert_int_equal(rules.rule[0].param[0], 8192);
    assert_int_equal(rules.rule[1].row, -1);
}

static void a_long_path_does_not_hide_the_mistake(void **state)
{
    char file[600];

    (void)state;
    memset(file, 'p', sizeof file);
    memcpy(file + sizeof file - 8, "/t.toml", 8);
    assert_false(hud_rules_read(&rules, file, "answer = 42", 11, error, sizeof error));
    assert_memory_equal(error, "...ppp", 6);
    assert_non_null(strstr(error, "p/t.toml:1: answer: not understood (accepted: "));
    assert_int_equal(error[strlen(error) - 1], ')'); /* the whole line */
}

static void write_file(const char *path, const char *text)
{
    FILE *f = fopen(path, "we");

    assert_non_null(f);
    assert_true(fputs(text, f) >= 0);
    assert_int_equal(fclose(f), 0);
}

static void the_users_file_is_found_if_it_is_of_this_machine(void **state)
{
    char folder[] = "rules.XXXXXX", path[256], here[256], full[600], text[512], cpu[256];

    (void)state;
    assert_non_null(mkdtemp(folder));
    assert_non_null(getcwd(here, sizeof here));
    snprintf(full, sizeof full, "%s/%s", here, folder);
    setenv("XDG_CONFIG_HOME", full, 1);
    snprintf(path, sizeof path, "%s/huddle", folder);
    assert_int_equal(mkdir(path, 0700), 0);
    snprintf(path, sizeof path, "%s/huddle/tuning.toml", folder);
    assert_true(hud_rules_find(&rules, "", error, sizeof error)); /* there is none yet */
    assert_int_equal(rules.count, 0);

    hud_topo_cpu_name(cpu, sizeof cpu);
    snprintf(text, sizeof text,
             "[machine]\nprocessors = %ld\ncpu = \"%s\"\n[[barrier]]\nalgorithm = \"mpi\"\n",
             sysconf(_SC_NPROCESSORS_ONLN), cpu);
    write_file(path, text);
    assert_true(hud_rules_find(&rules, "", error, sizeof error));
    assert_int_equal(rules.count, 1);
    hud_rules_free(&rules);
    assert_true(hud_rules_find(&rules, "off", error, sizeof error));
    assert_int_equal(rules.count, 0);

    write_file(path, "[machine]\nprocessors = 100000\n[[barrier]]\nalgorithm = \"mpi\"\n");
    assert_true(hud_rules_find(&rules, "", error, sizeof error));
    assert_int_equal(rules.count, 0);
    assert_true(hud_rules_find(&rules, path, error, sizeof error)); /* named: it serves */
    assert_int_equal(rules.count, 1);
    hud_rules_free(&rules);

    write_file(path, "[[barrier]]\nalgorithm = \"oak\"\n");
    assert_false(hud_rules_find(&rules, "", error, sizeof error));
    unlink(path);
    assert_false(hud_rules_find(&rules, path, error, sizeof error));
    assert_non_null(strstr(error, "there is no such file"));
    assert_false(hud_rules_find(&rules, "/dev/null", error, sizeof error));
    assert_memory_equal(error, "HUDDLE_TUNING=/dev/null ", 24);
    /* nobody named these: what cannot be opened is not there; a name that is a pipe does not wait
     * for a writer */
    setenv("XDG_CONFIG_HOME", "/dev/null", 1);
    assert_true(hud_rules_find(&rules, "", error, sizeof error));
    assert_false(hud_rules_find(&rules, "/dev/null/tuning.toml", error, sizeof error));
    assert_int_equal(mkfifo(path, 0600), 0);
    assert_false(hud_rules_find(&rules, path, error, sizeof error));
    unlink(path);
    snprintf(path, sizeof path, "%s/huddle", folder);
    rmdir(path);
    rmdir(folder);
}

/* What has no end, or ends later than it says: a device, a folder, a file that is larger than fstat
 * says, one that is too large. */
static void what_is_no_file_is_not_read_for_ever(void **state)
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
    assert_false(hud_rules_find(&rules, "/proc/self/status", error,
                                sizeof error)); /* of 0 bytes, as it says */
    assert_memory_equal(error, "HUDDLE_TUNING=/proc/self/status:1: ", 35);
    assert_true(fd >= 0);
    assert_int_equal(write(fd, "#", 1), 1);
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
        cmocka_unit_test(the_built_in_table_is_whole),
        cmocka_unit_test_teardown(a_rule_is_read_as_a_whole, end),
        cmocka_unit_test(every_mistake_is_named_with_its_line),
        cmocka_unit_test(a_malformed_file_is_one_line),
        cmocka_unit_test(a_deep_file_does_not_overflow_the_stack),
        cmocka_unit_test_teardown(rules_in_one_line_are_read_in_order, end),
        cmocka_unit_test(a_long_path_does_not_hide_the_mistake),
        cmocka_unit_test(what_is_no_file_is_not_read_for_ever),
        cmocka_unit_test_teardown(the_network_is_read, end),
        cmocka_unit_test_teardown(the_users_file_is_found_if_it_is_of_this_machine, end),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
