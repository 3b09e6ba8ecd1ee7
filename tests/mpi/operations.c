/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * operations.c - reductions with user-defined operations, on elements with every memory layout that
 * a datatype allows.
 *
 * An element is a pair (a, b), which represents the function x -> a x + b. One operation composes
 * two elements, which does not commute; the other operation adds them. A layout determines the
 * places of an element's members: contiguous, in reverse order, with gaps, below the element's
 * address, from the end of the buffer downwards, or at different places on different ranks. The
 * user's function must find members at the places of the layout, and bytes between them must not
 * change.
 *
 *     operations [--hard] [COLLECTIVE...]
 *
 * --hard: also layouts with which some MPIs crash without huddle (they write beyond their temporary
 * memory); for runs in which huddle handles every call.
 */
#include "check.h"

typedef uint32_t word;

enum { MEMBERS_MAX = 1300, GUARD = 0x5a };

static const struct layout {
    const char *name;
    long at[2];         /* offsets of a and b in bytes */
    long lower, extent; /* 0, 0 for the MPI's default */
    int repeats;        /* number of pairs in an element, `apart` bytes from each other; 0 means a
                         * single pair */
    long apart;
    enum { EASY, LEFT, HARD } kind; /* LEFT: falls back to the MPI; HARD: tested only with huddle */
    long even;                      /* offset of b on ranks with even numbers; 0 for the same offset
                                     * on all ranks */
} layouts[] = {
    { "run", { 0, 4 }, 0, 0, 0, 0, EASY, 0 },
    { "other order", { 4, 0 }, 0, 0, 0, 0, EASY, 0 },
    { "gaps", { 0, 8 }, 0, 0, 0, 0, EASY, 0 },
    { "run of 100", { 0, 4 }, 0, 0, 100, 8, EASY, 0 },
    { "100 with gaps", { 0, 8 }, 0, 0, 100, 12, EASY, 0 },
    { "largest", { 4, 0 }, 0, 0, 512, 8, EASY, 0 },
    { "too large", { 0, 4 }, 0, 0, 513, 8, LEFT, 0 },
    { "far apart", { 0, 20000 }, 0, 0, 0, 0, EASY, 0 },
    { "apart on some", { 0, 20000 }, 0, 0, 0, 0, HARD, 8 },
    { "gaps all round", { 4, 16 }, 0, 24, 0, 0, HARD, 0 },
    { "shifted run", { 8, 12 }, 8, 8, 0, 0, HARD, 0 },
    { "below", { -12, -4 }, -16, 24, 0, 0, HARD, 0 },
    { "around", { -8, 8 }, -8, 24, 0, 0, HARD, 0 },
    { "downwards", { 0, 8 }, 0, -16, 0, 0, HARD, 0 },
    { "downwards, below", { -8, 12 }, -8, -24, 0, 0, HARD, 0 },
};
static const struct layout *current; /* layout of the running operation */
static bool far;                     /* whether its elements are wide on some rank */

static int pairs_of(const struct layout *l)
{
    return l->repeats ? l->repeats : 1;
}

static MPI_Datatype type_of(const struct layout *l, MPI_Aint *extent)
{
    int ones[2 * MEMBERS_MAX];
    MPI_Aint at[2 * MEMBERS_MAX], lower;
    MPI_Datatype plain, type;

    for (int i = 0; i < 2 * pairs_of(l); i++) {
        ones[i] = 1;
        at[i] = l->at[i % 2] + i / 2 * l->apart;
    }
    MPI_Type_create_hindexed(2 * pairs_of(l), ones, at, MPI_UINT32_T, &plain);
    if (l->extent)
        MPI_Type_create_resized(plain, l->lower, l->extent, &type);
    else
        MPI_Type_dup(plain, &type);
    MPI_Type_free(&plain);
    MPI_Type_commit(&type);
    MPI_Type_get_extent(type, &lower, extent);
    return type;
}

static word *member(void *element, int pair, int which)
{
    return (word *)(void *)((char *)element + current->at[which] + pair * current->apart);
}

/* ---- operations: the right operand becomes left op right ---- */

static void compose_one(word a, word b, word *c, word *d)
{
    *d = a * *d + b;
    *c = a * *c;
}

static void add_one(word a, word b, word *c, word *d)
{
    *c += a;
    *d += b;
}

static void apply(void *left, void *right, int count, MPI_Datatype type,
                  void (*one)(word, word, word *, word *))
{
    MPI_Aint lower, extent;

    MPI_Type_get_extent(type, &lower, &extent);
    for (int i = 0; i < count; i++)
        for (int k = 0; k < pairs_of(current); k++) {
            void *from = (char *)left + i * extent, *to = (char *)right + i * extent;
            one(*member(from, k, 0), *member(from, k, 1), member(to, k, 0), member(to, k, 1));
        }
}

static void compose(void *left, void *right, int *count, MPI_Datatype *type)
{
    apply(left, right, *count, *type, compose_one);
}

