/* SPDX-License-Identifier: BSD-3-Clause */
/* test_choices.c - the table of all choices of a collective agrees with single queries, and
 * contains every number of ranks and every size. */
#include "coll/coll.h"
#include "tools/query/answers.h"

#include <jansson.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#define MACHINE "pack:2 numa:2(memory=32GiB) core:16 pu:1"

static const struct hud_described KNOWN = { .direct = 1, .quick = 1 };

enum { FIRST = 2, LAST = 130, BANDS = 8 };

static json_t *parsed(char *text)
{
    json_t *answer = json_loads(text, 0, NULL);

    assert_non_null(answer);
    free(text);
    return answer;
}

static json_t *choices(const char *collective)
{
    const struct hud_question q = { collective, 0, FIRST, "core", MACHINE, &KNOWN };
    char *text;

    assert_int_equal(hud_choices_json(&q, LAST, &text), HUD_OK);
    return parsed(text);
}

/* Checks that a piece of an axis and a single query have the same algorithm and reason. */
static void agrees(const char *collective, int ranks, json_int_t bytes, const json_t *piece)
{
    const struct hud_question q = { collective, (size_t)bytes, ranks, "core", MACHINE, &KNOWN };
    char *text;

    assert_int_equal(hud_explain_json(&q, &text), HUD_OK);
    json_t *answer = parsed(text), *serves = json_object_get(answer, "serves");
    json_object_del(serves, "slot_bytes");
    json_object_del(serves, "shared");
    json_object_del(serves, "doc");
    if (!json_equal(serves, json_object_get(piece, "serves")) ||
        !json_equal(json_object_get(answer, "why"), json_object_get(piece, "why")))
        fail_msg(
            "%s of %lld bytes, %d ranks: the table has another algorithm or reason than the query",
            collective, (long long)bytes, ranks);
    json_decref(answer);
}

/* Checks that the pieces follow each other without a gap, and agree with queries at their
 * corners. */
static void check_pieces(const char *collective, int ranks, const json_t *pieces)
{
    json_int_t next = 0;
    size_t i;
    const json_t *piece;

    json_array_foreach(pieces, i, piece)
    {
        const json_t *max = json_object_get(piece, "max_bytes");
        bool end = i + 1 == json_array_size(pieces);
        assert_int_equal(json_integer_value(json_object_get(piece, "min_bytes")), next);
        assert_int_equal(json_is_null(max), end);
        agrees(collective, ranks, next, piece);
        agrees(collective, ranks, end ? next + (1 << 20) : json_integer_value(max), piece);
        next = json_integer_value(max) + 1;
    }
}

static bool same_choices(const json_t *a, const json_t *b)
{
    return json_equal(json_object_get(a, "pieces"), json_object_get(b, "pieces")) &&
           json_equal(json_object_get(a, "ordered"), json_object_get(b, "ordered")) &&
           json_equal(json_object_get(a, "oversubscribed"), json_object_get(b, "oversubscribed"));
}

/* Checks that bands follow each other and differ, and checks the corners of some of them. */
static void check_bands(const char *collective)
{
    json_t *answer = choices(collective), *bands = json_object_get(answer, "bands"), *band;
    size_t i, count = json_array_size(bands), step = count / BANDS + 1;
    json_int_t next = FIRST;

    json_array_foreach(bands, i, band)
    {
        json_int_t min = json_integer_value(json_object_get(band, "min_ranks")),
                   max = json_integer_value(json_object_get(band, "max_ranks"));
        assert_int_equal(min, next);
        assert_true(min <= max);
        assert_true(i == 0 || !same_choices(band, json_array_get(bands, i - 1)));
        for (int corner = 0; i % step == 0 && corner < 2; corner++)
            check_pieces(collective, (int)(corner ? max : min), json_object_get(band, "pieces"));
        next = max + 1;
    }
    assert_int_equal(next, LAST + 1);
    json_decref(answer);
}

static void table_agrees_with_single_queries(void **state)
{
    (void)state;
    for (int kind = 0; kind < COLL_KINDS; kind++)
        check_bands(coll_name(kind));
}

static int forget(void **state)
{
    (void)state;
    unsetenv("HUDDLE_ALLREDUCE");
    unsetenv("HUDDLE_CMA");
    unsetenv("HUDDLE_MEMORY");
    return 0;
}

static void table_agrees_with_single_queries_under_settings(void **state)
{
    (void)state;
    setenv("HUDDLE_ALLREDUCE", "exchange", 1);
    setenv("HUDDLE_CMA", "off", 1);
    setenv("HUDDLE_MEMORY", "256K", 1);
    check_bands("allreduce");
    check_bands("bcast");
    json_t *answer = choices("allreduce");
    assert_true(json_is_false(json_object_get(answer, "direct")));
    json_decref(answer);
}

/* Verifies that with more ranks than the 64 cores the choice is for oversubscribed ranks. */
static void oversubscribed_ranks_have_their_own_choices(void **state)
{
    json_t *answer = choices("barrier"), *bands = json_object_get(answer, "bands"), *band;
    size_t i;

    (void)state;
    json_array_foreach(bands, i, band)
    {
        bool many = json_integer_value(json_object_get(band, "max_ranks")) > 64;
        assert_int_equal(json_is_true(json_object_get(band, "oversubscribed")), many);
        assert_true(!many || json_integer_value(json_object_get(band, "min_ranks")) > 64);
    }
    json_decref(answer);
}

static void invalid_queries_are_rejected(void **state)
{
    static const struct {
        struct hud_question q;
        int max_ranks;
    } bad[] = {
        { { "rotate", 0, 2, "core", NULL }, 4 }, { { "bcast", 0, 0, "core", NULL }, 4 },
        { { "bcast", 0, 4, "core", NULL }, 3 },  { { "bcast", 0, 4, "core", NULL }, 32768 },
        { { "bcast", 0, 2, "moon", NULL }, 4 },  { { "bcast", 0, 2, "core", "not a machine" }, 4 }
    };
    char *text;

    (void)state;
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        assert_int_equal(hud_choices_json(&bad[i].q, bad[i].max_ranks, &text), HUD_ERR_ARGUMENT);
        assert_null(text);
    }
    assert_int_equal(hud_choices_json(NULL, 4, &text), HUD_ERR_ARGUMENT);
    assert_int_equal(hud_choices_json(&bad[0].q, 4, NULL), HUD_ERR_ARGUMENT);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(table_agrees_with_single_queries),
        cmocka_unit_test_teardown(table_agrees_with_single_queries_under_settings, forget),
        cmocka_unit_test(oversubscribed_ranks_have_their_own_choices),
        cmocka_unit_test(invalid_queries_are_rejected),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
