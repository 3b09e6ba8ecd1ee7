/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * devices.c - verifies collectives with buffers in device memory byte by byte, with stand-ins for
 * CUDA, HIP, HSA and Level Zero (stand_in/). The MPI does not support devices, so huddle must
 * handle every call.
 *
 *     devices LIBRARY [--late] [--off] [--threads] [--brief]
 *
 * Sections: each collective in each form, with buffers in device, managed or host memory, drawn by
 * each rank; elements with some runs on a device and some on the host, by absolute addresses;
 * exchanges with some blocks on a device; types with a large extent; a communicator with the
 * assertion that it has no device buffers; threads; a copy that fails on one rank.
 * --late: the library is loaded after the first collectives. --off: HUDDLE_DEVICES=off is set, and
 * all buffers are host memory.
 */
#include "completions.h"
#include "pieces.h"

#include "device.h"

#include <pthread.h>

static MPI_Op composition;
static bool is_late, is_off, is_brief, has_threads;
static uint64_t calls;

/* ---- each collective ------------------------------------------------------------------------- */

static void complete(struct piece *p, enum form form, int way, int error)
{
    if (form != BLOCKING && error == MPI_SUCCESS)
        error = wait_one(&p->request, way);
    piece_check(p, form, error);
}

static int start(struct piece *p, enum form form)
{
    int error = collectives[p->what].call(&p->a, form, &p->request);

    return form == PERSISTENT && error == MPI_SUCCESS ? MPI_Start(&p->request) : error;
}

static void run(struct piece *p, enum form form, int way)
{
    uint64_t mine = mix(p->id + (uint64_t)world_rank * 77);
    const void *out = p->a.out;
    struct moved in = move(&p->in, (enum where)(mine % 3), &p->a.in),
                 to = move(&p->out, (enum where)(mine / 3 % 3), &out);

    p->a.out = (void *)(uintptr_t)out;
    complete(p, form, way, start(p, form));
    if (form == PERSISTENT) {
        piece_again(p);
        complete(p, form, (way + 1) % WAYS, MPI_Start(&p->request));
        MPI_Request_free(&p->request);
    }
    move_back(&p->in, &in);
    move_back(&p->out, &to);
    piece_free(p);
}

static void each(MPI_Comm comm)
{
    static const struct {
        int units, turns;
    } sizes[] = { { 0, 1 }, { 1, 16 }, { 5, 16 }, { 170, 8 }, { 2800, 3 }, { 22000, 1 } };
    int forms = has_persistent() ? FORMS : PERSISTENT;

    for (size_t s = 0; s < sizeof sizes / sizeof *sizes; s++)
        for (int what = 0; what < CALLS; what++)
            for (int form = 0; form < forms; form++)
                for (int turn = 0; turn < (is_brief ? (sizes[s].turns + 3) / 4 : sizes[s].turns);
                     turn++) {
                    uint64_t id = ++calls;
                    struct piece *p =
                        piece_make((enum kind_of_call)what, comm, (int)(id % 64), sizes[s].units,
                                   turn % 2, (int)(mix(id) % 96), composition, id);
                    run(p, (enum form)form, (int)(id % WAYS));
                }
}

/* ---- absolute addresses ---------------------------------------------------------------------- */

/* An element of four runs, alternately on the host and on a device. */
struct parts {
    int bytes;
    unsigned char *host, *alias, *at_device;
    MPI_Datatype type;
};

static struct parts make_parts(int bytes)
{
    struct parts p = { .bytes = bytes };
    MPI_Aint at[4];
    int lengths[4];
    void *alias;

    p.host = allocate((size_t)bytes * 3);
    p.at_device = device.allocate((size_t)bytes * 3, 0, &alias);
    p.alias = alias;
    memset(p.host, 0xA5, (size_t)bytes * 3);
    memset(p.alias, 0xA5, (size_t)bytes * 3);
    for (int i = 0; i < 4; i++) {
        unsigned char *run = (i % 2 ? p.at_device : p.host) + (i / 2) * 2 * bytes;
        MPI_Get_address(run, &at[i]);
        lengths[i] = bytes;
    }
    MPI_Type_create_hindexed(4, lengths, at, MPI_BYTE, &p.type);
    MPI_Type_commit(&p.type);
    return p;
}

static unsigned char *part(const struct parts *p, int i)
{
    return (i % 2 ? p->alias : p->host) + (i / 2) * 2 * p->bytes;
}

static void fill_parts(const struct parts *p, int value)
{
    for (int i = 0; i < 4; i++)
        memset(part(p, i), value + i, (size_t)p->bytes);
}

static void check_parts(const struct parts *p, int value, const char *what)
{
    bool good = true;

    for (int i = 0; i < 4; i++)
        for (int b = 0; b < p->bytes; b++)
            good = good && part(p, i)[b] == (unsigned char)(value + i);
    for (int b = 0; b < p->bytes; b++)
        good = good && p->host[p->bytes + b] == 0xA5 && p->alias[p->bytes + b] == 0xA5;
    check(good, "%s of 4 runs of %d bytes is wrong", what, p->bytes);
}