static void add(void *left, void *right, int *count, MPI_Datatype *type)
{
    apply(left, right, *count, *type, add_one);
}

#if MPI_VERSION >= 4
static void compose_large(void *left, void *right, MPI_Count *count, MPI_Datatype *type)
{
    apply(left, right, (int)*count, *type, compose_one);
}
#endif

static struct operation {
    const char *name;
    void (*one)(word, word, word *, word *);
    MPI_Op op;
} operations[3];
static int operations_count;

static void make_operations(void)
{
    operations[0] = (struct operation){ "compose", compose_one, MPI_OP_NULL };
    MPI_Op_create(compose, 0, &operations[0].op);
    operations[1] = (struct operation){ "add", add_one, MPI_OP_NULL };
    MPI_Op_create(add, 1, &operations[1].op);
    operations_count = 2;
#if MPI_VERSION >= 4
    operations[2] = (struct operation){ "compose, large", compose_one, MPI_OP_NULL };
    MPI_Op_create_c(compose_large, 0, &operations[2].op);
    operations_count = 3;
#endif
}

/* ---- buffers ---- */

struct area {
    size_t bytes;
    char *memory, *first; /* first: element 0 as MPI counts */
};

static struct area area_of(MPI_Aint extent, int count)
{
    size_t step = (size_t)(extent < 0 ? -extent : extent), span = step * (size_t)(count + 1) + 64;
    struct area a = { .bytes = span + 20480 };

    a.memory = allocate(a.bytes);
    a.first = a.memory + 64 + (extent < 0 ? (size_t)(count > 0 ? count : 0) * step : 0);
    memset(a.memory, GUARD, a.bytes);
    return a;
}

static word value(uint64_t id, int rank, int element, int pair, int which)
{
    return (word)mix(id * 1000003u + (uint64_t)rank * 10007u + (uint64_t)element * 8191u +
                     (uint64_t)pair * 2u + (uint64_t)which) |
           (which == 0);
}

/* Fills in this rank's contribution, elements [0, count). */
static void contribute(const struct area *a, MPI_Aint extent, int count, uint64_t id)
{
    for (int i = 0; i < count; i++)
        for (int k = 0; k < pairs_of(current); k++)
            for (int w = 0; w < 2; w++)
                *member(a->first + i * extent, k, w) = value(id, world_rank, i, k, w);
}

/* Fills in elements [from, from + count) of the result over `ranks` ranks, beginning at element 0
 * of the area. */
static void expect(const struct area *a, MPI_Aint extent, int from, int count, uint64_t id,
                   const struct operation *o, int ranks)
{
    for (int i = 0; i < count; i++)
        for (int k = 0; k < pairs_of(current); k++) {
            word c = value(id, 0, from + i, k, 0), d = value(id, 0, from + i, k, 1);
            for (int r = 1; r < ranks; r++) {
                word e = value(id, r, from + i, k, 0), f = value(id, r, from + i, k, 1);
                o->one(c, d, &e, &f);
                c = e;
                d = f;
            }
            *member(a->first + i * extent, k, 0) = c;
            *member(a->first + i * extent, k, 1) = d;
        }
}

/* ---- collectives ---- */

struct call {
    MPI_Datatype type;
    const struct operation *operation;
    int count, root;
    int counts[256], first; /* counts of reduce_scatter, and the first element of this rank's
                             * block */
    const void *in;
    void *out;
};

static int do_allreduce(const struct call *c)
{
    return MPI_Allreduce(c->in, c->out, c->count, c->type, c->operation->op, MPI_COMM_WORLD);
}

static int do_reduce(const struct call *c)
{
    const void *in = c->in == MPI_IN_PLACE && world_rank != c->root ? c->out : c->in;

    return MPI_Reduce(in, world_rank == c->root ? c->out : NULL, c->count, c->type,
                      c->operation->op, c->root, MPI_COMM_WORLD);
}

static int do_reduce_scatter(const struct call *c)
{
    return MPI_Reduce_scatter(c->in, c->out, c->counts, c->type, c->operation->op, MPI_COMM_WORLD);
}

static int do_reduce_scatter_block(const struct call *c)
{
    return MPI_Reduce_scatter_block(c->in, c->out, c->counts[0], c->type, c->operation->op,
                                    MPI_COMM_WORLD);
}

static int do_scan(const struct call *c)
{
    return MPI_Scan(c->in, c->out, c->count, c->type, c->operation->op, MPI_COMM_WORLD);
}

static int do_exscan(const struct call *c)
{
    return MPI_Exscan(c->in, c->out, c->count, c->type, c->operation->op, MPI_COMM_WORLD);
}

