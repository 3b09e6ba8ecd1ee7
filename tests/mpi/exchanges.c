/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * exchanges.c - checks allgather, alltoall, alltoallv and alltoallw of any MPI against the
 * standard, byte by byte.
 *
 *   exchanges OPTIONS    (options.h)
 *
 * Each message between two ranks has different bytes, and both ranks describe it by different
 * types. Send buffers, gaps of a type, and bytes between, before and after messages must not
 * change. The same holds if one rank has nothing to exchange and passes other arguments than the
 * other ranks. Prints a line per section and one summary. Exits nonzero on any failure.
 */
#include "lengths.h"

enum kind_of_call { ALLGATHER, ALLTOALL, ALLTOALLV, ALLTOALLW, CALLS };
static const char *const call_names[CALLS] = { "allgather", "alltoall", "alltoallv", "alltoallw" };

enum { RANKS_MAX = 512 };

struct call {
    enum kind_of_call what;
    MPI_Comm comm;
    const struct family *family;
    int kind, units; /* units of each message; for alltoallv and alltoallw the maximum */
    bool in_place, large;
    uint64_t id;
};

/* A rank's buffer of all messages that it sends or receives. */
struct side {
    struct layout l[RANKS_MAX]; /* a layout per peer for alltoallw, otherwise one for all peers */
    int layouts, counts[RANKS_MAX],
        at[RANKS_MAX]; /* displacements as the call expects them, in elements or bytes */
    ptrdiff_t byte[RANKS_MAX];
    MPI_Datatype types[RANKS_MAX];
    struct area area;
};

static uint64_t calls; /* equal on all ranks */

/* Returns the units of the message between two ranks. */
static int units_of(const struct call *c, int from, int to)
{
    uint64_t low = (uint64_t)(from < to ? from : to), high = (uint64_t)(from < to ? to : from);
    uint64_t pair = c->in_place ? low * 1024 + high : (uint64_t)from * 1024 + (uint64_t)to,
             random = mix(c->id + mix(pair));

    if (c->what <= ALLTOALL)
        return c->units;
    return random % 4 == 0   ? 0
           : random % 4 == 1 ? c->units
                             : (int)((random >> 8) % (uint64_t)(c->units + 1));
}

/* Returns the kind of a message. Elements of "transposed" overlap, so this kind is used only if
 * each message has its own type. */
static const struct kind *kind_of(const struct call *c, int me, int peer, bool sending)
{
    int shift = c->what == ALLTOALLW ? me + peer : 0, own = c->in_place ? 0 : me + sending;
    const struct kind *kind = &c->family->kinds[(c->kind + shift + own) % c->family->count];

    return c->what != ALLTOALLW && strcmp(kind->name, "transposed") == 0 ? kind - 1 : kind;
}

static void free_side(struct side *s)
{
    for (int i = 0; i < s->layouts; i++)
        laid_free(&s->l[i]);
    free(s->area.memory);
    free(s);
}

/* Sets the type and the count of the message to or from a peer. If messages share a type, an
 * element is one unit, or a whole block of allgather and alltoall. */
static void describe(const struct call *c, struct side *s, int me, int peer, bool sending)
{
    int units = units_of(c, sending ? me : peer, sending ? peer : me),
        per = c->what == ALLTOALLV || units == 0 ? 1 : units, count;

    if (c->what == ALLTOALLW || s->layouts == 0) {
        bool empty = units == 0 && options.beyond && c->what == ALLTOALLW;
        s->l[s->layouts] =
            empty ? empties[peer % 3]() : kind_of(c, me, peer, sending)->make(per, &count);
        s->counts[peer] = empty ? 5 : count;
        MPI_Type_commit(&s->l[s->layouts++].type);
    }
    const struct layout *l = &s->l[s->layouts - 1];
    if (l->blocks > 0) /* all kinds of a family have the same signature */
        s->counts[peer] = (int)((size_t)units * UNIT / laid_bytes(l));
    s->types[peer] = l->type;
}

/*
 * Computes the displacements. Messages are in reverse order with gaps between them, but contiguous
 * for allgather and alltoall. The only message of a single rank is at displacement 0, because Open
 * MPI's own alltoallw of one rank takes displacements as elements instead of bytes.
 */
static void arrange(const struct call *c, struct side *s, int size)
{
    ptrdiff_t cursor = 0, elements = 0, lowest = 0, highest = 0, low, high;

    for (int i = 0; i < size; i++) {
        int peer = c->what <= ALLTOALL ? i : size - 1 - i;
        const struct layout *l = &s->l[c->what == ALLTOALLW ? peer : 0];
        span_of(l, s->counts[peer], &low, &high);
        cursor = size == 1 ? low : cursor;
        s->byte[peer] = c->what == ALLTOALLW ? cursor - low : elements * l->extent;
        s->at[peer] = (int)(c->what == ALLTOALLW ? s->byte[peer] : elements);
        cursor += (high - low + 31) / 16 * 16;
        elements += s->counts[peer] + (c->what == ALLTOALLV);
        lowest = s->byte[peer] + low < lowest ? s->byte[peer] + low : lowest;
        highest = s->byte[peer] + high > highest ? s->byte[peer] + high : highest;
    }
    s->area = area_between(lowest, highest);
}

