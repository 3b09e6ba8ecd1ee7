/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * functions.c - the arguments of a user's reduction function, and unusual types.
 *
 * A function may rely on its arguments: they are aligned as C aligns the element, they have the
 * datatype of the call, and there are no more elements than were reduced. They are laid out
 * according to the datatype, even if an element extends over more memory than huddle lays out. In
 * this case the call falls back to the MPI's own collective.
 */
#include "check.h"

#include <stdalign.h>

enum { MAX_COUNT = 3000 };

/* ---- elements with an alignment ---- */

struct quantity {
    double mass;
    int number;
    alignas(32) long double energy;
};

static long long given, misaligned, odd_types;
static MPI_Datatype expected;

static void merge(void *in, void *inout, int *count, MPI_Datatype *type)
{
    struct quantity *a = in, *b = inout;

    misaligned += (uintptr_t)a % alignof(struct quantity) != 0 ||
                  (uintptr_t)b % alignof(struct quantity) != 0;
    odd_types += *type != expected;
    given += *count;
    for (int i = 0; i < *count; i++) {
        b[i].mass += a[i].mass;
        b[i].number = a[i].number > b[i].number ? a[i].number : b[i].number;
        b[i].energy += a[i].energy;
    }
}

static MPI_Datatype quantity_type(void)
{
    int parts[] = { 1, 1, 1 };
    MPI_Aint at[] = { offsetof(struct quantity, mass), offsetof(struct quantity, number),
                      offsetof(struct quantity, energy) };
    MPI_Datatype types[] = { MPI_DOUBLE, MPI_INT, MPI_LONG_DOUBLE }, gaps, whole;

    MPI_Type_create_struct(3, parts, at, types, &gaps);
    MPI_Type_create_resized(gaps, 0, sizeof(struct quantity), &whole);
    MPI_Type_commit(&whole);
    MPI_Type_free(&gaps);
    return whole;
}

static struct quantity quantity_of(int rank, int i)
{
    return (
        struct quantity){ .mass = rank + i, .number = (rank * 7 + i) % 11, .energy = 2 * rank - i };
}

static void check_quantities(const struct quantity *got, int count, const char *what)
{
    bool good = true;

    for (int i = 0; i < count; i++) {
        struct quantity want = quantity_of(0, i);
        for (int r = 1; r < world_size; r++) {
            struct quantity next = quantity_of(r, i);
            want.mass += next.mass;
            want.number = next.number > want.number ? next.number : want.number;
            want.energy += next.energy;
        }
        good = good && got[i].mass == want.mass && got[i].number == want.number &&
               got[i].energy == want.energy;
    }
    check(good, "%s of %d quantities is wrong", what, count);
}

static void aligned(void)
{
    static struct quantity mine[MAX_COUNT], result[MAX_COUNT];
    MPI_Op op;

    expected = quantity_type();
    MPI_Op_create(merge, 1, &op);
    for (int count = 1; count <= MAX_COUNT; count = count * 2 + 1) {
        for (int i = 0; i < count; i++)
            mine[i] = quantity_of(world_rank, i);
        given = 0;
        MPI_Allreduce(mine, result, count, expected, op, MPI_COMM_WORLD);
        check_quantities(result, count, "allreduce");
        check(given <= (long long)count * (world_size + 1),
              "a function got %lld elements, for %d elements on %d ranks", given, count,
              world_size);
        MPI_Reduce(mine, result, count, expected, op, count % world_size, MPI_COMM_WORLD);
        if (world_rank == count % world_size)
            check_quantities(result, count, "reduce");
        MPI_Allreduce(MPI_IN_PLACE, mine, count, expected, op, MPI_COMM_WORLD);
        check_quantities(mine, count, "allreduce in place");
    }
    check(misaligned == 0, "%lld calls of a function with elements that are not aligned",
          misaligned);
    check(odd_types == 0, "%lld calls of a function with another type than the collective's",
          odd_types);
    MPI_Op_free(&op);
    MPI_Type_free(&expected);
    section("aligned");
}

/* ---- elements with a large extent ---- */

enum { ROWS = 16 };

static int stride; /* ints from one row of a column to the next */

static void add_column(void *in, void *inout, int *count, MPI_Datatype *type)
{
    const int *a = in;
    int *b = inout;

    (void)type;
    for (int i = 0; i < *count; i++)
        for (int row = 0; row < ROWS; row++)
            b[i + row * stride] += a[i + row * stride];
}

/* Adds up interleaved columns of a matrix. */
static void spread(void)
{
    static const int strides[] = { 4, 60, 250, 280, 1000, 20000 };
    MPI_Op op;

    MPI_Op_create(add_column, 1, &op);
    for (size_t s = 0; s < sizeof strides / sizeof *strides; s++) {
        MPI_Datatype tall, column;
        stride = strides[s];
        size_t ints = (size_t)ROWS * (size_t)stride;
        int *matrix = allocate(ints * sizeof *matrix), *sum = allocate(ints * sizeof *sum),
            columns = 3;
        bool good = true;
        MPI_Type_vector(ROWS, 1, stride, MPI_INT, &tall);
        MPI_Type_create_resized(tall, 0, sizeof(int), &column);
        MPI_Type_commit(&column);
        for (size_t i = 0; i < ints; i++)
            matrix[i] = world_rank + 1, sum[i] = -5;
        MPI_Allreduce(matrix, sum, columns, column, op, MPI_COMM_WORLD);
        for (size_t i = 0; i < ints; i++)
            good = good && sum[i] == ((int)(i % (size_t)stride) < columns
                                          ? world_size * (world_size + 1) / 2
                                          : -5);
        check(good, "the sum of columns at a stride of %d is wrong", stride);
        MPI_Type_free(&column);
        MPI_Type_free(&tall);
        free(matrix);
        free(sum);
    }
    MPI_Op_free(&op);
    section("spread");
}

/* ---- parametrized predefined types ---- */

static void parametrised(void)
{
    MPI_Datatype real, whole;
    double d = world_rank + 0.5, sum = 0;
    int32_t i = world_rank, max = 0;

    MPI_Type_create_f90_real(12, 200, &real);
    MPI_Type_create_f90_integer(8, &whole);
    MPI_Allreduce(&d, &sum, 1, real, MPI_SUM, MPI_COMM_WORLD);
    MPI_Allreduce(&i, &max, 1, whole, MPI_MAX, MPI_COMM_WORLD);
    check(sum == world_size * world_size / 2.0, "a sum of selected_real_kind is %g", sum);
    check(max == world_size - 1, "a maximum of selected_int_kind is %d", max);
    section("kinds");
}

int main(int argc, char **argv)
{
    begin(&argc, &argv, MPI_THREAD_SINGLE);
    aligned();
    spread();
    parametrised();
    return finish("functions");
}
