/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * nonblocking.c - checks the nonblocking and persistent collectives of any MPI, byte by byte,
 * compared with the blocking collectives.
 *
 *   nonblocking OPTIONS    (options.h)
 *
 * Sections: each collective in each form, completed in each way; many in flight on several
 * communicators, completed in any order, with blocking calls and messages between them; ranks that
 * are late; objects that a program may free after a call has started; attributes of types;
 * communicators whose first calls are nonblocking; waits that need progress on other requests.
 */
#include "completions.h"
#include "pieces.h"

#include "options.h"

static MPI_Op composition;
static uint64_t calls;
static const struct {
    int units, rounds;
} sizes[] = { { 0, 1 }, { 1, 2 }, { 40, 1 }, { 700, 1 }, { 9000, 1 } };

/* Completes a call. Afterwards a nonblocking request is MPI_REQUEST_NULL, and a persistent request
 * is inactive but still exists. */
static void complete(struct piece *p, enum form form, int way, int error)
{
    if (form != BLOCKING && error == MPI_SUCCESS)
        error = wait_one(&p->request, way);
    piece_check(p, form, error);
    check((p->request != MPI_REQUEST_NULL) == (form == PERSISTENT),
          "a nonblocking request remains, or a persistent request is gone");
}

static int start(struct piece *p, enum form form)
{
    int error = collectives[p->what].call(&p->a, form, &p->request);

    if (form == PERSISTENT && error == MPI_SUCCESS)
        error = MPI_Start(&p->request);
    return error;
}

static void run(struct piece *p, enum form form, int way)
{
    complete(p, form, way, start(p, form));
    for (int again = 1; again < 3 && form == PERSISTENT; again++) {
        piece_again(p);
        complete(p, form, (way + again) % WAYS, MPI_Start(&p->request));
    }
    if (form == PERSISTENT)
        MPI_Request_free(&p->request);
    piece_free(p);
}

/* ---- each collective ------------------------------------------------------------------------- */

static void each(void)
{
    int forms = has_persistent() ? FORMS : PERSISTENT;

    for (size_t s = 0; s < sizeof sizes / sizeof *sizes; s++) {
        if ((uint64_t)sizes[s].units * UNIT > options.max)
            continue;
        for (int what = 0; what < CALLS; what++)
            for (int form = 0; form < forms; form++)
                for (int turn = 0; turn < (options.brief ? 2 : 6); turn++) {
                    uint64_t id = ++calls ^ options.seed << 32;
                    struct piece *p =
                        piece_make((enum kind_of_call)what, MPI_COMM_WORLD, (int)(id % 64),
                                   sizes[s].units, turn % 2, (int)(id % 48), composition, id);
                    run(p, (enum form)form, (int)(id % WAYS));
                }
    }
    section("each");
}

/* ---- many in flight -------------------------------------------------------------------------- */

enum { FLIGHT = 24 };

static struct piece *draw_piece(MPI_Comm comm, uint64_t *state)
{
    enum kind_of_call what = (enum kind_of_call)draw(state, CALLS);
    int root = (int)draw(state, RANKS_MAX), kind = (int)draw(state, 96);
    uint64_t bits = draw(state, options.brief ? 9 : 12), units = draw(state, (1u << bits) + 1);
    bool in_place = draw(state, 3) == 0;

    if (units * UNIT * (uint64_t)world_size > options.max)
        units = options.max / UNIT / (uint64_t)world_size;
    return piece_make(what, comm, root, (int)units, in_place, kind, composition,
                      ++calls ^ options.seed << 32);
}

/* Completes all requests in a different order on each rank. */
static void complete_all(struct piece **pieces, const enum form *forms, int count)
{
    MPI_Request requests[FLIGHT];
    MPI_Status statuses[FLIGHT];
    static uint64_t state;
    int order[FLIGHT], index;

    state += (uint64_t)world_rank + 1;
    for (int i = 0; i < count; i++) {
        int at = (int)draw(&state, (uint64_t)i + 1);
        order[i] = order[at];
        order[at] = i;
        requests[i] = pieces[i]->request;
    }
    int way = (int)draw(&state, 3);
    if (way == 0)
        MPI_Waitall(count, requests, statuses);
    for (int i = 0; i < count && way == 1; i++)
        MPI_Waitany(count, requests, &index, MPI_STATUS_IGNORE);
    for (int i = 0; i < count; i++) {
        struct piece *p = pieces[order[i]];
        p->request = requests[order[i]];
        if (way == 2)
            wait_one(&p->request, (int)draw(&state, WAYS));
        piece_check(p, forms[order[i]], MPI_SUCCESS);
        if (forms[order[i]] == PERSISTENT)
            MPI_Request_free(&p->request);
    }
    for (int i = 0; i < count; i++)
        piece_free(pieces[i]);
}