static struct side *make_side(const struct call *c, int me, int size, bool sending)
{
    struct side *s = allocate(sizeof *s);

    s->layouts = 0;
    for (int peer = 0; peer < size; peer++)
        describe(c, s, me, peer, sending);
    arrange(c, s, size);
    return s;
}

/* Fills in the messages sent by `me`, or the messages that `me` must receive. */
static void fill(const struct call *c, const struct side *s, const struct area *area, int me,
                 int size, bool sending)
{
    unsigned char *packed = allocate((size_t)c->units * UNIT);

    for (int peer = 0; peer < size; peer++) {
        int from = sending ? me : peer, to = sending ? peer : me;
        pattern(packed, (size_t)units_of(c, from, to) * UNIT,
                mix(c->id) + (uint64_t)from * 1024 + (c->what == ALLGATHER ? 0 : (uint64_t)to));
        area_fill(&(struct area){ .base = area->base + s->byte[peer] },
                  &s->l[c->what == ALLTOALLW ? peer : 0], s->counts[peer], packed);
    }
    free(packed);
}

#if MPI_VERSION >= 4
static int perform_large(const struct call *c, const void *in, const struct side *s,
                         const struct side *r, int size)
{
    MPI_Count counts[2][RANKS_MAX];
    MPI_Aint at[2][RANKS_MAX];

    for (int i = 0; i < size; i++) {
        counts[0][i] = s->counts[i];
        counts[1][i] = r->counts[i];
        at[0][i] = s->at[i];
        at[1][i] = r->at[i];
    }
    if (c->what == ALLGATHER)
        return MPI_Allgather_c(in, counts[0][0], s->types[0], r->area.base, counts[1][0],
                               r->types[0], c->comm);
    if (c->what == ALLTOALL)
        return MPI_Alltoall_c(in, counts[0][0], s->types[0], r->area.base, counts[1][0],
                              r->types[0], c->comm);
    if (c->what == ALLTOALLV)
        return MPI_Alltoallv_c(in, counts[0], at[0], s->types[0], r->area.base, counts[1], at[1],
                               r->types[0], c->comm);
    return MPI_Alltoallw_c(in, counts[0], at[0], s->types, r->area.base, counts[1], at[1], r->types,
                           c->comm);
}
#endif

static int perform(const struct call *c, const struct side *s, const struct side *r, int size)
{
    const void *in = c->in_place ? MPI_IN_PLACE : s->area.base;

#if MPI_VERSION >= 4
    if (c->large)
        return perform_large(c, in, s, r, size);
#endif
    (void)size;
    if (c->what == ALLGATHER)
        return MPI_Allgather(in, s->counts[0], s->types[0], r->area.base, r->counts[0], r->types[0],
                             c->comm);
    if (c->what == ALLTOALL)
        return MPI_Alltoall(in, s->counts[0], s->types[0], r->area.base, r->counts[0], r->types[0],
                            c->comm);
    if (c->what == ALLTOALLV)
        return MPI_Alltoallv(in, s->counts, s->at, s->types[0], r->area.base, r->counts, r->at,
                             r->types[0], c->comm);
    return MPI_Alltoallw(in, s->counts, s->at, s->types, r->area.base, r->counts, r->at, r->types,
                         c->comm);
}

static void exchange(struct call c)
{
    int me, size;

    MPI_Comm_rank(c.comm, &me);
    MPI_Comm_size(c.comm, &size);
    c.id = mix(++calls ^ options.seed << 32);
    int sent_to = c.what == ALLGATHER ? 1 : size; /* number of messages that a rank sends */
    struct side *s = make_side(&c, me, sent_to, true), *r = make_side(&c, me, size, false);
    struct area want = { .bytes = r->area.bytes, .memory = allocate(r->area.bytes) },
                sent = { .memory = allocate(s->area.bytes) };

    memset(want.memory, BACKGROUND, want.bytes);
    want.base = want.memory + (r->area.base - r->area.memory);
    fill(&c, r, &want, me, size, false);
    fill(&c, s, &s->area, me, sent_to, true);
    memcpy(sent.memory, s->area.memory, s->area.bytes);
    if (c.in_place)
        fill(&c, r, &r->area, me, size, true);
    int error = perform(&c, s, r, size);
    check(error == MPI_SUCCESS && memcmp(want.memory, r->area.memory, want.bytes) == 0,
          "%s %s, kind %d, %d units, %d ranks, call %llu: error %d or wrong bytes",
          call_names[c.what], c.in_place ? "in place" : "of two buffers", c.kind, c.units, size,
          (unsigned long long)calls, error);
    check(memcmp(sent.memory, s->area.memory, s->area.bytes) == 0, "%s changed its send buffer",
          call_names[c.what]);
    free(want.memory);
    free(sent.memory);
    free_side(s);
    free_side(r);
}

