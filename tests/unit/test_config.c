/* SPDX-License-Identifier: BSD-3-Clause */
/* test_config.c - settings: defaults, units, words, invalid values and their error messages. */
#include "coll/coll.h"
#include "core/config/config.h"
#include "core/config/text.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

static struct config config;

/* Reads these host settings and an empty environment. */
static void read_host(const char *const *settings)
{
    hud_config_read(settings, &config);
}

#define READ(...) read_host((const char *const[]){ __VA_ARGS__, NULL })

static void defaults_are_valid(void **state)
{
    (void)state;
    hud_config_read(NULL, &config);
    assert_string_equal(config.error, "");
    assert_int_equal(config.number[SET_ON], SWITCH_ON);
    assert_int_equal(config.number[SET_MEMORY], -1);
    assert_int_equal(config.number[SET_LEASE], 1536 << 10);
    assert_int_equal(hud_config_forced(&config, COLL_BCAST), -1);
    assert_string_equal(config.origin[SET_MEMORY], "default");
}

static void units_are_applied(void **state)
{
    (void)state;
    READ("HUDDLE_MEMORY=3M", "HUDDLE_LEASE=17k", "HUDDLE_LAB_BCAST_QUEUE_FRAGMENT=8K");
    assert_string_equal(config.error, "");
    assert_int_equal(config.number[SET_MEMORY], 3 << 20);
    assert_int_equal(config.number[SET_LEASE], 17 << 10);
    for (int a = 0; hud_shm_algs[a]; a++)
        if (strcmp(hud_shm_algs[a]->name, "queue") == 0)
            assert_int_equal(config.param[a][0], 8192);
}

static void words_are_accepted(void **state)
{
    (void)state;
    READ("HUDDLE_BARRIER=mpi", "HUDDLE_BCAST=queue", "HUDDLE=0");
    assert_string_equal(config.error, "");
    assert_int_equal(hud_config_forced(&config, COLL_BARRIER), -2);
    assert_string_equal(hud_shm_algs[hud_config_forced(&config, COLL_BCAST)]->name, "queue");
    assert_int_equal(config.number[SET_ON], SWITCH_OFF);
}

static void wisdom_is_a_word_or_a_path(void **state)
{
    static const struct {
        const char *setting;
        enum config_wisdom means;
    } given[] = {
        { "HUDDLE_WISDOM=off", WISDOM_OFF },   { "HUDDLE_WISDOM=0", WISDOM_OFF },
        { "HUDDLE_WISDOM=on", WISDOM_ON },     { "HUDDLE_WISDOM=1", WISDOM_ON },
        { "HUDDLE_WISDOM=read", WISDOM_READ }, { "HUDDLE_WISDOM=./my.rules", WISDOM_FILE }
    };

    (void)state;
    for (size_t i = 0; i < sizeof given / sizeof *given; i++) {
        READ(given[i].setting);
        assert_string_equal(config.error, "");
        assert_int_equal(config.number[SET_WISDOM], given[i].means);
    }
    uint64_t agree = config.agree;
    assert_string_equal(config.text[SET_WISDOM], "./my.rules");
    READ("HUDDLE_WISDOM=/another/file"); /* only one rank reads it */
    assert_true(config.agree == agree);
    READ("HUDDLE_WISDOM=read");
    assert_true(config.agree != agree);
    READ("HUDDLE_WISDOM=my.rules");
    assert_string_equal(config.error, "HUDDLE_WISDOM=my.rules is not valid (accepted: off, "
                                      "on, read or a path with a /)");
}

static void empty_value_means_the_default(void **state)
{
    (void)state;
    READ("HUDDLE_MEMORY=");
    assert_string_equal(config.error, "");
    assert_string_equal(config.origin[SET_MEMORY], "default");
    READ("HUDDLE=");
    assert_int_equal(config.number[SET_ON], SWITCH_ON);
}

