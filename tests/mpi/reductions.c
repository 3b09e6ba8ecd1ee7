/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * reductions.c - compares reduce, allreduce, scan, exscan, reduce_scatter and reduce_scatter_block
 * of any MPI with MPI_Reduce_local, applied from rank 0 on in turn.
 *
 *   reductions OPTIONS    (options.h)
 *
 * Every rank knows the contributions of all ranks. Results must be equal, integers bit by bit.
 * Contributions, gaps of a type and bytes before and after a buffer must not change. Prints a line
 * per section and one summary. Exits nonzero on any failure.
 */
#include "operators.h"
#include "options.h"

enum kind { REDUCE, ALLREDUCE, SCAN, EXSCAN, REDUCE_SCATTER, REDUCE_SCATTER_BLOCK, KINDS };
static const char *const kind_names[KINDS] = { "reduce", "allreduce",      "scan",
                                               "exscan", "reduce_scatter", "reduce_scatter_block" };

/* A call. It reduces `count` elements in all, which the last two kinds split over the ranks. */
struct call {
    enum kind kind;
    MPI_Comm comm;
    const struct operand *o;
    int count, root;
    bool in_place, large; /* large: through the function for large counts, if the MPI has one */
    uint64_t id;
};

/* Number of the latest call, from which its data follow. Equal on all ranks. */
static uint64_t calls;

/* Returns the elements of a rank's block. Blocks have different lengths, some 0. */
static int block_of(const struct call *c, int rank, int size)
{
    int even = c->count / size, odd = even / (rank % 3 + 1);

    if (c->kind == REDUCE_SCATTER_BLOCK)
        return even;
    if (rank != size - 1)
        return rank % 4 == 1 ? 0 : odd;
    for (int r = 0; r < size - 1; r++)
        even -= block_of(c, r, size);
    return even + c->count - c->count / size;
}

/* Returns the number of ranks, from 0 on, whose contributions are in the result of a rank. */
static int sources_of(const struct call *c, int rank, int size)
{
    return c->kind == SCAN ? rank + 1 : c->kind == EXSCAN ? rank : size;
}

/* Reduces the contributions of the first `sources` ranks from left to right; the left operand is
 * MPI_Reduce_local's first. With 0 or 1 sources returns rank 0's contribution, which rank 0 of an
 * in-place exscan must keep. */
static struct area folded(const struct call *c, int count, int sources)
{
    struct area sum = contribution(c->o, count, c->id, 0);

    for (int r = 1; r < sources; r++) {
        struct area next = contribution(c->o, count, c->id, r);
        MPI_Reduce_local(sum.base, next.base, count, c->o->l.type, c->o->op);
        free(sum.memory);
        sum = next;
    }
    return sum;
}

static int perform(const struct call *c, const void *in, void *out, const int *blocks)
{
    MPI_Datatype type = c->o->l.type;

#if MPI_VERSION >= 4
    MPI_Count wide[1024];
    for (int r = 0; c->large && c->kind == REDUCE_SCATTER && blocks[r] >= 0; r++)
        wide[r] = blocks[r];
    if (c->large) {
        return c->kind == REDUCE ? MPI_Reduce_c(in, out, c->count, type, c->o->op, c->root, c->comm)
               : c->kind == ALLREDUCE ? MPI_Allreduce_c(in, out, c->count, type, c->o->op, c->comm)
               : c->kind == SCAN      ? MPI_Scan_c(in, out, c->count, type, c->o->op, c->comm)
               : c->kind == EXSCAN    ? MPI_Exscan_c(in, out, c->count, type, c->o->op, c->comm)
               : c->kind == REDUCE_SCATTER
                   ? MPI_Reduce_scatter_c(in, out, wide, type, c->o->op, c->comm)
                   : MPI_Reduce_scatter_block_c(in, out, blocks[0], type, c->o->op, c->comm);
    }
#endif
    return c->kind == REDUCE      ? MPI_Reduce(in, out, c->count, type, c->o->op, c->root, c->comm)
           : c->kind == ALLREDUCE ? MPI_Allreduce(in, out, c->count, type, c->o->op, c->comm)
           : c->kind == SCAN      ? MPI_Scan(in, out, c->count, type, c->o->op, c->comm)
           : c->kind == EXSCAN    ? MPI_Exscan(in, out, c->count, type, c->o->op, c->comm)
           : c->kind == REDUCE_SCATTER
               ? MPI_Reduce_scatter(in, out, blocks, type, c->o->op, c->comm)
               : MPI_Reduce_scatter_block(in, out, blocks[0], type, c->o->op, c->comm);
}

