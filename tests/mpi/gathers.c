/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * gathers.c - checks gather, gatherv, scatter, scatterv and allgatherv of any MPI against the
 * standard, byte by byte.
 *
 *   gathers OPTIONS    (options.h)
 *
 * Each block has different bytes, and its two ranks describe it by different types. Sent bytes,
 * gaps of a type, and bytes between, before and after blocks must not change. Arguments that are
 * significant only at the root are garbage elsewhere. Prints a line per section and one summary.
 * Exits nonzero on any failure.
 */
#include "lengths.h"

enum kind_of_call { GATHER, SCATTER, GATHERV, SCATTERV, ALLGATHERV, CALLS };
static const char *const call_names[CALLS] = { "gather", "scatter", "gatherv", "scatterv",
                                               "allgatherv" };

enum { RANKS_MAX = 512 };

struct call {
    enum kind_of_call what;
    MPI_Comm comm;
    const struct family *family;
    int kind, units; /* units of each block; for calls with counts the maximum */
    int root;
    bool in_place, large;
    uint64_t id;
};

static uint64_t calls; /* equal on all ranks */

static bool has_counts(const struct call *c)
{
    return c->what >= GATHERV;
}

static bool scatters(const struct call *c)
{
    return c->what == SCATTER || c->what == SCATTERV;
}

/* Returns the units of a rank's block. */
static int units_of(const struct call *c, int rank)
{
    uint64_t random = mix(c->id + mix((uint64_t)rank));

    if (!has_counts(c))
        return c->units;
    return random % 4 == 0   ? 0
           : random % 4 == 1 ? c->units
                             : (int)((random >> 8) % (uint64_t)(c->units + 1));
}

/* Returns the kind of a block. Elements of "transposed" overlap, so several of them cannot follow
 * each other. */
static const struct kind *kind_of(const struct call *c, int shift)
{
    const struct kind *kind = &c->family->kinds[(c->kind + shift) % c->family->count];

    return strcmp(kind->name, "transposed") == 0 ? kind - 1 : kind;
}

/* Reports whether all ranks must describe all blocks by the same type. MPICH splits an allgatherv
 * by the type's extent, and Open MPI chooses an algorithm by the size of the send buffer, so this
 * is needed without huddle. */
static bool alike(const struct call *c)
{
    return c->what == ALLGATHERV && !options.beyond;
}

/* A rank's own block, in its own buffer. */
struct one {
    struct layout l;
    int count;
    struct area area;
};

static struct one make_one(const struct call *c, int me)
{
    int units = units_of(c, me);
    struct one o = { .count = 0 };

    o.l = kind_of(c, alike(c) ? 0 : me)->make(units == 0 || alike(c) ? 1 : units, &o.count);
    o.count *= units == 0 ? 0 : alike(c) ? units : 1;
    MPI_Type_commit(&o.l.type);
    o.area = area_of(&o.l, o.count);
    return o;
}

/* The blocks of all ranks, of one type. For calls with counts, an element of the type is a unit. */
struct all {
    struct layout l;
    int size, counts[RANKS_MAX], at[RANKS_MAX]; /* counts and displacements in elements */
    ptrdiff_t byte[RANKS_MAX];
    struct area area;
};

/* Computes the displacements. Blocks of calls with counts are in reverse order with gaps between
 * them. Other blocks are contiguous. */
static void arrange(const struct call *c, struct all *a, int per_unit)
{
    ptrdiff_t elements = 0, lowest = 0, highest = 0, low, high;

    for (int i = 0; i < a->size; i++) {
        int rank = has_counts(c) ? a->size - 1 - i : i;
        a->counts[rank] = units_of(c, rank) * (has_counts(c) ? per_unit : 1);
        if (!has_counts(c))
            a->counts[rank] = per_unit;
        a->at[rank] = (int)elements;
        a->byte[rank] = elements * a->l.extent;
        span_of(&a->l, a->counts[rank], &low, &high);
        lowest = a->byte[rank] + low < lowest ? a->byte[rank] + low : lowest;
        highest = a->byte[rank] + high > highest ? a->byte[rank] + high : highest;
        elements += a->counts[rank] + has_counts(c);
    }
    a->area = area_between(lowest, highest);
}

static struct all *make_all(const struct call *c, int me, int size)
{
    struct all *a = allocate(sizeof *a);
    int units = has_counts(c) ? 1 : c->units, count;

    a->size = size;
    a->l = kind_of(c, alike(c) ? 0 : me + 1)->make(units == 0 ? 1 : units, &count);
    MPI_Type_commit(&a->l.type);
    arrange(c, a, units == 0 ? 0 : count);
    return a;
}