/* Expects a one-line message with the variable, the value and the accepted values. */
static void bad_values_are_reported(void **state)
{
    static const char *const bad[][3] = {
        { "HUDDLE_MEMORY=lots", "lots is not valid", "number of bytes" },
        { "HUDDLE_MEMORY=-1", "-1 is out of range", "number of bytes" },
        { "HUDDLE_MEMORY=3X", "3X is not valid", "number of bytes" },
        { "HUDDLE_MEMORY=3KB", "3KB", "number of bytes" },
        { "HUDDLE_MEMORY=99999999999G", "99999999999G is out of range", "to" },
        { "HUDDLE_LEASE=0", "=0", "from 4096 to" },
        { "HUDDLE_LEASE=4095", "=4095 is out of range", "from 4096 to" },
        { "HUDDLE_BCAST=fast", "fast", "inline" },
        { "HUDDLE_STATS=json:", "json:", "json:FILE" },
        { "HUDDLE_LAB_LEVELS_OFF=numa,moon", "moon", "socket" },
        { "HUDDLE_LAB_BCAST_QUEUE_SETS=0", "=0 is out of range", "from 1 to 8" },
        { "HUDDLE_LAB_BCAST_QUEUE_SETS=2K", "2K is not valid", "from 1 to 8" },
        { "HUDDLE_BCAST_QUEUE_SETS=2", "not a setting", "renamed to HUDDLE_LAB_BCAST_QUEUE_SETS" },
        { "HUDDLE_PLACEMENT=off", "not a setting", "renamed to HUDDLE_LAB_PLACEMENT" },
        { "HUDDLE_MEMORY=\n3M", "?3M", "number of bytes" },
        { "HUDDLE_MEMORY= 3M", " 3M", "number of bytes" },
        { "HUDDLE_MEMORY=+3M", "+3M", "number of bytes" },
        { "HUDDLE_BCAST=\x1b[31mred\n", "?[31mred?", "inline" },
        { "HUDDLE_BCAST=\xff", "=?", "inline" },
        { "HUDDLE_TUNING=a\nb", "a?b", "text in UTF-8" },
        { "HUDDLE_TUNING=\xc3", "=?", "text in UTF-8" },
        { "HUDDLE_JOB=123456789abcdef", "(a secret)", "16 to 255 bytes" },
        { "HUDDLE_STATS=json:\xed\xa0\x80", "json:???", "json:FILE" },
    };

    (void)state;
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
        READ(bad[i][0]);
        assert_non_null(strstr(config.error, bad[i][1]));
        assert_non_null(strstr(config.error, bad[i][2]));
        assert_memory_equal(config.error, bad[i][0], strcspn(bad[i][0], "="));
        assert_true(hud_text_is_plain(config.error));
    }
    READ("HUDDLE_NO\nSUCH=\n");
    assert_true(hud_text_is_plain(config.error));
}

/* Expects a line per bad value, the first of them in `error`. The last line has the number of
 * further values. */
static void all_bad_values_are_reported(void **state)
{
    const char *many[2 * SET_ERRORS + 1] = { NULL };

    (void)state;
    READ("HUDDLE_MEMORY=lots", "HUDDLE_BCAST=fast", "HUDDLE_NO\nSUCH=1");
    assert_memory_equal(config.error, "HUDDLE_MEMORY=lots", 18);
    assert_int_equal(config.more_count, 2);
    assert_memory_equal(config.more[0], "HUDDLE_BCAST=fast", 17);
    assert_memory_equal(config.more[1], "HUDDLE_NO?SUCH=1", 16);
    for (int i = 0; i < 2 * SET_ERRORS; i++)
        many[i] = i % 2 == 0 ? "HUDDLE_WAIT=never" : "HUDDLE_SUCH=1";
    read_host(many);
    assert_int_equal(config.more_count, SET_ERRORS - 1);
    assert_memory_equal(config.more[SET_ERRORS - 3], "HUDDLE_WAIT=never", 17);
    assert_memory_equal(config.more[SET_ERRORS - 2], "17 further settings", 19);
    many[SET_ERRORS - 1] = NULL;
    read_host(many);
    assert_int_equal(config.more_count, SET_ERRORS - 2);
    READ("HUDDLE_MEMORY=1M");
    assert_int_equal(config.more_count, 0);
}