static void pass_on(uint64_t *state)
{
    int next = (world_rank + 1) % world_size, before = (world_rank + world_size - 1) % world_size,
        tag = (int)draw(state, 100), got = -1;

    MPI_Sendrecv(&world_rank, 1, MPI_INT, next, tag, &got, 1, MPI_INT, before, tag, MPI_COMM_WORLD,
                 MPI_STATUS_IGNORE);
    check(got == before, "a message was lost");
}

/* Starts and completes many calls on communicators of all ranks. */
static void flight(MPI_Comm *comm, int comms, uint64_t *state)
{
    struct piece *pieces[FLIGHT];
    enum form forms[FLIGHT];
    int count = 0;

    while (count < FLIGHT) {
        uint64_t what = draw(state, 12);
        struct piece *p = draw_piece(comm[draw(state, (uint64_t)comms)], state);
        if (what == 0)
            pass_on(state);
        if (what < 3) {
            run(p, BLOCKING, 0);
            continue;
        }
        forms[count] = what < 5 && has_persistent() ? PERSISTENT : NONBLOCKING;
        int error = start(p, forms[count]);
        check(error == MPI_SUCCESS, "the start of %s: error %d", collectives[p->what].name, error);
        if (forms[count] == NONBLOCKING)
            piece_free_types(p);
        pieces[count++] = p;
    }
    complete_all(pieces, forms, count);
}

static void many(void)
{
    enum { COMMUNICATORS = 4 };
    MPI_Comm comm[COMMUNICATORS];
    uint64_t state = options.seed, begun = now_ns();

    for (int i = 0; i < COMMUNICATORS; i++)
        MPI_Comm_split(MPI_COMM_WORLD, 0, i % 2 ? -world_rank : world_rank, &comm[i]);
    do {
        for (int i = 0; i < (options.brief ? 10 : 40); i++)
            flight(comm, COMMUNICATORS, &state);
    } while (time_left(begun));
    for (int i = 0; i < COMMUNICATORS; i++)
        MPI_Comm_free(&comm[i]);
    section("many");
}

/* ---- late ranks
 * -------------------------------------------------------------------------------- */

static void late(void)
{
    for (int turn = 0; turn < 2 * CALLS; turn++) {
        uint64_t id = ++calls ^ options.seed << 32;
        struct piece *p = piece_make((enum kind_of_call)(turn % CALLS), MPI_COMM_WORLD, turn,
                                     turn % 3 ? 5 : 500, false, turn, composition, id);
        if (turn % world_size == world_rank)
            pause_us(3000);
        start(p, NONBLOCKING);
        if ((turn + 1) % world_size == world_rank)
            pause_us(2000); /* computes, without making progress */
        complete(p, NONBLOCKING, turn % WAYS, MPI_SUCCESS);
        piece_free(p);
    }
    section("late");
}

/* ---- objects that may be freed early
 * ------------------------------------------------------------ */

static void freed(void)
{
    for (int turn = 0; turn < (options.brief ? 2 : 6) * CALLS; turn++) {
        MPI_Comm comm;
        MPI_Op op;
        uint64_t id = ++calls ^ options.seed << 32;
        MPI_Comm_dup(MPI_COMM_WORLD, &comm);
        MPI_Op_create(compose, 0, &op);
        struct piece *first = piece_make((enum kind_of_call)(turn % CALLS), comm, turn, 30, false,
                                         turn, op, id),
                     *second = piece_make((enum kind_of_call)((turn + 5) % CALLS), comm, turn, 300,
                                          false, turn + 1, op, id + 1);
        start(first, NONBLOCKING);
        start(second, NONBLOCKING);
        piece_free_types(first);
        piece_free_types(second);
        MPI_Op_free(&op);
        piece_spoil_arrays(first);
        piece_spoil_arrays(second);
        if (hard_pieces)
            MPI_Comm_free(&comm);
        complete(turn % 2 ? first : second, NONBLOCKING, turn % WAYS, MPI_SUCCESS);
        complete(turn % 2 ? second : first, NONBLOCKING, (turn + 3) % WAYS, MPI_SUCCESS);
        if (!hard_pieces)
            MPI_Comm_free(&comm);
        piece_free(first);
        piece_free(second);
    }
    section("freed");
}

/* ---- attributes of types
 * ------------------------------------------------------------------------ */

static int attribute_calls;

static int copy_attribute(MPI_Datatype type, int key, void *extra, void *value, void *copied,
                          int *flag)
{
    (void)type, (void)key, (void)extra, (void)value, (void)copied;
    attribute_calls++;
    *flag = 0;
    return MPI_ERR_OTHER;
}

