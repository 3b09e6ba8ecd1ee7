/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * bottom.c - passes buffers as MPI_BOTTOM with types of absolute addresses, in every collective
 * with a buffer. Each has several elements of several blocks, of small sizes and of a size larger
 * than any element that is split.
 *
 *     bottom [--reductions]      the reductions of most MPIs fail with such types
 */
#include "check.h"

enum { MAX_HALF = 12000, RANKS_MAX = 64, GUARD_BYTES = 32 };

/* For each of `elements` elements two runs of `half` bytes, `half + 1` bytes apart, in memory of
 * their own. */
struct scattered {
    unsigned char *memory;
    size_t half;
    int elements;
    MPI_Datatype type;
};

static size_t step_of(const struct scattered *s)
{
    return 2 * s->half + 3;
}

static unsigned char *half_of(const struct scattered *s, int element, int which)
{
    return s->memory + GUARD_BYTES + (size_t)element * step_of(s) + (which ? s->half + 1 : 0);
}

static struct scattered scatter(size_t half, int elements)
{
    struct scattered s = { .half = half, .elements = elements };
    int lengths[2] = { (int)half, (int)half };
    MPI_Aint at[2];
    MPI_Datatype plain;

    s.memory = allocate(2 * GUARD_BYTES + (size_t)elements * step_of(&s));
    memset(s.memory, 0xA5, 2 * GUARD_BYTES + (size_t)elements * step_of(&s));
    MPI_Get_address(half_of(&s, 0, 0), &at[0]);
    MPI_Get_address(half_of(&s, 0, 1), &at[1]);
    MPI_Type_create_hindexed(2, lengths, at, MPI_BYTE, &plain);
    MPI_Type_create_resized(plain, at[0], (MPI_Aint)step_of(&s), &s.type);
    MPI_Type_free(&plain);
    MPI_Type_commit(&s.type);
    return s;
}

static void unscatter(struct scattered *s)
{
    MPI_Type_free(&s->type);
    free(s->memory);
}

static size_t element_bytes(const struct scattered *s)
{
    return 2 * s->half;
}

/* Stores packed elements at the elements from `first` on. */
static void put(const struct scattered *s, int first, int count, const unsigned char *packed)
{
    for (int i = 0; i < 2 * count; i++)
        memcpy(half_of(s, first + i / 2, i % 2), packed + (size_t)i * s->half, s->half);
}

static void expect(const struct scattered *s, int first, int count, const unsigned char *packed,
                   const char *what)
{
    bool same = true;

    for (int i = 0; i < 2 * count; i++)
        same = same &&
               memcmp(half_of(s, first + i / 2, i % 2), packed + (size_t)i * s->half, s->half) == 0;
    for (int i = 0; i < s->elements; i++)
        same = same && half_of(s, i, 0)[s->half] == 0xA5;
    check(same, "%s of %d elements of 2 times %zu bytes is wrong", what, count, s->half);
}

/* Fills in the message from `from` to `to`. */
static void block(unsigned char *bytes, size_t count, int from, int to)
{
    pattern(bytes, count, (uint64_t)(1000 * from + to));
}

static void broadcast(size_t half, int count)
{
    struct scattered s = scatter(half, count);
    size_t bytes = (size_t)count * element_bytes(&s);
    unsigned char *packed = allocate(bytes);

    for (int root = 0; root < world_size; root++) {
        block(packed, bytes, root, 0);
        if (world_rank == root)
            put(&s, 0, count, packed);
        MPI_Bcast(MPI_BOTTOM, count, s.type, root, MPI_COMM_WORLD);
        expect(&s, 0, count, packed, "broadcast");
    }
    unscatter(&s);
    free(packed);
}

static void put_all(const struct scattered *s, int each, unsigned char *packed)
{
    for (int r = 0; r < world_size; r++) {
        block(packed, (size_t)each * element_bytes(s), world_rank, r);
        put(s, r * each, each, packed);
    }
}

static void expect_all(const struct scattered *s, int each, unsigned char *packed, const char *what)
{
    for (int r = 0; r < world_size; r++) {
        block(packed, (size_t)each * element_bytes(s), r, world_rank);
        expect(s, r * each, each, packed, what);
    }
}

