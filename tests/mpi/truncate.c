/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * truncate.c - a rank is sent more bytes than fit its buffer. huddle reports this error to the
 * communicator's error handler, and for a request when the request is completed.
 *
 *   truncate [--forms | --choices]    --forms: nonblocking and persistent calls, too
 *                                     --choices: only broadcasts whose sizes have two choices
 *
 * Such a program is erroneous, and MPIs alone behave differently, so it is run with huddle only.
 * Without --choices the sizes of both sides are in the range of one algorithm. Nothing may be
 * written beyond a receiver's buffer, the bytes that fit must arrive, and the communicator must
 * stay usable. In collectives with blocks, the blocks that fit must be right.
 */
#include "completions.h"
#include "forms.h"

static int handled, expected;
static bool counting; /* whether this program's handler is set */

static void handler(MPI_Comm *comm, int *error, ...)
{
    int class = 0;

    (void)comm;
    MPI_Error_class(*error, &class);
    handled += class == MPI_ERR_TRUNCATE;
}

/* Reports whether no byte between begin and end was written. */
static bool untouched(const unsigned char *got, size_t begin, size_t end)
{
    while (begin < end && got[begin] == 0xA5)
        begin++;
    return begin >= end;
}

/* ---- a call in a form ------------------------------------------------------------------------ */

/* Number of the next way to complete a request. Open MPI 4's MPI_Testall and MPI_Testany do not
 * return the error of a persistent request. */
static int way;

static int complete(MPI_Request *request, enum form form)
{
    do
        way = (way + 1) % WAYS;
    while (form == PERSISTENT && (way == 2 || way == 3));
    return wait_one(request, way);
}

/* Makes a call and returns its error. A persistent request is started twice, and must give the same
 * error. */
static int run(enum kind_of_call what, const struct arguments *a, enum form form)
{
    MPI_Request request = MPI_REQUEST_NULL;
    int error = collectives[what].call(a, form, &request), first;

    if (form == PERSISTENT && error == MPI_SUCCESS) {
        check(MPI_Start(&request) == MPI_SUCCESS, "a start failed");
        first = complete(&request, form);
        check(MPI_Start(&request) == MPI_SUCCESS, "a second start failed");
        error = complete(&request, form);
        check(error == first, "%s: error %d, then %d", collectives[what].name, first, error);
    } else if (form == NONBLOCKING && error == MPI_SUCCESS) {
        error = complete(&request, form);
    }
    check((request != MPI_REQUEST_NULL) == (form == PERSISTENT),
          "a nonblocking request remains, or a persistent request is gone");
    if (form == PERSISTENT)
        MPI_Request_free(&request);
    return error;
}

/* Reports whether the class is acceptable. MPICH's functions for several requests give another
 * class in the status of a generalized request than MPI_Wait returns. */
static bool vague(enum form form, int class)
{
#ifdef OPEN_MPI
    (void)form, (void)class;
    return false;
#else
    return form == NONBLOCKING && way > 1 && class == MPI_ERR_OTHER;
#endif
}

/* Makes a call like run(), and checks that the call reports truncation exactly if is_cut is set. */
static void cut(enum kind_of_call what, const struct arguments *a, enum form form, bool is_cut,
                size_t sent, size_t room)
{
    int class = 0, error = run(what, a, form);

    MPI_Error_class(error, &class);
    bool right = class == (is_cut ? MPI_ERR_TRUNCATE : MPI_SUCCESS);
    check(right || (is_cut && vague(form, class)),
          "%s, form %d, root %d, way %d: %zu bytes into %zu: wrong error class %d",
          collectives[what].name, form, a->root, way, sent, room, class);
    expected += is_cut && counting ? form == PERSISTENT ? 2 : 1 : 0;
}

/* ---- broadcasts ------------------------------------------------------------------------------ */

static void one(MPI_Comm comm, enum form form, int root, size_t sent, size_t room)
{
    unsigned char *want = allocate(sent), *got = allocate(sent);
    size_t max = world_rank == root ? sent : room;
    struct arguments a = {
        .out = got, .out_count = (int)max, .out_type = MPI_BYTE, .root = root, .comm = comm
    };

    pattern(want, sent, sent + room);
    memset(got, 0xA5, sent);
    if (world_rank == root)
        memcpy(got, want, sent);
    cut(BCAST, &a, form, world_rank != root, sent, room);
    check(memcmp(got, want, max) == 0, "%zu bytes into %zu: bytes that fit are wrong", sent, room);
    check(untouched(got, max, sent), "%zu bytes into %zu: written beyond the buffer", sent, room);
    free(want);
    free(got);
}

