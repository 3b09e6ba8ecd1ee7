/* SPDX-License-Identifier: BSD-3-Clause */
/* test_memory.c - makes the n-th allocation fail while a table of choices is read. The reader must
 * return an error, not crash, and not leak. */
#include "core/plan/rules.h"

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

extern const char hud_builtin_rules[];
extern void *__libc_malloc(size_t bytes), *__libc_calloc(size_t count, size_t bytes),
    *__libc_realloc(void *old, size_t bytes);
extern void __libc_free(void *old);

#define PUBLIC __attribute__((visibility("default"))) /* visible to other libraries too */

static bool armed;   /* whether allocations are counted */
static bool lasting; /* whether all later allocations fail as well */
static long until;   /* allocations left until the failing one, included */
static long held;    /* allocated and not yet freed while armed */

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

/* Reads a table with the n-th allocation failing. Returns whether the table was read. */
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
        if (until > 0) { /* fewer than n allocations were made */
            assert_int_equal(fine, good);
            break;
        }
        refused += !fine;
        assert_true(fine || error[0] != '\0');
    }
    assert_true(n > 1 && refused > 0);
}

static void reports_an_error_if_one_allocation_fails(void **state)
{
    (void)state;
    lasting = false;
    try_all(hud_builtin_rules, true);
    try_all("bcast -> queue\nbcast -> oak\n", false);
}

static void reports_an_error_if_all_later_allocations_fail(void **state)
{
    (void)state;
    lasting = true;
    try_all(hud_builtin_rules, true);
    try_all("bcast -> queue\nbcast -> oak\n", false);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(reports_an_error_if_one_allocation_fails),
        cmocka_unit_test(reports_an_error_if_all_later_allocations_fail),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