static void fill_block(const struct call *c, const struct area *area, ptrdiff_t byte,
                       const struct layout *l, int count, int rank)
{
    size_t bytes = (size_t)units_of(c, rank) * UNIT;
    unsigned char *packed = allocate(bytes);

    pattern(packed, bytes, mix(c->id) + (uint64_t)rank);
    area_fill(&(struct area){ .base = area->base + byte }, l, count, packed);
    free(packed);
}

/* Fills in the blocks of all ranks or of a single rank, in an area laid out like that of `a`. */
static void fill_all(const struct call *c, const struct all *a, const struct area *area, int only)
{
    for (int r = 0; r < a->size; r++)
        if (only < 0 || r == only)
            fill_block(c, area, a->byte[r], &a->l, a->counts[r], r);
}

/* ---- the call ---- */

/* The arguments for the single block and for all blocks. Arguments that are not significant are
 * garbage that no MPI may read. */
struct arguments {
    const struct call *c;
    void *one, *all;
    int count, counts;
    MPI_Datatype type, all_type;
    const int *array, *at;
};

#if MPI_VERSION >= 4
static int perform_large(const struct arguments *a, int size)
{
    MPI_Count array[RANKS_MAX];
    MPI_Aint at[RANKS_MAX];

    for (int i = 0; a->array && i < size; i++) {
        array[i] = a->array[i];
        at[i] = a->at[i];
    }
    const MPI_Count *counts = a->array ? array : NULL;
    const MPI_Aint *places = a->array ? at : NULL;
    switch (a->c->what) {
    case GATHER:
        return MPI_Gather_c(a->one, a->count, a->type, a->all, a->counts, a->all_type, a->c->root,
                            a->c->comm);
    case SCATTER:
        return MPI_Scatter_c(a->all, a->counts, a->all_type, a->one, a->count, a->type, a->c->root,
                             a->c->comm);
    case GATHERV:
        return MPI_Gatherv_c(a->one, a->count, a->type, a->all, counts, places, a->all_type,
                             a->c->root, a->c->comm);
    case SCATTERV:
        return MPI_Scatterv_c(a->all, counts, places, a->all_type, a->one, a->count, a->type,
                              a->c->root, a->c->comm);
    default:
        return MPI_Allgatherv_c(a->one, a->count, a->type, a->all, counts, places, a->all_type,
                                a->c->comm);
    }
}
#endif

static int perform(const struct arguments *a, int size)
{
#if MPI_VERSION >= 4
    if (a->c->large)
        return perform_large(a, size);
#endif
    (void)size;
    switch (a->c->what) {
    case GATHER:
        return MPI_Gather(a->one, a->count, a->type, a->all, a->counts, a->all_type, a->c->root,
                          a->c->comm);
    case SCATTER:
        return MPI_Scatter(a->all, a->counts, a->all_type, a->one, a->count, a->type, a->c->root,
                           a->c->comm);
    case GATHERV:
        return MPI_Gatherv(a->one, a->count, a->type, a->all, a->array, a->at, a->all_type,
                           a->c->root, a->c->comm);
    case SCATTERV:
        return MPI_Scatterv(a->all, a->array, a->at, a->all_type, a->one, a->count, a->type,
                            a->c->root, a->c->comm);
    default:
        return MPI_Allgatherv(a->one, a->count, a->type, a->all, a->array, a->at, a->all_type,
                              a->c->comm);
    }
}

/* Returns the arguments. Those significant only at the root have invalid values at other ranks. */
static struct arguments arguments_of(const struct call *c, const struct one *one,
                                     const struct all *all, bool has_all, bool in_place)
{
    struct arguments a = { .c = c,
                           .one = in_place ? MPI_IN_PLACE : one->area.base,
                           .count = in_place ? -7 : one->count,
                           .type = in_place ? MPI_DATATYPE_NULL : one->l.type,
                           .all = (void *)(uintptr_t)64,
                           .counts = -3,
                           .all_type = MPI_DATATYPE_NULL };

    if (has_all) {
        a.all = all->area.base;
        a.counts = all->counts[0];
        a.all_type = all->l.type;
        a.array = all->counts;
        a.at = all->at;
    }
    return a;
}

static bool same(const struct area *a, const unsigned char *want)
{
    return memcmp(a->memory, want, a->bytes) == 0;
}