static void free_parts(struct parts *p)
{
    MPI_Type_free(&p->type);
    device.release(p->at_device);
    free(p->host);
}

static void bcast_parts(int bytes, int root)
{
    struct parts p = make_parts(bytes);

    fill_parts(&p, world_rank == root ? 10 * root + 1 : 0xEE);
    MPI_Bcast(MPI_BOTTOM, 1, p.type, root, MPI_COMM_WORLD);
    check_parts(&p, 10 * root + 1, "bcast");
    free_parts(&p);
}

/* Exchanges blocks, each an element of absolute addresses. */
static void exchange_parts(int bytes)
{
    struct parts in[RANKS_MAX], out[RANKS_MAX];
    MPI_Datatype in_types[RANKS_MAX], out_types[RANKS_MAX];
    int counts[RANKS_MAX], places[RANKS_MAX];

    for (int r = 0; r < world_size; r++) {
        in[r] = make_parts(bytes);
        out[r] = make_parts(bytes);
        fill_parts(&in[r], 16 * world_rank + 4 * r);
        in_types[r] = in[r].type;
        out_types[r] = out[r].type;
        counts[r] = 1;
        places[r] = 0;
    }
    MPI_Alltoallw(MPI_BOTTOM, counts, places, in_types, MPI_BOTTOM, counts, places, out_types,
                  MPI_COMM_WORLD);
    for (int r = 0; r < world_size; r++) {
        check_parts(&out[r], 16 * r + 4 * world_rank, "alltoallw");
        free_parts(&in[r]);
        free_parts(&out[r]);
    }
}

static void absolute(void)
{
    static const int sizes[] = { 1, 8, 100, 5000, 70000 };

    for (size_t s = 0; s < sizeof sizes / sizeof *sizes; s++) {
        for (int root = 0; root < world_size; root++)
            bcast_parts(sizes[s], root);
        exchange_parts(sizes[s]);
    }
    section("absolute");
}

/* ---- types with a large extent
 * ---------------------------------------------------------------- */

enum { EDGE = 160, FACE = 3 };

static MPI_Datatype make_face(int kind)
{
    const int sizes[] = { EDGE, EDGE, EDGE }, parts[] = { EDGE, FACE, 2 }, starts[] = { 0, 5, 7 };
    MPI_Datatype type, row, plane;

    if (kind < 2) {
        MPI_Type_create_subarray(3, sizes, parts, starts, kind ? MPI_ORDER_FORTRAN : MPI_ORDER_C,
                                 MPI_SHORT, &type);
    } else {
        MPI_Type_vector(FACE, 2, EDGE, MPI_SHORT, &row);
        MPI_Type_create_hvector(EDGE / 2, 1, 2 * EDGE * EDGE * (MPI_Aint)sizeof(short), row,
                                &plane);
        MPI_Type_create_hindexed_block(2, 1, (MPI_Aint[]){ 4000, 0 }, plane, &type);
        MPI_Type_free(&row);
        MPI_Type_free(&plane);
    }
    MPI_Type_commit(&type);
    return type;
}

/* Broadcasts a face of a cube, and compares it with data packed by the MPI from host memory. */
static void face(int kind)
{
    size_t bytes = sizeof(short) * EDGE * EDGE * EDGE + 8192;
    MPI_Datatype type = make_face(kind);
    unsigned char *host = allocate(bytes);
    int size, position = 0;
    void *alias, *at = device.allocate(bytes, 0, &alias);

    MPI_Type_size(type, &size);
    unsigned char *want = allocate((size_t)size), *got = allocate((size_t)size);
    pattern(host, bytes, 4711);
    MPI_Pack(host, 1, type, want, size, &position, MPI_COMM_SELF);
    memset(alias, 0xA5, bytes);
    if (world_rank == 0)
        memcpy(alias, host, bytes);
    MPI_Bcast(at, 1, type, 0, MPI_COMM_WORLD);
    position = 0;
    MPI_Pack(alias, 1, type, got, size, &position, MPI_COMM_SELF);
    check(memcmp(want, got, (size_t)size) == 0, "wrong broadcast of a face of kind %d", kind);
    if (world_rank != 0) { /* gaps are not written */
        memset(got, 0xA5, (size_t)size);
        position = 0;
        MPI_Unpack(got, size, &position, alias, 1, type, MPI_COMM_SELF);
        memset(host, 0xA5, bytes);
        check(memcmp(host, alias, bytes) == 0, "gaps of a face of kind %d were written", kind);
    }
    MPI_Type_free(&type);
    device.release(at);
    free(host);
    free(want);
    free(got);
}

/* ---- communicators without device buffers
 * ----------------------------------------------------- */

static void host_only(MPI_Comm comm)
{
    for (int what = 0; what < CALLS; what++) {
        struct piece *p =
            piece_make((enum kind_of_call)what, comm, 0, 20, false, what, composition, ++calls);
        complete(p, BLOCKING, 0, start(p, BLOCKING));
        piece_free(p);
    }
}