static void usable(MPI_Comm comm)
{
    static const int sizes[] = { 1, 50, 5000, 300000 };
    static unsigned char got[300000], want[300000];

    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
        pattern(want, (size_t)sizes[i], i);
        memset(got, 0, sizeof got);
        if (world_rank == world_size - 1)
            memcpy(got, want, (size_t)sizes[i]);
        check(MPI_Bcast(got, sizes[i], MPI_BYTE, world_size - 1, comm) == MPI_SUCCESS,
              "a later bcast failed");
        check(memcmp(got, want, (size_t)sizes[i]) == 0, "a later bcast of %d bytes is wrong",
              sizes[i]);
        MPI_Barrier(comm);
    }
}

/*
 * Broadcasts elements with gaps. They are packed in fragments, or staged as a whole if an element
 * is longer than a fragment or must not be split. Every second item of a vector is sent, and the
 * receiver has fewer elements than the root.
 */
static void typed(MPI_Comm comm, enum form form, int root, MPI_Datatype item, size_t item_bytes,
                  int items, int sent, int room)
{
    size_t element = (size_t)(2 * items - 1) * item_bytes, bytes = element * (size_t)sent,
           max = element * (size_t)(world_rank == root ? sent : room);
    unsigned char *want = allocate(bytes), *got = allocate(bytes);
    MPI_Datatype type;

    MPI_Type_vector(items, 1, 2, item, &type);
    MPI_Type_commit(&type);
    struct arguments a = { .out = got,
                           .out_count = world_rank == root ? sent : room,
                           .out_type = type,
                           .root = root,
                           .comm = comm };
    pattern(want, bytes, (size_t)items);
    memset(got, 0xA5, bytes);
    if (world_rank == root)
        memcpy(got, want, bytes);
    cut(BCAST, &a, form, world_rank != root, (size_t)sent, (size_t)room);
    for (size_t i = 0; world_rank != root && i < bytes; i++) {
        bool data = i < max && i % element / item_bytes % 2 == 0,
             padding = item_bytes == 32 && i % 16 >= 10; /* padding of a long double */
        if (!check(got[i] == (data ? want[i] : 0xA5) || (data && padding),
                   "%d of %d elements of %d items: byte %zu is wrong", room, sent, items, i))
            break;
    }
    MPI_Type_free(&type);
    free(want);
    free(got);
}

static void broadcasts(MPI_Comm comm, enum form form)
{
    static const size_t pairs[][2] = {
        { 100, 10 }, { 112, 111 }, { 60000, 40000 }, { 3 << 20, 2 << 20 }, { (3 << 20) + 5, 300001 }
    };

    for (size_t i = 0; i < sizeof pairs / sizeof *pairs; i++) {
        for (int root = 0; root < world_size; root++)
            one(comm, form, root, pairs[i][0], pairs[i][1]);
        usable(comm);
    }
    for (int root = 0; root < world_size; root++) {
        typed(comm, form, root, MPI_INT, sizeof(int), 2048, 16, 8);
        typed(comm, form, root, MPI_INT, sizeof(int), 100, 400, 200);
        typed(comm, form, root, MPI_C_LONG_DOUBLE_COMPLEX, sizeof(long double _Complex), 40, 75,
              60);
    }
    usable(comm);
}

/* Lets receivers follow the root to another choice than their own. */
static void choices(MPI_Comm comm)
{
    for (int turn = 0; turn < 3; turn++) {
        for (int root = 0; root < world_size; root++)
            one(comm, BLOCKING, root, 60000, 3000);
        usable(comm);
    }
}

/* ---- blocks ---------------------------------------------------------------------------------- */

/* Rank `odd` sends blocks of `more` bytes, and the others send `less` bytes and expect as many from
 * this rank. It is the root of a scatter, but not of a gather. */
struct blocks {
    enum kind_of_call what;
    int odd, more, less;
};

static int size_of(const struct blocks *b, int rank)
{
    return rank == b->odd ? b->more : b->less;
}

static bool gathers(const struct blocks *b)
{
    return b->what == GATHER || b->what == GATHERV;
}

static bool scatters(const struct blocks *b)
{
    return b->what == SCATTER || b->what == SCATTERV;
}

/* Returns the room for the block of a rank. MPI has a count for each block, or a single count for
 * all. */
static int room_for(const struct blocks *b, int from)
{
    bool counts = b->what == GATHERV || b->what == ALLGATHERV || b->what >= ALLTOALLV;

    return counts && from != world_rank ? b->less : size_of(b, world_rank);
}