static unsigned char *copy_of(const struct area *a)
{
    unsigned char *copy = allocate(a->bytes);

    memcpy(copy, a->memory, a->bytes);
    return copy;
}

/* Returns a copy of an area, to be changed to the expected contents. */
static struct area wanted(const struct area *a)
{
    struct area want = { .memory = copy_of(a), .bytes = a->bytes };

    want.base = want.memory + (a->base - a->memory);
    return want;
}

static void gather(struct call c)
{
    int me, size;

    MPI_Comm_rank(c.comm, &me);
    MPI_Comm_size(c.comm, &size);
    c.id = mix(++calls ^ options.seed << 32);
    c.root %= size;
    bool has_all = c.what == ALLGATHERV || me == c.root, in_place = c.in_place && has_all;
    struct one one = make_one(&c, me);
    struct all *all = make_all(&c, me, size);
    struct area want_one = wanted(&one.area), want_all = wanted(&all->area);
    if (scatters(&c)) {
        if (has_all)
            fill_all(&c, all, &all->area, -1);
        if (!in_place)
            fill_block(&c, &want_one, 0, &one.l, one.count, me);
    } else {
        fill_block(&c, &one.area, 0, &one.l, one.count, me);
        fill_block(&c, &want_one, 0, &one.l, one.count, me);
        if (in_place)
            fill_all(&c, all, &all->area, me);
    }
    if (has_all)
        fill_all(&c, all, &want_all, -1);
    const struct arguments a = arguments_of(&c, &one, all, has_all, in_place);
    int error = perform(&a, size);
    check(error == MPI_SUCCESS && same(&one.area, want_one.memory) &&
              same(&all->area, want_all.memory),
          "%s %s, root %d, kind %d, %d units, %d ranks, call %llu: error %d or wrong bytes",
          call_names[c.what], c.in_place ? "in place" : "of two buffers", c.root, c.kind, c.units,
          size, (unsigned long long)calls, error);
    free(want_one.memory);
    free(want_all.memory);
    free(one.area.memory);
    laid_free(&one.l);
    free(all->area.memory);
    laid_free(&all->l);
    free(all);
}

static void with_length(int what, int units, bool in_place, bool large)
{
    for (int root = 0; root < world_size; root = next_root(root, world_size))
        gather((struct call){ .what = (enum kind_of_call)what,
                              .comm = MPI_COMM_WORLD,
                              .family = &families[0],
                              .units = units,
                              .root = root,
                              .in_place = in_place,
                              .large = large });
}

static void with_type(int what, const struct family *family, int kind, int units, int round,
                      bool in_place)
{
    gather((struct call){ .what = (enum kind_of_call)what,
                          .comm = MPI_COMM_WORLD,
                          .family = family,
                          .kind = kind,
                          .units = units,
                          .root = kind + round,
                          .in_place = in_place,
                          .large = kind % 2 });
}

/* Gathers no bytes, or in calls with counts possibly no bytes of the root. */
static void nothing(void)
{
    for (int what = 0; what < CALLS; what++)
        for (int root = 0; root < world_size; root = next_root(root, world_size))
            for (int turn = 0; turn < 4; turn++)
                gather((struct call){ .what = (enum kind_of_call)what,
                                      .comm = MPI_COMM_WORLD,
                                      .family = &families[turn % 2],
                                      .units = turn / 2,
                                      .root = root,
                                      .in_place = turn % 2 });
    section("nothing");
}

static void random_call(MPI_Comm comm, uint64_t *state)
{
    uint64_t what = draw(state, CALLS), family = draw(state, 2), kind = draw(state, 100),
             bits = draw(state, options.brief ? 10 : 14), root = draw(state, RANKS_MAX);
    uint64_t units = draw(state, ((uint64_t)1 << bits) + 1), in_place = draw(state, 2),
             large = draw(state, 2);

    if (!too_large((int)units))
        gather((struct call){ .what = (enum kind_of_call)what,
                              .comm = comm,
                              .family = &families[family],
                              .kind = draw(state, 3) ? (int)kind : 0,
                              .units = (int)units,
                              .root = (int)root,
                              .in_place = in_place,
                              .large = large });
}

int main(int argc, char **argv)
{
    begin(&argc, &argv, MPI_THREAD_SINGLE);
    read_options(argc, argv, "gathers");
    if (world_size > RANKS_MAX)
        MPI_Abort(MPI_COMM_WORLD, 2);
    all_lengths(CALLS, with_length);
    all_types(CALLS, with_type);
    nothing();
    random_sequence(random_call, options.brief ? 100 : 1000);
    return finish("gathers");
}