/* Checks that no buffer of the communicator is queried, if the MPI keeps the assertion. */
static void assertion(void)
{
    static const char key[] = "mpi_assert_memory_alloc_kinds";
    MPI_Info info;
    MPI_Comm comm;
    char value[64] = "";
    int given = 0;

    MPI_Info_create(&info);
    MPI_Info_set(info, key, "system,mpi");
    MPI_Comm_dup_with_info(MPI_COMM_WORLD, info, &comm);
    MPI_Info_free(&info);
    MPI_Comm_get_info(comm, &info);
    MPI_Info_get(info, key, sizeof value - 1, value, &given);
    MPI_Info_free(&info);
    host_only(comm);
    long before = device.questions();
    host_only(comm);
    long after = device.questions();
    check(!given || before == after, "%ld device queries in spite of the assertion",
          after - before);
    check(given || before < after, "no device query without the assertion");
    MPI_Comm_free(&comm);
    section("assertion");
}

/* ---- threads --------------------------------------------------------------------------------- */

static void *sum_up(void *arg)
{
    MPI_Comm comm = *(MPI_Comm *)arg;
    enum { NUMBERS = 3000 };
    void *alias, *at = device.allocate(NUMBERS * sizeof(long), 0, &alias);
    long *numbers = alias;

    for (int round = 0; round < 20; round++) {
        for (int i = 0; i < NUMBERS; i++)
            numbers[i] = i + world_rank;
        MPI_Allreduce(MPI_IN_PLACE, at, NUMBERS, MPI_LONG, MPI_SUM, comm);
        long sum = (long)world_size * (world_size - 1) / 2;
        for (int i = 0; i < NUMBERS; i++)
            check(numbers[i] == (long)world_size * i + sum, "wrong sum in a thread");
    }
    device.release(at);
    return NULL;
}

static void threads(void)
{
    enum { THREADS = 3 };
    pthread_t thread[THREADS];
    MPI_Comm comm[THREADS];

    for (int i = 0; i < THREADS; i++)
        MPI_Comm_dup(MPI_COMM_WORLD, &comm[i]);
    for (int i = 0; i < THREADS; i++)
        pthread_create(&thread[i], NULL, sum_up, &comm[i]);
    for (int i = 0; i < THREADS; i++)
        pthread_join(thread[i], NULL);
    for (int i = 0; i < THREADS; i++)
        MPI_Comm_free(&comm[i]);
    section("threads");
}

/* ---- a copy that fails ----------------------------------------------------------------------- */

static void fail_one(int form)
{
    double zero = 0, *at;
    MPI_Request request = MPI_REQUEST_NULL;
    void *alias;
    int error;

    at = device.allocate(sizeof *at, 0, &alias);
    memcpy(alias, &zero, sizeof zero);
    if (world_rank == 1)
        device.fail(1);
    if (form == BLOCKING)
        error = MPI_Allreduce(MPI_IN_PLACE, at, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
    else
        error = MPI_Iallreduce(MPI_IN_PLACE, at, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD, &request);
    if (form != BLOCKING && error == MPI_SUCCESS)
        error = MPI_Wait(&request, MPI_STATUS_IGNORE);
    device.fail(0);
    check((error != MPI_SUCCESS) == (world_rank == 1), "wrong error code of a copy that fails: %d",
          error);
    device.release(at);
}

static void failing(void)
{
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    fail_one(BLOCKING);
    fail_one(NONBLOCKING);
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_ARE_FATAL);
    section("failing");
}

/* ---------------------------------------------------------------------------------------------- */

static void on_device(void)
{
    each(MPI_COMM_WORLD);
    section("each");
    absolute();
    for (int kind = 0; kind < 3; kind++)
        face(kind);
    section("faces");
    assertion();
    if (has_threads)
        threads();
    check(device.copies() > 0, "the device has made no copy");
    failing();
}

int main(int argc, char **argv)
{
    if (argc < 2)
        return 2;
    for (int i = 2; i < argc; i++) {
        is_late = is_late || strcmp(argv[i], "--late") == 0;
        is_off = is_off || strcmp(argv[i], "--off") == 0;
        is_brief = is_brief || strcmp(argv[i], "--brief") == 0;
        has_threads = has_threads || strcmp(argv[i], "--threads") == 0;
    }
    if (!is_late)
        load(argv[1]);
    begin(&argc, &argv, has_threads ? MPI_THREAD_MULTIPLE : MPI_THREAD_SINGLE);
    hard_pieces = true;
    MPI_Op_create(compose, 0, &composition);
    host_only(MPI_COMM_WORLD);
    section("host only");
    if (is_late) /* huddle's loader intercepts the calls of dlsym from here on */
        load(argv[1]);
    if (is_off)
        check(device.questions() == 0, "%ld device queries", device.questions());
    else
        on_device();
    MPI_Op_free(&composition);
    return finish("devices");
}