static struct arguments describe(const struct blocks *b, MPI_Comm comm, unsigned char *in,
                                 unsigned char *out)
{
    bool spread = b->what == GATHERV || b->what == ALLGATHERV || b->what >= ALLTOALLV;
    int size = size_of(b, world_rank), step = spread ? b->more + 8 : size;
    struct arguments a = { .in = in,
                           .out = out,
                           .in_count = size,
                           .out_count = size,
                           .in_type = MPI_BYTE,
                           .out_type = MPI_BYTE,
                           .root = gathers(b) ? (b->odd + 1) % world_size : b->odd,
                           .comm = comm };

    for (int r = 0; r < world_size; r++) {
        a.in_counts[r] = size;
        a.out_counts[r] = room_for(b, r);
        a.in_places[r] = r * size;
        a.out_places[r] = scatters(b) ? 0 : r * step;
        a.in_types[r] = a.out_types[r] = MPI_BYTE;
    }
    return a;
}

/* Fills in the block of `from` for `to`. In gathers a rank's block is the same for all. */
static void block(const struct blocks *b, int from, int to, size_t bytes, unsigned char *at)
{
    bool alike = gathers(b) || b->what == ALLGATHER || b->what == ALLGATHERV;

    pattern(at, bytes, (uint64_t)from * 100 + (uint64_t)(alike ? 0 : to));
}

static void judge(const struct blocks *b, const struct arguments *a, const unsigned char *out,
                  size_t bytes)
{
    unsigned char *want = allocate((size_t)b->more);
    size_t at = 0;

    for (int from = 0; from < world_size; from++) {
        if (scatters(b) ? from != a->root : gathers(b) && world_rank != a->root)
            continue;
        size_t begin = (size_t)a->out_places[from], room = (size_t)room_for(b, from),
               sent = (size_t)size_of(b, from), fits = sent < room ? sent : room;
        block(b, from, world_rank, sent, want);
        check(memcmp(out + begin, want, fits) == 0, "%s: the block of rank %d is wrong",
              collectives[b->what].name, from);
        check(untouched(out, at, begin), "%s: bytes before the block of rank %d were written",
              collectives[b->what].name, from);
        at = begin + fits;
    }
    check(untouched(out, at, bytes), "%s: bytes beyond the last block were written",
          collectives[b->what].name);
    free(want);
}

static void one_of_blocks(const struct blocks *b, MPI_Comm comm, enum form form)
{
    size_t bytes = (size_t)(b->more + 8) * (size_t)world_size;
    unsigned char *in = allocate(bytes), *out = allocate(bytes);
    struct arguments a = describe(b, comm, in, out);

    memset(out, 0xA5, bytes);
    for (int to = 0; to < world_size; to++)
        block(b, world_rank, to, (size_t)a.in_count, in + a.in_places[to]);
    cut(b->what, &a, form, gathers(b) ? world_rank == a.root : world_rank != b->odd,
        (size_t)b->more, (size_t)b->less);
    judge(b, &a, out, bytes);
    free(in);
    free(out);
}

static void blocks(MPI_Comm comm, enum form form)
{
    static const int pairs[][2] = { { 24, 16 }, { 4000, 3000 }, { 400000, 300000 } };

    for (int what = GATHER; what < CALLS; what++)
        for (size_t i = 0; i < sizeof pairs / sizeof *pairs; i++)
            for (int odd = 0; odd < world_size; odd++)
                one_of_blocks(&(struct blocks){ .what = (enum kind_of_call)what,
                                                .odd = odd,
                                                .more = pairs[i][0],
                                                .less = pairs[i][1] },
                              comm, form);
    usable(comm);
}

int main(int argc, char **argv)
{
    static const char *const names[FORMS] = { "blocking", "nonblock", "persistent" };
    MPI_Errhandler errhandler;
    MPI_Comm comm;
    int forms = 1;

    begin(&argc, &argv, MPI_THREAD_SINGLE);
    if (argc > 1 && strcmp(argv[1], "--forms") == 0)
        forms = has_persistent() ? FORMS : PERSISTENT;
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN); /* see docs/limitations.md */
    MPI_Comm_dup(MPI_COMM_WORLD, &comm);
    MPI_Comm_create_errhandler(handler, &errhandler);
    if (argc > 1 && strcmp(argv[1], "--choices") == 0) {
        MPI_Comm_set_errhandler(comm, MPI_ERRORS_RETURN);
        choices(comm);
        forms = 0;
    }
    for (int form = 0; form < forms; form++) {
        for (int own = 0; own < 2; own++) {
            counting = own;
            MPI_Comm_set_errhandler(comm, own ? errhandler : MPI_ERRORS_RETURN);
            usable(comm);
            broadcasts(comm, (enum form)form);
            blocks(comm, (enum form)form);
        }
        check(handled == expected, "the error handler was called %d times instead of %d", handled,
              expected);
        section(names[form]);
    }
    MPI_Errhandler_free(&errhandler);
    MPI_Comm_free(&comm);
    return finish("truncate");
}