static void with_length(int what, int units, bool in_place, bool large)
{
    exchange((struct call){ .what = (enum kind_of_call)what,
                            .comm = MPI_COMM_WORLD,
                            .family = &families[0],
                            .units = units,
                            .in_place = in_place,
                            .large = large });
}

static void with_type(int what, const struct family *family, int kind, int units, int round,
                      bool in_place)
{
    (void)round;
    exchange((struct call){ .what = (enum kind_of_call)what,
                            .comm = MPI_COMM_WORLD,
                            .family = family,
                            .kind = kind,
                            .units = units,
                            .in_place = in_place,
                            .large = kind % 2 });
}

/* ---- one rank with other arguments than the others ---- */

static int word_of(int from, int to)
{
    return from * 1024 + to + 1;
}

/* Exchanges an int with each rank except `idle`. */
static void active(enum kind_of_call what, int idle)
{
    int in[RANKS_MAX], out[RANKS_MAX], counts[RANKS_MAX], at[RANKS_MAX];
    MPI_Datatype types[RANKS_MAX];

    for (int r = 0; r < world_size; r++) {
        in[r] = word_of(world_rank, r);
        out[r] = 0;
        counts[r] = r != idle;
        at[r] = r * (what == ALLTOALLW ? (int)sizeof *in : 1);
        types[r] = MPI_INT;
    }
    int error =
        what == ALLTOALLV
            ? MPI_Alltoallv(in, counts, at, MPI_INT, out, counts, at, MPI_INT, MPI_COMM_WORLD)
            : MPI_Alltoallw(in, counts, at, types, out, counts, at, types, MPI_COMM_WORLD);
    for (int r = 0; r < world_size; r++)
        check(error == MPI_SUCCESS && out[r] == (counts[r] ? word_of(r, world_rank) : 0),
              "%s: error %d or wrong word from rank %d", call_names[what], error, r);
}

/* Makes calls that exchange nothing. The same arrays of zeros serve as counts and displacements of
 * both directions. */
static void idle(enum kind_of_call what, void *buffer, MPI_Datatype sent, MPI_Datatype received)
{
    static const int none[RANKS_MAX];
    MPI_Datatype from[RANKS_MAX], to[RANKS_MAX];

    for (int r = 0; r < world_size; r++) {
        from[r] = sent;
        to[r] = received;
    }
    int error =
        what == ALLTOALLV
            ? MPI_Alltoallv(buffer, none, none, sent, buffer, none, none, received, MPI_COMM_WORLD)
            : MPI_Alltoallw(buffer, none, none, from, buffer, none, none, to, MPI_COMM_WORLD);
    check(error == MPI_SUCCESS, "%s of nothing: error %d", call_names[what], error);
}

static void unlike(void)
{
    int word = 0;
    const struct {
        enum kind_of_call what;
        void *buffer;
        MPI_Datatype sent, received;
        bool beyond; /* MPICH rejects this as one buffer for both directions */
    } ways[] = {
        { ALLTOALLV, NULL, MPI_INT, MPI_BYTE, false },
        { ALLTOALLV, &word, MPI_INT, MPI_BYTE, false },
        { ALLTOALLV, &word, MPI_INT, MPI_INT, true },
        { ALLTOALLW, NULL, MPI_INT, MPI_BYTE, false },
        { ALLTOALLW, &word, MPI_INT, MPI_INT, false },
#ifndef OPEN_MPI /* Open MPI requires a type even for a count of 0 */
        { ALLTOALLW, NULL, MPI_DATATYPE_NULL, MPI_DATATYPE_NULL, false },
#endif
    };

    for (int who = 0; who < world_size; who = next_root(who, world_size)) {
        for (size_t w = 0; w < sizeof ways / sizeof *ways; w++) {
            if (ways[w].beyond && !options.beyond)
                continue;
            if (world_rank == who)
                idle(ways[w].what, ways[w].buffer, ways[w].sent, ways[w].received);
            else
                active(ways[w].what, who);
            active(ways[w].what, -1); /* all ranks have completed the call before */
        }
    }
    section("unlike");
}

static void random_call(MPI_Comm comm, uint64_t *state)
{
    uint64_t what = draw(state, CALLS), family = draw(state, 2), kind = draw(state, 100),
             bits = draw(state, options.brief ? 10 : 14);
    uint64_t units = draw(state, ((uint64_t)1 << bits) + 1), in_place = draw(state, 2),
             large = draw(state, 2);

    if (!too_large((int)units))
        exchange((struct call){ .what = (enum kind_of_call)what,
                                .comm = comm,
                                .family = &families[family],
                                .kind = draw(state, 3) ? (int)kind : 0,
                                .units = (int)units,
                                .in_place = in_place,
                                .large = large });
}

int main(int argc, char **argv)
{
    begin(&argc, &argv, MPI_THREAD_SINGLE);
    read_options(argc, argv, "exchanges");
    if (world_size > RANKS_MAX)
        MPI_Abort(MPI_COMM_WORLD, 2);
    all_lengths(CALLS, with_length);
    all_types(CALLS, with_type);
    unlike();
    random_sequence(random_call, options.brief ? 100 : 1000);
    return finish("exchanges");
}
