/* SPDX-License-Identifier: BSD-3-Clause */
/* test_wisdom_merge.c - which lines of the file of wisdom a writer keeps. */
#include "wisdom_files.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#include <cmocka.h>

/* Returns the lines of the file below its heading. */
static const char *lines_now(void)
{
    static char text[2 * WISDOM_MAX];

    text[files_get(files.place.path, text)] = '\0';
    const char *machine = strstr(text, "\nmachine ");
    assert_non_null(machine);
    assert_null(strstr(machine + 1, "\nmachine "));
    return strchr(machine + 1, '\n') + 1;
}

static void lines_of_other_versions_are_kept(void **state)
{
    static const char *const others[] = {
        "bcast ranks=2 bytes=0-8 -> mpi | ns=5 version=9\n",
        "bcast ranks=2- bytes=64K-1M -> queue fragment=4K | ns=5\n",
        "bcast ranks=2 bytes=9-16 -> oak | ns=5\n",
        "bcast ranks=2 bytes=17-32 -> mpi | ns=5 newer_note=1\n",
        "bcast ranks=2 bytes=33-64 -> queue oak=3 | ns=5\n",
        "\tmachinery oak=3\r\n"
    };
    char text[RULE_LINE + 8] = "# a person's comment\n", now[2 * RULE_LINE + 16], line[RULE_LINE];
    struct rule r = files_cell(3), first = files_cell(3);

    (void)state;
    for (size_t i = 0; i < sizeof others / sizeof *others; i++)
        strcat(text, others[i]);
    assert_true(files_write_cell(1));
    files_put(files.place.path, text, strlen(text));
    assert_true(files_write_cell(3));
    assert_true(hud_rule_write(&r, line, sizeof line));
    snprintf(now, sizeof now, "%s\n%s", line, strchr(text, '\n') + 1);
    assert_string_equal(lines_now(), now);

    /* a line of another version about the same cell is not replaced, and is not what is known */
    first.version = 9;
    assert_true(hud_rule_write(&first, line, sizeof line));
    snprintf(text, sizeof text, "%s\n", line);
    files_put(files.place.path, text, strlen(text));
    for (int i = 0; i < 3; i++) {
        r.samples += i;
        assert_true(hud_wisdom_write(&files.place, &r, 1, true, files.why));
        assert_true(hud_rule_write(&r, line, sizeof line));
        snprintf(now, sizeof now, "%s\n%s", line, text);
        assert_string_equal(lines_now(), now);
    }
}

/* Writes decisions about a cell, one after the other, and expects their times, newest first. */
static void two_states_of_a_cell_are_kept(void **state)
{
    struct rule mpi = files_cell(3), first = files_cell(3), second = files_cell(3);
    struct rule both[2];
    static const struct {
        const char *written, *times;
    } cases[] = {
        { "m", "1" },    { "1", "2 1" }, { "1", "3 1" },  { "2", "4 3" },
        { "m1", "5 6" }, { "m", "7 6" }, { "mm", "8 9" }, { "1", "10 8" },
    };
    int ns = 0;

    (void)state;
    for (int a = 0; hud_shm_algs[a]; a++)
        if (hud_coll_kind(hud_shm_algs[a]->coll) == mpi.kind) {
            first.row = second.row;
            second.row = a;
        }
    assert_true(first.row >= 0);
    first.version = hud_shm_algs[first.row]->version;
    second.version = hud_shm_algs[second.row]->version;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        int count = (int)strlen(cases[i].written);
        char times[64] = "";
        for (int w = 0; w < count; w++) {
            char what = cases[i].written[w];
            both[w] = what == 'm' ? mpi : what == '1' ? first : second;
            both[w].ns = (uint64_t)++ns;
            both[w].samples = 10 + ns;
        }
        assert_true(hud_wisdom_write(&files.place, both, count, true, files.why));
        for (int r = 0, rules = files_read(); r < rules; r++)
            snprintf(times + strlen(times), sizeof times - strlen(times), "%s%d", r > 0 ? " " : "",
                     (int)files.rules.rule[r].ns);
        assert_string_equal(times, cases[i].times);
    }
    assert_true(hud_wisdom_write(&files.place, &both[0], 1, true, files.why));
    assert_int_equal(files_read(), 2); /* nothing new: both stay */
}

/* Writes a decision of a program that knows the winner in another state of the machine from the
 * file, without its samples. */