/* Verifies that values read before the memory for texts is full are kept. */
static void too_many_values_are_rejected(void **state)
{
    enum { BYTES = 200, NAME = 13, FIT = (SET_GIVEN - 5) / (BYTES - NAME + 1) };
    static char value[BYTES + 1], more[BYTES + 1];
    const char *many[FIT + 3] = { "HUDDLE_WAIT=poll" };

    (void)state;
    memcpy(memset(value, 'x', BYTES), "HUDDLE_STATS=json:", 18);
    memcpy(memset(more, 'y', BYTES), "HUDDLE_STATS=json:", 18);
    for (int i = 1; i <= FIT; i++)
        many[i] = value;
    read_host(many);
    assert_string_equal(config.error, "");
    many[FIT + 1] = more;
    read_host(many);
    assert_memory_equal(config.error, "HUDDLE_STATS=json:yy", 20);
    assert_non_null(strstr(config.error, "16384 bytes for all values together"));
    assert_string_equal(config.text[SET_WAIT], "poll");
    assert_string_equal(config.text[SET_STATS], value + NAME);
}

static void text_is_made_plain(void **state)
{
    static const struct {
        const char *text, *plain;
    } cases[] = {
        { "", "" },
        { "as it is: \xc3\xa4 \xe2\x82\xac \xf0\x9f\x98\x80",
          "as it is: \xc3\xa4 \xe2\x82\xac \xf0\x9f\x98\x80" },
        { "\t\n\x1b\x7f", "????" },
        { "cut \xe2\x82", "cut ??" },
        { "\xc0\x80 \xc2\x9b \xe0\x80\x80 \xed\xa0\x80 \xf4\x90\x80\x80 \xf5 \x80",
          "?? ?? ??? ??? ???? ? ?" },
    };
    char text[64];

    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        assert_int_equal(hud_text_is_plain(cases[i].text),
                         strcmp(cases[i].text, cases[i].plain) == 0);
        strcpy(text, cases[i].text);
        hud_text_make_plain(text);
        assert_string_equal(text, cases[i].plain);
    }
}

static void unknown_names_are_rejected_with_the_nearest_name(void **state)
{
    (void)state;
    READ("HUDDLE_MEMROY=3M");
    assert_non_null(strstr(config.error, "HUDDLE_MEMROY"));
    assert_non_null(strstr(config.error, "HUDDLE_MEMORY"));
    setenv("HUDDLE_NOSUCH", "1", 1);
    hud_config_read(NULL, &config);
    unsetenv("HUDDLE_NOSUCH");
    assert_non_null(strstr(config.error, "HUDDLE_NOSUCH"));
    READ("HUDDLE_FOO=1"); /* two letters from HUDDLE_LOG, but not similar */
    assert_string_equal(config.error,
                        "HUDDLE_FOO=1 is not a setting ('huddle settings' lists them)");
    READ("HUDDLE_LAB_FOO=1");
    assert_non_null(strstr(config.error, "'huddle settings --lab' lists them"));
}

/* Verifies that an algorithm unable to serve its collective is not an error. */
static void setting_excluded_by_another_is_not_an_error(void **state)
{
    (void)state;
    READ("HUDDLE_CMA=off", "HUDDLE_ALLTOALLV=cma_read");
    assert_string_equal(config.error, "");
}

static void host_takes_precedence_over_environment(void **state)
{
    (void)state;
    setenv("HUDDLE_LEASE", "64K", 1);
    hud_config_read(NULL, &config);
    assert_int_equal(config.number[SET_LEASE], 64 << 10);
    assert_string_equal(config.origin[SET_LEASE], "environment");
    READ("HUDDLE_LEASE=128K");
    unsetenv("HUDDLE_LEASE");
    assert_int_equal(config.number[SET_LEASE], 128 << 10);
    assert_string_equal(config.origin[SET_LEASE], "host");
}

/* Verifies that digests are equal for equal meanings, different for others, and 0 for settings
 * allowed to differ between ranks. */