static const struct collective {
    const char *name;
    int (*call)(const struct call *c);
    bool rooted, scatters, even;
    enum { OF_ALL, UP_TO, BEFORE } of; /* the ranks whose contributions are in a rank's result */
} collectives[] = {
    { "allreduce", do_allreduce, false, false, false, OF_ALL },
    { "reduce", do_reduce, true, false, false, OF_ALL },
    { "reduce_scatter", do_reduce_scatter, false, true, false, OF_ALL },
    { "reduce_scatter_block", do_reduce_scatter_block, false, true, true, OF_ALL },
    { "scan", do_scan, false, false, false, UP_TO },
    { "exscan", do_exscan, false, false, false, BEFORE },
};

/* Sets blocks of `count` elements, or of r * count elements at rank r. Returns the total. */
static int cut(struct call *c, int count, bool even)
{
    int total = 0;

    for (int r = 0; r < world_size; r++) {
        c->counts[r] = even ? count : r * count;
        if (r == world_rank)
            c->first = total;
        total += c->counts[r];
    }
    return total;
}

static bool same(const struct area *a, const struct area *b, MPI_Aint extent, int count)
{
    bool same = true;

    for (int i = 0; i < count; i++)
        for (int k = 0; k < pairs_of(current); k++)
            for (int w = 0; w < 2; w++)
                same = same &&
                       *member(a->first + i * extent, k, w) == *member(b->first + i * extent, k, w);
    return same;
}

static bool hard; /* also layouts with which some MPIs crash without huddle */

static void one_call(const struct collective *with, const struct operation *o, MPI_Datatype type,
                     MPI_Aint extent, int count, bool in_place)
{
    static uint64_t id;
    struct call c = { .type = type, .operation = o, .root = (int)(++id % (uint64_t)world_size) };

    if (in_place &&
        (!hard || current->kind == LEFT)) /* MPICH 4.0 reads from MPI_IN_PLACE if a non-commutative
                                           * reduction has a root other than 0 */
        c.root = 0;

    c.count = with->scatters ? cut(&c, count, with->even) : count;
    struct area in = area_of(extent, c.count), out = area_of(extent, c.count),
                want = area_of(extent, c.count);
    int ranks = with->of == OF_ALL ? world_size : world_rank + (with->of == UP_TO);
    bool gets = ranks > 0 && (!with->rooted || world_rank == c.root);
    int own = !gets ? 0 : with->scatters ? c.counts[world_rank] : c.count;
    contribute(in_place ? &out : &in, extent, c.count, id);
    c.in = in_place ? MPI_IN_PLACE : in.first;
    c.out = out.first;
    if (in_place && !gets)
        contribute(&want, extent, c.count, id);
    expect(&want, extent, with->scatters ? c.first : 0, own, id, o, ranks);
    calls_left += current->kind == LEFT && c.count > 0 && world_size > 1;
    int error = with->call(&c);
    /* Outside of its own block, the buffer of an in-place reduce_scatter is undefined. */
    bool good = in_place && with->scatters ? same(&out, &want, extent, own)
                                           : memcmp(out.memory, want.memory, want.bytes) == 0;
    check(error == MPI_SUCCESS && good, "%s of %d elements (%s), %s%s: error %d or wrong bytes",
          with->name, c.count, current->name, o->name, in_place ? ", in place" : "", error);
    free(in.memory);
    free(out.memory);
    free(want.memory);
}

/* Reports whether a word is among the arguments. Without words, all collectives are meant. */
static bool named(const char *const *words, const char *wanted)
{
    bool any = false, found = false;

    for (; *words; words++) {
        bool option = **words == '-';
        any = any || !option;
        found = found || strcmp(*words, wanted) == 0;
    }
    return found || (!any && *wanted != '-');
}

static void all_calls(const struct collective *with, MPI_Datatype type, MPI_Aint extent)
{
    static const int counts[] = { 0, 1, 2, 7, 150, 1000 };

    for (int o = 0; o < operations_count; o++)
        for (size_t n = 0; n < sizeof counts / sizeof *counts; n++)
            if (counts[n] < 150 || (pairs_of(current) == 1 && !far))
                for (int in_place = 0; in_place < 2; in_place++)
                    one_call(with, &operations[o], type, extent, counts[n], in_place);
}

int main(int argc, char **argv)
{
    const char *const *words = (const char *const *)argv + 1;

    begin(&argc, &argv, MPI_THREAD_SINGLE);
    make_operations();
    hard = named(words, "--hard");
    for (size_t l = 0; l < sizeof layouts / sizeof *layouts; l++) {
        MPI_Aint extent;
        if (layouts[l].kind == HARD && !hard)
            continue;
        struct layout own = layouts[l];
        far = labs(own.at[1]) > 1000;
        if (own.even && world_rank % 2 == 0)
            own.at[1] = own.even;
        current = &own;
        MPI_Datatype type = type_of(current, &extent);
        for (size_t c = 0; c < sizeof collectives / sizeof *collectives; c++)
            if (named(words, collectives[c].name))
                all_calls(&collectives[c], type, extent);
        MPI_Type_free(&type);
        section(current->name);
    }
    for (int o = 0; o < operations_count; o++)
        MPI_Op_free(&operations[o].op);
    return finish("operations");
}
