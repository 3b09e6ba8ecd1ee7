/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * test_ops.c - compares every operation, type, length, number of sources and path that this
 * processor has with a simple reference (ops_reference.c). Addresses are unaligned, and the result
 * has its own place or the place of a source.
 */
#include "ops_reference.h"

#include "ops/ops.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <string.h>

#include <cmocka.h>

enum {
    LONGEST = 70,
    FEW = 9,
    MANY = 32,
    LARGE = 1100,
    ELEMENT = 32,
    SHIFT = 64,
    GUARD = 64,
    CANARY = 0xA5
};

static unsigned char sources[MANY][LARGE * ELEMENT + SHIFT],
    target[LARGE * ELEMENT + SHIFT + GUARD], want[LARGE * ELEMENT];

static uint64_t draw(void)
{
    static uint64_t state = 88172645463325252;

    state ^= state << 13;
    state ^= state >> 7;
    state ^= state << 17;
    return state >> 16 | state << 48;
}

/* A test case. */
struct trial {
    const struct hud_ops_path *path;
    enum hud_operation operation;
    const struct reference_type *type;
    int count;                       /* number of sources */
    const unsigned char *from[MANY]; /* addresses of the sources */
    size_t elements;
    int place; /* the source whose place the result takes, or -1 */
};

static void check(const struct trial *t, const unsigned char *got)
{
    size_t bytes = t->type->bytes;
    bool alike = memcmp(got, want, t->elements * bytes) ==
                 0; /* otherwise finds the element, which may be an equal NaN */

    for (size_t i = 0; !alike && i < t->elements; i++)
        if (!reference_equal(t->type, t->operation, got + i * bytes, want + i * bytes))
            fail_msg("%s: operation %d of %s, %d sources, %zu elements, in the place of source %d: "
                     "element %zu differs",
                     t->path->name, (int)t->operation, t->type->name, t->count, t->elements,
                     t->place, i);
    for (size_t i = 0; i < GUARD; i++)
        if (got[t->elements * bytes + i] != CANARY)
            fail_msg("%s: operation %d of %s, %d sources: wrote beyond %zu elements", t->path->name,
                     (int)t->operation, t->type->name, t->count, t->elements);
}

/* Makes sources of `elements` elements at random addresses, and the expected result. */
static void prepare(struct trial *t, size_t elements)
{
    size_t bytes = t->type->bytes;

    for (int s = 0; s < t->count; s++) {
        unsigned char *at = sources[s] + draw() % SHIFT;
        for (size_t i = 0; i < elements; i++)
            reference_draw(t->type, draw, at + i * bytes);
        t->from[s] = at;
    }
    memcpy(want, t->from[0], elements * bytes);
    for (int s = 1; s < t->count; s++)
        for (size_t i = 0; i < elements; i++)
            reference_combine(t->type, t->operation, want + i * bytes, t->from[s] + i * bytes);
}

static void combine_in(struct trial *t, size_t elements, int place)
{
    struct hud_op op = { .element_bytes = t->type->bytes,
                         .combine = t->path->kernels[t->operation][t->type - reference_types] };
    size_t bytes = elements * t->type->bytes;
    unsigned char *to = target + draw() % SHIFT;
    const void *from[MANY];

    t->elements = elements;
    t->place = place;
    for (int s = 0; s < t->count; s++)
        from[s] = s == place ? to : t->from[s];
    if (place >= 0)
        memcpy(to, t->from[place], bytes);
    memset(to + bytes, CANARY, GUARD);
    op.combine(&op, to, from, t->count, elements);
    check(t, to);
}

/* Combines the first elements of the prepared sources. The result has its own place, and then the
 * place of every source or of a random source. */
static void combine(struct trial *t, size_t elements)
{
    combine_in(t, elements, -1);
    for (int place = 0; elements < 20 && place < t->count; place++)
        combine_in(t, elements, place);
    combine_in(t, elements, (int)(draw() % (unsigned)t->count));
}

static void each(void (*what)(struct trial *t))
{
    struct trial t;

    for (int p = 0; (t.path = hud_ops_path_at(p)); p++)
        for (unsigned o = 0; o < HUD_OPERATIONS; o++)
            for (unsigned k = 0; k < HUD_TYPES; k++) {
                t.operation = (enum hud_operation)o;
                t.type = &reference_types[k];
                what(&t);
            }
}

