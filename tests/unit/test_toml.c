/* SPDX-License-Identifier: BSD-3-Clause */
/* test_toml.c - whatever is plain TOML to huddle's own reader is the same to toml++. */
#include "core/choose/toml.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

extern const char hud_builtin_toml[];

/* What a visitor has seen, as text. */
static char seen[2][1 << 16];

static int note(void *arg, const char *what, const char *value, int line)
{
    char *text = arg;
    size_t used = strlen(text);

    snprintf(text + used, sizeof seen[0] - used, "%d %s=%s\n", line, what, value);
    return 0;
}

static int on_table(void *arg, const char *name, int line)
{
    return note(arg, name, "(table)", line);
}

static int on_strange(void *arg, const char *what, int line)
{
    note(arg, what, "(strange)", line);
    return -1;
}

static void read_both(const char *text)
{
    struct toml_visitor visitor = { .table = on_table, .pair = note, .strange = on_strange };

    for (int i = 0; i < 2; i++) {
        seen[i][0] = '\0';
        visitor.arg = seen[i];
        (i == 0 ? hud_toml_read : hud_toml_parse)(text, strlen(text), &visitor);
    }
    assert_string_equal(seen[0], seen[1]);
}

static void the_built_in_table_is_plain(void **state)
{
    (void)state;
    assert_true(hud_toml_is_plain(hud_builtin_toml, strlen(hud_builtin_toml)));
    read_both(hud_builtin_toml);
    assert_true(strlen(seen[0]) > strlen(hud_builtin_toml) / 2);
}

static const struct text {
    const char *text;
    bool plain;
} texts[] = {
    { "", true },
    { "# only a comment", true },
    { "[a]\nb = 1\n", true },
    { "[[a]]\n\tb = \"x # y\" # z\n\n[[a]]\nb=true\n[c]\nb = 0", true },
    { "  [a] # c\n b-c_1 = 1234567890 \n", true },
    { "[a]\nb = \"\"\n[d]\n", true },
    { "[a]\nb = [1]\n", false },
    { "[a]\nb = 1.5\n", false },
    { "[a]\nb = 007\n", false },
    { "[a]\nb = -1\n", false },
    { "[a]\nb = 0x10\n", false },
    { "[a]\nb = 1_000\n", false },
    { "[a]\nb = 9223372036854775808\n", false },
    { "[a]\nb = \"x\\ty\"\n", false },
    { "[a]\nb = \"x\n\"\n", false },
    { "[a]\nb = \"\"\"x\ny\"\"\"\n", false },
    { "[a]\nb = 'x'\n", false },
    { "[a]\nb = \n", false },
    { "[a]\n= 1\n", false },
    { "[a]\nb = 1 c = 2\n", false },
    { "[a]\nb.c = 1\n", false },
    { "[a]\n\"b\" = 1\n", false },
    { "[a.b]\nc = 1\n", false },
    { "[ a ]\nc = 1\n", false },
    { "[]\n", false },
    { "[[a]\n", false },
    { "[a]]\n", false },
    { "b = 1\n[a]\n", false },
    { "[a]\nb = 1\nb = 2\n", false },
    { "[a]\n[a]\n", false },
    { "[a]\n[[a]]\n", false },
    { "[[a]]\n[a]\n", false },
    { "[a]\r\nb = 1\r\n", false },
    { "[a]\nb = \"\xc3\xa4\"\n", false },
    { "# \x01\n", false },
};

static void other_texts_are_read_alike(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
        if (hud_toml_is_plain(texts[i].text, strlen(texts[i].text)) != texts[i].plain)
            fail_msg("%s plain: %s", texts[i].plain ? "not" : "", texts[i].text);
        read_both(texts[i].text);
    }
}

/* Of small words, at random: most texts are wrong somewhere. */
static void random_texts_are_read_alike(void **state)
{
    static const char *const words[] = { "[a]\n", "[[a]]\n", "[b]\n",   "c = 1\n", "d = \"x\"\n",
                                         "c",     " ",       "=",       "true",    "0",
                                         "12",    "\"",      "\n",      "#",       "[",
                                         "]",     "\t",      "e = 3\n", "[[f]]\n", "c = false\n" };
    enum { WORDS = sizeof words / sizeof *words, TEXTS = 20000, LONGEST = 12 };
    int plain = 0;

    (void)state;
    srand(1);
    for (int i = 0; i < TEXTS; i++) {
        char text[LONGEST * 16] = "";
        for (int w = rand() % LONGEST; w >= 0; w--)
            strcat(text, words[rand() % WORDS]);
        plain += hud_toml_is_plain(text, strlen(text));
        read_both(text);
    }
    assert_in_range(plain, TEXTS / 100, TEXTS);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_built_in_table_is_plain),
        cmocka_unit_test(other_texts_are_read_alike),
        cmocka_unit_test(random_texts_are_read_alike),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