static void exchange(size_t half, int each)
{
    struct scattered in = scatter(half, each * world_size), out = scatter(half, each * world_size);
    size_t bytes = (size_t)each * element_bytes(&in);
    unsigned char *packed = allocate(bytes), *flat = allocate(bytes * (size_t)world_size);
    MPI_Datatype ins[RANKS_MAX], outs[RANKS_MAX];
    int counts[RANKS_MAX], places[RANKS_MAX], same_counts[RANKS_MAX];

    put_all(&in, each, packed);
    MPI_Alltoall(MPI_BOTTOM, each, in.type, MPI_BOTTOM, each, out.type, MPI_COMM_WORLD);
    expect_all(&out, each, packed, "alltoall");

    for (int r = 0; r < world_size; r++) {
        block(flat + (size_t)r * bytes, bytes, world_rank, r);
        ins[r] = in.type, outs[r] = out.type, counts[r] = same_counts[r] = each,
        places[r] = r * each * (int)step_of(&in);
    }
    put_all(&out, each, packed);
    MPI_Alltoall(flat, (int)bytes, MPI_BYTE, MPI_BOTTOM, each, out.type, MPI_COMM_WORLD);
    expect_all(&out, each, packed, "alltoall from an ordinary buffer");
    put_all(&out, each, packed);
    MPI_Alltoall(MPI_IN_PLACE, each, out.type, MPI_BOTTOM, each, out.type, MPI_COMM_WORLD);
    expect_all(&out, each, packed, "alltoall in place");
    memset(out.memory, 0xA5, 2 * GUARD_BYTES + (size_t)out.elements * step_of(&out));
    MPI_Alltoallw(MPI_BOTTOM, counts, places, ins, MPI_BOTTOM, same_counts, places, outs,
                  MPI_COMM_WORLD);
    expect_all(&out, each, packed, "alltoallw");
    unscatter(&in);
    unscatter(&out);
    free(packed);
    free(flat);
}

/* Returns in `out` the element with the higher first byte, or the left element if they are equal.
 * Works for any type. */
static size_t half_now;

static void higher(void *in, void *out, int *count, MPI_Datatype *type)
{
    MPI_Aint lower, extent, begin, bytes;

    MPI_Type_get_extent(*type, &lower, &extent);
    MPI_Type_get_true_extent(*type, &begin, &bytes);
    for (int i = 0; i < *count; i++) {
        const unsigned char *left =
            (const unsigned char *)((uintptr_t)in + (uintptr_t)(i * extent + begin));
        unsigned char *right = (unsigned char *)((uintptr_t)out + (uintptr_t)(i * extent + begin));
        if (left[0] >= right[0]) {
            memcpy(right, left, half_now);
            memcpy(right + half_now + 1, left + half_now + 1, half_now);
        }
    }
}

static void element_of_rank(unsigned char *packed, size_t bytes, int rank)
{
    block(packed, bytes, rank, 7);
    packed[0] = (unsigned char)(rank + 1);
}

static void reduction(size_t half, int count)
{
    struct scattered s = scatter(half, count);
    size_t bytes = element_bytes(&s);
    unsigned char *packed = allocate(bytes);
    MPI_Op op;

    half_now = half;
    MPI_Op_create(higher, 1, &op);
    for (int turn = 0; turn < 2; turn++) {
        element_of_rank(packed, bytes, world_rank);
        calls_left += bytes > 4096 && world_size > 1;
        for (int i = 0; i < count; i++)
            put(&s, i, 1, packed);
        if (turn == 0)
            MPI_Allreduce(MPI_IN_PLACE, MPI_BOTTOM, count, s.type, op, MPI_COMM_WORLD);
        else
            MPI_Reduce(world_rank ? MPI_BOTTOM : MPI_IN_PLACE, MPI_BOTTOM, count, s.type, op, 0,
                       MPI_COMM_WORLD);
        element_of_rank(packed, bytes, world_size - 1);
        for (int i = 0; i < count && (turn == 0 || world_rank == 0); i++)
            expect(&s, i, 1, packed, turn ? "reduce" : "allreduce");
    }
    MPI_Op_free(&op);
    unscatter(&s);
    free(packed);
}

int main(int argc, char **argv)
{
    static const size_t halves[] = { 1, 4, 50, 2000, MAX_HALF };

    begin(&argc, &argv, MPI_THREAD_SINGLE);
    if (world_size > RANKS_MAX)
        MPI_Abort(MPI_COMM_WORLD, 2);
    for (size_t h = 0; h < sizeof halves / sizeof *halves; h++)
        for (int count = 1; count <= 100; count = 5 * count - 2) {
            broadcast(halves[h], count);
            exchange(halves[h], count);
            if (argc > 1)
                reduction(halves[h], count);
        }
    section("bottom");
    return finish("bottom");
}