static void has(struct trial *t)
{
    assert_int_equal(!!t->path->kernels[t->operation][t->type - reference_types],
                     reference_has(t->type->class, t->operation));
}

static void short_ones(struct trial *t)
{
    if (!reference_has(t->type->class, t->operation))
        return;
    for (t->count = 1; t->count <= FEW; t->count++) {
        prepare(t, LONGEST);
        for (size_t elements = 0; elements <= LONGEST; elements++)
            combine(t, elements);
    }
}

/* Uses more elements than a tile, and more sources than the largest kernel form has. */
static void long_ones(struct trial *t)
{
    static const int counts[] = { 2, 8, 9, 13, MANY };

    if (!reference_has(t->type->class, t->operation))
        return;
    t->count = counts[draw() % 5];
    prepare(t, LARGE);
    combine(t, LARGE - draw() % 70);
}

static void kernels_exist_for_all_defined_operations(void **state)
{
    (void)state;
    each(has);
}

static void results_are_right_for_every_length(void **state)
{
    (void)state;
    each(short_ones);
}

static void results_are_right_for_long_vectors_and_many_sources(void **state)
{
    (void)state;
    for (int i = 0; i < 3; i++)
        each(long_ones);
}

static void operations_are_found_by_their_numbers(void **state)
{
    struct hud_op op;
    int32_t a[] = { 1, -5 }, b[] = { 2, 7 }, sum[2];

    (void)state;
    assert_int_equal(hud_op_find(HUD_SUM, HUD_INT32, &op), HUD_OK);
    assert_string_equal(op.name, "MPI_SUM");
    assert_true(op.commutative);
    op.combine(&op, sum, (const void *[]){ a, b }, 2, 2);
    assert_int_equal(sum[0], 3);
    assert_int_equal(sum[1], 2);
    for (unsigned k = 0; k < HUD_TYPES; k++)
        for (unsigned o = 0; o < HUD_OPERATIONS; o++) {
            int found =
                reference_has(reference_types[k].class, (enum hud_operation)o) ? HUD_OK : HUD_PASS;
            assert_int_equal(hud_op_find((enum hud_operation)o, (enum hud_type)k, NULL), found);
            assert_int_equal(hud_op_find((enum hud_operation)o, (enum hud_type)k, &op), found);
            assert_true(found != HUD_OK || op.element_bytes == reference_types[k].bytes);
        }
    assert_int_equal(hud_op_find(HUD_OPERATIONS, HUD_INT8, &op), HUD_PASS);
    assert_int_equal(hud_op_find(HUD_SUM, HUD_TYPES, &op), HUD_PASS);
}

/* Combines three drawn elements, which often are NaN or a zero of either sign, from the left and
 * from the right.  Returns whether the results have the same bits. */
static bool combines_alike(enum hud_operation operation, const struct reference_type *type,
                           const struct hud_op *op)
{
    unsigned char drawn[3][ELEMENT], there[ELEMENT], back[ELEMENT];

    for (int i = 0; i < 3; i++)
        reference_draw(type, draw, drawn[i]);
    op->combine(op, there, (const void *const[]){ drawn[0], drawn[1], drawn[2] }, 3, 1);
    op->combine(op, back, (const void *const[]){ drawn[2], drawn[1], drawn[0] }, 3, 1);
    return reference_equal(type, operation, there, back);
}

static void operations_whose_bits_depend_on_the_order_are_not_exact(void **state)
{
    enum { DRAWS = 5000 };

    (void)state;
    for (unsigned o = 0; o < HUD_OPERATIONS; o++)
        for (unsigned k = 0; k < HUD_TYPES; k++) {
            struct hud_op op;
            bool alike = true;
            if (hud_op_find((enum hud_operation)o, (enum hud_type)k, &op) != HUD_OK)
                continue;
            for (int i = 0; i < DRAWS; i++)
                alike = alike && combines_alike((enum hud_operation)o, &reference_types[k], &op);
            if (alike != !!op.exact)
                fail_msg("operation %u of %s: exact is %d, but the order %s", o,
                         reference_types[k].name, op.exact, alike ? "does not matter" : "matters");
        }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(kernels_exist_for_all_defined_operations),
        cmocka_unit_test(operations_whose_bits_depend_on_the_order_are_not_exact),
        cmocka_unit_test(results_are_right_for_every_length),
        cmocka_unit_test(results_are_right_for_long_vectors_and_many_sources),
        cmocka_unit_test(operations_are_found_by_their_numbers)
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