static void winner_in_another_state_keeps_its_line(void **state)
{
    struct rule both[] = { files_cell(3), files_cell(3) };

    (void)state;
    both[1].samples = 7;
    both[1].runner_up_ns = 77;
    both[1].runner_up = -1;
    snprintf(both[1].date, sizeof both[1].date, "2026-11-28");
    assert_true(hud_wisdom_write(&files.place, &both[1], 1, true, files.why));
    for (int a = 0; hud_shm_algs[a]; a++)
        if (hud_coll_kind(hud_shm_algs[a]->coll) == both[0].kind)
            both[0].row = a;
    both[0].version = hud_shm_algs[both[0].row]->version;
    both[0].samples = 9;
    both[1].samples = 0;
    both[1].runner_up_ns = 0;
    snprintf(both[1].date, sizeof both[1].date, "2026-11-30");
    assert_true(hud_wisdom_write(&files.place, both, 2, true, files.why));
    assert_int_equal(files_read(), 2);
    assert_int_equal(files.rules.rule[0].samples, 9);
    assert_int_equal(files.rules.rule[1].samples, 7);
    assert_int_equal(files.rules.rule[1].runner_up_ns, 77);
    assert_string_equal(files.rules.rule[1].date, "2026-11-28");
}

/* Expects the lines of other versions at the end, since a reader ends after RULES_WRONG of them. */
static void lines_of_other_versions_hide_nothing(void **state)
{
    static char text[WISDOM_MAX];
    size_t used = 0;

    (void)state;
    assert_true(files_write_cell(1));
    for (int i = 0; i < 3 * RULES_WRONG; i++)
        used += (size_t)snprintf(text + used, sizeof text - used, "oak ranks=%d -> ash\n", i);
    files_put(files.place.path, text, used);
    for (int i = 2; i < 6; i++)
        assert_true(files_write_cell(i));
    assert_int_equal(files_read(), 4);
    assert_string_equal(strstr(lines_now(), "oak "), text);
}

static void oldest_lines_go(void **state)
{
    enum { CELLS = 3000, BATCH = 500 };
    static struct rule many[CELLS];
    struct stat st;
    struct rule newest = files_cell(CELLS);

    (void)state;
    for (int i = 0; i < CELLS; i++) {
        many[i] = files_cell(i);
        snprintf(many[i].date, sizeof many[i].date, "20%02d-01-01", 10 + (i * 7) % 80);
        assert_true(i % BATCH != BATCH - 1 ||
                    hud_wisdom_write(&files.place, &many[i + 1 - BATCH], BATCH, true, files.why));
    }
    snprintf(newest.date, sizeof newest.date, "2099-01-01");
    assert_true(hud_wisdom_write(&files.place, &newest, 1, true, files.why));
    assert_int_equal(stat(files.place.path, &st), 0);
    assert_in_range(st.st_size, WISDOM_MAX - 400, WISDOM_MAX);
    int count = files_read();
    assert_in_range(count, 1000, CELLS - 1);
    char oldest[RULE_DATE] = "2100-01-01";
    for (int i = 0; i < count; i++)
        if (strcmp(files.rules.rule[i].date, oldest) < 0)
            memcpy(oldest, files.rules.rule[i].date, RULE_DATE);
    for (int i = 0; i < CELLS; i++)
        assert_true(files_has(i) || strcmp(many[i].date, oldest) <= 0);
    assert_true(files_has(CELLS));
}

/* Fills the file with lines that are not understood: some without a date, then older and newer
 * ones. */
static void put_trees(int undated, int count[3])
{
    static const char *const first[] = { "oak", "ash", "elm" }, *const last[] = {
        "", " | date=2020-01-01", " | date=2030-01-01"
    };
    static char text[WISDOM_MAX];
    size_t used = 0;

    memset(count, 0, 3 * sizeof *count);
    for (int i = 0; used + 40 < sizeof text; i++) {
        int tree = count[0] < undated ? i % 3 : 1 + i % 2;
        count[tree]++;
        used += (size_t)snprintf(text + used, sizeof text - used, "%s -> %06d%s\n", first[tree], i,
                                 last[tree]);
    }
    files_put(files.place.path, text, used);
}

static void count_trees(int count[3])
{
    static const char *const first[] = { "\noak", "\nash", "\nelm" };

    for (int tree = 0; tree < 3; tree++) {
        count[tree] = 0;
        for (const char *at = lines_now(); (at = strstr(at, first[tree])) != NULL; at++)
            count[tree]++;
    }
}

static void oldest_lines_of_other_versions_go(void **state)
{
    int before[3], after[3];

    (void)state;
    assert_true(files_write_cell(1));
    put_trees(1000, before);
    assert_true(files_write_cell(2));
    count_trees(after);
    assert_in_range(after[0], before[0] - 100, before[0] - 10);
    assert_true(after[1] == before[1] && after[2] == before[2]);
    put_trees(3, before);
    assert_true(files_write_cell(2));
    count_trees(after);
    assert_int_equal(after[0], 0);
    assert_in_range(after[1], before[1] - 50, before[1] - 5);
    assert_int_equal(after[2], before[2]);
    assert_int_equal(files_read(), 1);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        FILES_TEST(lines_of_other_versions_are_kept),
        FILES_TEST(two_states_of_a_cell_are_kept),
        FILES_TEST(lines_of_other_versions_hide_nothing),
        FILES_TEST(oldest_lines_go),
        FILES_TEST(oldest_lines_of_other_versions_go),
        FILES_TEST(winner_in_another_state_keeps_its_line),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