/* Returns the first element of `got` that differs from the elements of `want` from `first` on, or
 * -1. Erases the compared elements. */
static int compare(const struct operand *o, const struct area *got, const struct area *want,
                   int first, int count)
{
    int bad = -1;

    for (int n = 0; n < count; n++) {
        for (size_t b = 0; b < o->l.blocks; b++) {
            unsigned char *at = got->base + n * o->l.extent + o->l.block[b].at;
            const unsigned char *good = want->base + (n + first) * o->l.extent + o->l.block[b].at;
            if (bad < 0 && !same_value(form_of(o, b), at, good, o->l.block[b].bytes))
                bad = n;
            memset(at, BACKGROUND, o->l.block[b].bytes);
        }
    }
    return bad;
}

/* Reports whether all other bytes, or only the guards, are as before. */
static bool untouched(const struct area *a, bool only_guards)
{
    for (size_t i = 0; i < a->bytes; i++)
        if (a->memory[i] != BACKGROUND && !(only_guards && i >= GUARD && i < a->bytes - GUARD))
            return false;
    return true;
}

/* Checks a result. In place, elements after the last block of a reduce_scatter are undefined. */
static void judge(const struct call *c, int error, int result, const struct area *want, int first,
                  struct area *out)
{
    int bad = compare(c->o, out, want, first, result);
    bool leftover = c->in_place && c->kind >= REDUCE_SCATTER;

    check(error == MPI_SUCCESS && bad < 0 && untouched(out, leftover || c->o->loose_gaps),
          "%s %s of %s, count %d, root %d, %s, call %llu: %s %d", kind_names[c->kind],
          c->o->op_name, c->o->name, c->count, c->root, c->in_place ? "in place" : "two buffers",
          (unsigned long long)c->id,
          error != MPI_SUCCESS ? "error"
          : bad < 0            ? "bytes changed outside the result"
                               : "wrong from element",
          error ? error : bad);
}

/* Reports whether the call falls back to the MPI: elements are too large, or in the MPICH family
 * the predefined type is known to the MPI only. */
static bool is_left(const struct call *c, int size)
{
#ifdef OPEN_MPI
    bool unknown = false;
#else
    bool unknown = c->o->forms[0] == 'q';
#endif
    return size > 1 && c->count > 0 && (unknown || laid_bytes(&c->o->l) > 4096);
}

/* Reports whether a block overlaps the begin of the buffer, where its rank's result is after a call
 * in place. */
static bool overlaps(const int *blocks, int size)
{
    int before = blocks[0], r = 1;

    while (r < size && blocks[r] <= before)
        before += blocks[r++];
    return r < size;
}

/*
 * Reports whether some MPIs alone fail in this call. MPICH before 4.2 crashes in a reduction in
 * place to a root other than 0 (its issue 6540), and MPICH 5 and Intel MPI with elements whose
 * lower bound is not 0. They also fail in a reduce_scatter with a non-commutative operation on
 * elements with gaps, and in a long in-place reduce_scatter (from 512 KB on in MPICH) whose result
 * is moved to an overlapping place. A call falling back is the MPI's own in any case.
 */