static int delete_attribute(MPI_Datatype type, int key, void *value, void *extra)
{
    (void)type, (void)key, (void)value, (void)extra;
    attribute_calls++;
    return MPI_SUCCESS;
}

/* Checks that no call copies the attributes of its type. */
static void attributes(void)
{
    MPI_Datatype type;
    int key, numbers[4];

    MPI_Type_create_keyval(copy_attribute, delete_attribute, &key, NULL);
    MPI_Type_vector(2, 1, 2, MPI_INT, &type);
    MPI_Type_commit(&type);
    MPI_Type_set_attr(type, key, &key);
    for (int turn = 0; turn < 3; turn++) {
        MPI_Request request;
        for (int i = 0; i < 4; i++)
            numbers[i] = world_rank == 0 ? turn + i : -1;
        MPI_Ibcast(numbers, 1, type, 0, MPI_COMM_WORLD, &request);
        wait_one(&request, turn % WAYS);
        check(numbers[0] == turn && numbers[2] == turn + 2,
              "wrong data in a broadcast of a type with attributes");
    }
    check(attribute_calls == 0, "%d calls of the program's functions", attribute_calls);
    MPI_Type_free(&type);
    check(attribute_calls == 1, "%d calls of the program's functions", attribute_calls);
    MPI_Type_free_keyval(&key);
    section("attributes");
}

/* ---- first calls, and communicators created meanwhile
 * ------------------------------------------- */

static void firsts(void)
{
    enum { NEW = 6 };
    MPI_Comm comm[NEW], later, idle;
    uint64_t state = options.seed + 7;

    for (int turn = 0; turn < (options.brief ? 4 : 12); turn++) {
        struct piece *pieces[FLIGHT];
        enum form forms[FLIGHT];
        MPI_Request made;
        for (int i = 0; i < NEW; i++)
            MPI_Comm_dup(MPI_COMM_WORLD, &comm[i]);
        for (int i = 0; i < 3 * NEW; i++) {
            pieces[i] = draw_piece(comm[i % NEW], &state);
            forms[i] = NONBLOCKING;
            start(pieces[i], NONBLOCKING);
        }
        MPI_Comm_dup(comm[0], &later); /* calls on comm[0] are in flight */
        MPI_Comm_idup(comm[1], &idle, &made);
        if (turn % 2)
            complete_all(pieces, forms, 3 * NEW);
        MPI_Wait(&made, MPI_STATUS_IGNORE);
        MPI_Barrier(later);
        MPI_Barrier(idle);
        if (turn % 2 == 0)
            complete_all(pieces, forms, 3 * NEW);
        MPI_Comm_free(&later);
        MPI_Comm_free(&idle);
        for (int i = 0; i < NEW; i++)
            MPI_Comm_free(&comm[i]);
    }
    section("firsts");
}

/* ---- 10,000 requests at once
 * -------------------------------------------------------------------- */

static void thousands(int requests, int comms)
{
    MPI_Comm *comm = allocate((size_t)comms * sizeof *comm);
    MPI_Request *request = allocate((size_t)requests * sizeof *request);
    MPI_Status *statuses = allocate((size_t)requests * sizeof *statuses);
    int *in = allocate((size_t)requests * sizeof *in),
        *out = allocate((size_t)requests * sizeof *out);

    for (int i = 0; i < comms; i++)
        MPI_Comm_dup(MPI_COMM_WORLD, &comm[i]);
    for (int i = 0; i < requests; i++) {
        in[i] = world_rank + i;
        MPI_Iallreduce(&in[i], &out[i], 1, MPI_INT, MPI_SUM, comm[i % comms], &request[i]);
    }
    MPI_Waitall(requests, request, statuses);
    for (int i = 0; i < requests; i++)
        if (!check(out[i] == world_size * i + world_size * (world_size - 1) / 2,
                   "sum %d of %d is wrong", i, requests))
            break;
    for (int i = 0; i < comms; i++)
        MPI_Comm_free(&comm[i]);
    free(comm);
    free(request);
    free(statuses);
    free(in);
    free(out);
    section("thousands");
}

int main(int argc, char **argv)
{
    begin(&argc, &argv, MPI_THREAD_SINGLE);
    read_options(argc, argv, "nonblocking");
    hard_pieces = options.beyond;
    MPI_Op_create(compose, 0, &composition);
    firsts();
    each();
    late();
    freed();
    attributes();
    many();
    thousands(options.brief ? 1000 : 10000, options.brief ? 20 : 100);
    MPI_Op_free(&composition);
    return finish("nonblocking");
}