static void digests_distinguish_values(void **state)
{
    uint32_t once;

    (void)state;
    READ("HUDDLE_LEASE=64K");
    once = config.digest[SET_LEASE];
    READ("HUDDLE_LEASE=65536");
    assert_int_equal(config.digest[SET_LEASE], once);
    READ("HUDDLE_LEASE=128K");
    assert_int_not_equal(config.digest[SET_LEASE], once);
    READ("HUDDLE_LOG=debug", "HUDDLE_STATS=1");
    uint64_t none_given = config.agree;
    READ("HUDDLE_LAB_BCAST_QUEUE_SETS=3"); /* the default value, but a given setting takes
                                            * precedence over a rule */
    assert_int_not_equal(config.agree, none_given);
    READ("HUDDLE_LOG=debug", "HUDDLE_STATS=1");
    assert_int_equal(config.digest[SET_LOG], 0);
    assert_int_equal(config.digest[SET_STATS], 0);
}

static void every_setting_is_complete(void **state)
{
    int count;
    const struct setting *rows = hud_settings(&count);

    (void)state;
    assert_true(count > SET_FIXED && count <= SET_MAX);
    for (int i = 0; i < count; i++) {
        assert_non_null(rows[i].name);
        assert_non_null(rows[i].mca);
        assert_non_null(rows[i].preset);
        assert_non_null(rows[i].accepted);
        assert_true(rows[i].mca[0] != '\0' && rows[i].accepted[0] != '\0'); /* all texts fit */
        assert_true(strlen(rows[i].doc) > 10);
        assert_null(strchr(rows[i].mca, '_') == rows[i].mca ? rows[i].mca : NULL);
        char given[SET_TEXT];
        snprintf(given, sizeof given, "%s=%s", rows[i].name, rows[i].preset);
        READ(given);
        assert_string_equal(config.error, "");
    }
}

static void users_have_few_settings(void **state)
{
    int count, listed = 0;
    const struct setting *rows = hud_settings(&count);

    (void)state;
    for (int i = 0; i < count; i++)
        listed += !rows[i].lab;
    assert_in_range(listed, 1, 60);
}

/* Verifies that settings have memory for all parameters, because a table ends with a row without a
 * name. */
static void no_algorithm_has_too_many_parameters(void **state)
{
    (void)state;
    for (int a = 0; hud_shm_algs[a]; a++)
        for (int p = 0; alg_param_at(hud_shm_algs[a], p); p++)
            if (p >= ALG_PARAMS)
                fail_msg("%s/%s has more than %d parameters", hud_shm_algs[a]->coll,
                         hud_shm_algs[a]->name, ALG_PARAMS);
}

static void large_jobs_span_nodes_only_if_asked(void **state)
{
    static const char *const automatic[] = { "HUDDLE_NODES=auto", NULL },
                             *const on[] = { "HUDDLE_NODES=on", NULL },
                             *const off[] = { "HUDDLE_NODES=off", NULL };

    (void)state;
    assert_true(hud_config_spans(NULL, CONFIG_SPAN_RANKS));
    assert_true(hud_config_spans(automatic, CONFIG_SPAN_RANKS));
    assert_false(hud_config_spans(automatic, CONFIG_SPAN_RANKS + 1));
    assert_true(hud_config_spans(on, CONFIG_SPAN_RANKS + 1));
    assert_false(hud_config_spans(off, 2));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(users_have_few_settings),
        cmocka_unit_test(no_algorithm_has_too_many_parameters),
        cmocka_unit_test(defaults_are_valid),
        cmocka_unit_test(units_are_applied),
        cmocka_unit_test(words_are_accepted),
        cmocka_unit_test(wisdom_is_a_word_or_a_path),
        cmocka_unit_test(empty_value_means_the_default),
        cmocka_unit_test(bad_values_are_reported),
        cmocka_unit_test(all_bad_values_are_reported),
        cmocka_unit_test(too_many_values_are_rejected),
        cmocka_unit_test(text_is_made_plain),
        cmocka_unit_test(unknown_names_are_rejected_with_the_nearest_name),
        cmocka_unit_test(setting_excluded_by_another_is_not_an_error),
        cmocka_unit_test(host_takes_precedence_over_environment),
        cmocka_unit_test(digests_distinguish_values),
        cmocka_unit_test(every_setting_is_complete),
        cmocka_unit_test(large_jobs_span_nodes_only_if_asked),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
