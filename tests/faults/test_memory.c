/* SPDX-License-Identifier: BSD-3-Clause */
/* test_memory.c - the n-th allocation fails while tables of choices are read, those of the C++
 * library among them: an answer, no crash, no leak. */
#include "core/choose/rules.h"

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

extern const char hud_builtin_toml[];
extern void *__libc_malloc(size_t bytes), *__libc_calloc(size_t count, size_t bytes),
    *__libc_realloc(void *old, size_t bytes);
extern void __libc_free(void *old);

#define PUBLIC __attribute__((visibility("default"))) /* for the C++ library too */

static bool armed;   /* allocations are counted */
static bool lasting; /* all that follow fail as well */
static long until;   /* the next one fails */
static long held;    /* obtained and not released while armed */

static bool fails(void)
{
    if (!armed)
        return false;
    until--;
    if (until == 0 || (until < 0 && lasting)) {
        errno = ENOMEM;
        return true;
    }
    return false;
}

PUBLIC void *malloc(size_t bytes)
{
    if (fails())
        return NULL;
    held += armed;
    return __libc_malloc(bytes);
}

PUBLIC void *calloc(size_t count, size_t bytes)
{
    if (fails())
        return NULL;
    held += armed;
    return __libc_calloc(count, bytes);
}

PUBLIC void *realloc(void *old, size_t bytes)
{
    if (fails())
        return NULL;
    held += armed && !old;
    return __libc_realloc(old, bytes);
}

PUBLIC void free(void *old)
{
    held -= armed && old;
    __libc_free(old);
}

/* Reads the built-in table with the n-th allocation failing; what it answers. */
static bool read_with(long n, const char *text, char error[SET_TEXT])
{
    struct rules rules;

    error[0] = '\0';
    held = 0;
    until = n;
    armed = true;
    bool fine = hud_rules_read(&rules, "a table", text, strlen(text), error, SET_TEXT);
    hud_rules_free(&rules);
    armed = false;
    return fine;
}

static void try_all(const char *text, bool good)
{
    char error[SET_TEXT];
    long n = 1, refused = 0;

    for (;; n++) {
        bool fine = read_with(n, text, error);
        assert_int_equal(held, 0);
        if (until > 0) { /* there is no n-th allocation */
            assert_int_equal(fine, good);
            break;
        }
        refused += !fine;
        assert_true(fine || error[0] != '\0');
    }
    assert_true(n > 1 && refused > 0);
}

static void one_allocation_fails(void **state)
{
    (void)state;
    lasting = false;
    try_all(hud_builtin_toml, true);
    try_all("[[bcast]]\nalgorithm = [1, 2]\n", false);
}

static void all_allocations_fail_from_the_nth_on(void **state)
{
    (void)state;
    lasting = true;
    try_all(hud_builtin_toml, true);
    try_all("[[bcast]]\nalgorithm = [1, 2]\n", false);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(one_allocation_fails),
        cmocka_unit_test(all_allocations_fail_from_the_nth_on),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