static bool beyond(const struct call *c, const int *blocks, int size)
{
    size_t bytes = laid_bytes(&c->o->l), all_bytes = (size_t)c->count * bytes;
    int commutes;

    MPI_Op_commutative(c->o->op, &commutes);
    return (!options.beyond || is_left(c, size)) &&
           ((c->kind == REDUCE && c->in_place && c->root != 0) || c->o->l.lower != 0 ||
            (c->kind >= REDUCE_SCATTER && !commutes && (ptrdiff_t)bytes != c->o->l.extent) ||
            (c->kind == REDUCE_SCATTER && c->in_place && all_bytes > 64 << 10 &&
             overlaps(blocks, size)));
}

static void reduction(struct call c)
{
    int me, size, blocks[1025];

    MPI_Comm_rank(c.comm, &me);
    MPI_Comm_size(c.comm, &size);
    c.id = ++calls ^ options.seed << 32;
    if (c.kind == REDUCE_SCATTER_BLOCK)
        c.count -= c.count % size;
    for (int r = 0; r < size; r++)
        blocks[r] = block_of(&c, r, size);
    blocks[size] = -1;
    if (beyond(&c, blocks, size))
        return;
    bool cut = c.kind >= REDUCE_SCATTER, receives = c.kind != REDUCE || me == c.root,
         keeps = c.kind == EXSCAN && me == 0; /* the rank's buffer must not change */
    int first = 0, result = cut ? blocks[me] : receives && !(keeps && !c.in_place) ? c.count : 0;
    for (int r = 0; r < me && cut; r++)
        first += blocks[r];
    applied = c.o;
    c.in_place &= receives;
    struct area want = folded(&c, c.count, sources_of(&c, me, size)),
                in = contribution(c.o, c.count, c.id, me);
    struct area out = c.in_place ? contribution(c.o, c.count, c.id, me) : area_of(&c.o->l, result);
    calls_left += is_left(&c, size);
    int error =
        perform(&c, c.in_place ? MPI_IN_PLACE : in.base, receives ? out.base : NULL, blocks);
    judge(&c, error, result, &want, first, &out);
    struct area before = contribution(c.o, c.count, c.id, me);
    check(memcmp(in.memory, before.memory, in.bytes) == 0, "%s %s of %s changed its input",
          kind_names[c.kind], c.o->op_name, c.o->name);
    free(before.memory);
    free(want.memory);
    free(in.memory);
    free(out.memory);
}

/* Makes calls of all kinds, to all tested roots, in place and with two buffers. */
static void all_kinds(MPI_Comm comm, const struct operand *o, int count)
{
    int size;

    MPI_Comm_size(comm, &size);
    if ((uint64_t)count * laid_bytes(&o->l) > options.max)
        return;
    for (int turn = 0; turn < 2; turn++) {
        for (int root = 0; root < size; root = next_root(root, size))
            reduction((struct call){ .kind = REDUCE,
                                     .comm = comm,
                                     .o = o,
                                     .count = count,
                                     .root = root,
                                     .in_place = turn,
                                     .large = root % 2 });
        for (enum kind kind = ALLREDUCE; kind < KINDS; kind++)
            reduction((struct call){ .kind = kind,
                                     .comm = comm,
                                     .o = o,
                                     .count = count,
                                     .in_place = turn,
                                     .large = !turn });
    }
}

static void counts(void)
{
    static const int all[] = { 0,    1,    2,    3,     7,     13,    14,     15,    16,   17,
                               31,   64,   127,  128,   129,   511,   1000,   1024,  2047, 4096,
                               8191, 8192, 8193, 16385, 32769, 65537, 131073, 524288 };
    static const int few[] = { 0, 1, 3, 14, 15, 16, 128, 1001, 8193, 40001 };
    size_t number = options.brief ? sizeof few / sizeof *few : sizeof all / sizeof *all;
    struct operand o;

    for (int b = 0; b < BASICS; b++) {
        if (basics[b].type != MPI_DOUBLE ||
            !check(operand_of(&basics[b], 2, &o), "no sums of doubles"))
            continue;
        for (size_t i = 0; i < number; i++)
            all_kinds(MPI_COMM_WORLD, &o, options.brief ? few[i] : all[i]);
        free(o.l.block);
    }
    section("counts");
}

/* Reduces every predefined type with every operation. With --brief each pair is in a single kind of
 * call. */
static void types(void)
{
    static const int sizes[] = { 1, 19, 700 };
    int known = 0, unknown = 0;
    struct operand o;

    for (int b = 0; b < BASICS; b++) {
        for (int op = 0; op < basics[b].class->count; op++) {
            if (!operand_of(&basics[b], op, &o)) {
                unknown++;
                continue;
            }
            int turn = known++;
            for (int k = options.brief ? turn % KINDS : 0; k < KINDS;
                 k += options.brief ? KINDS : 1)
                for (int i = options.brief ? turn % 3 : 0; i < 3; i += options.brief ? 3 : 1)
                    reduction((struct call){ .kind = (enum kind)k,
                                             .comm = MPI_COMM_WORLD,
                                             .o = &o,
                                             .count = sizes[i],
                                             .root = turn % world_size,
                                             .in_place = turn / 2 % 2 });
            free(o.l.block);
        }
    }
    if (world_rank == 0)
        printf("%d pairs of a type and an operation, %d not in this MPI\n", known, unknown);
    check(known > 250, "only %d pairs of a type and an operation", known);
    section("types");
}

static void own_operations(void)
{
    static const int sizes[] = { 1, 7, 100, 3001 };
    struct operand o;

    for (int shape = 0; shape < SHAPES; shape++) {
        for (int commutes = 0; commutes < 2; commutes++) {
            own_operand(shape, commutes, &o);
            for (size_t i = options.brief ? (size_t)shape % 2 : 0; i < sizeof sizes / sizeof *sizes;
                 i += options.brief ? 2 : 1)
                all_kinds(MPI_COMM_WORLD, &o, sizes[i]);
            own_free(&o);
        }
    }
    check(misfits == 0, "a user's function was called with another type %d times", misfits);
    section("own");
}

/* Makes a call of random kind, type, operation, size and root. Every third call has a user's
 * operation and element. */
static void random_call(MPI_Comm comm, uint64_t *state)
{
    uint64_t own = draw(state, 3), shape = draw(state, SHAPES), commutes = draw(state, 2),
             type = draw(state, BASICS), op = draw(state, OPS_MAX);
    uint64_t bits = draw(state, options.brief ? 16 : 20),
             bytes = draw(state, ((uint64_t)1 << bits) + 1), root = draw(state, 1u << 20);
    struct call c = { .kind = (enum kind)draw(state, KINDS),
                      .comm = comm,
                      .in_place = draw(state, 2),
                      .large = draw(state, 2) };
    struct operand o;
    int size;

    if (own == 0)
        own_operand((int)shape, commutes, &o);
    else if (!operand_of(&basics[type], (int)op % basics[type].class->count, &o))
        return;
    MPI_Comm_size(comm, &size);
    bytes = bytes < options.max ? bytes : options.max;
    c.o = &o;
    c.count = (int)(bytes / laid_bytes(&o.l));
    c.root = (int)root % size;
    reduction(c);
    if (own == 0)
        own_free(&o);
    else
        free(o.l.block);
}

int main(int argc, char **argv)
{
    begin(&argc, &argv, MPI_THREAD_SINGLE);
    read_options(argc, argv, "reductions");
    if (world_size > 1024)
        MPI_Abort(MPI_COMM_WORLD, 2);
    counts();
    types();
    own_operations();
    random_sequence(random_call, options.brief ? 100 : 1000);
    check(misfits == 0, "a user's function was called with another type %d times", misfits);
    return finish("reductions");
}
