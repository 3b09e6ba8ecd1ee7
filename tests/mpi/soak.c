/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * soak.c - checks all collectives of any MPI in random order, byte by byte, with ranks that are
 * late at random.
 *
 *   soak OPTIONS    (options.h)
 *
 * The seed determines the sequence: the communicator, the collective, its bytes (1 B to --most),
 * root, types, operation, in place or not, and the number of repetitions. A repeated call has new
 * data, so that rings are reused and the lengths that ranks learn from their own copies change
 * during the run (src/mem/lines.c). Some calls are nonblocking, several at once.
 *
 * A failure prints the number and the seed of its call, and so does a call that has not ended after
 * PATIENCE seconds. The same seed then repeats the sequence up to this call.
 */
#include "completions.h"
#include "pieces.h"

#include "options.h"

#include <signal.h>
#include <unistd.h>

enum { FLIGHT = 6, REPEATS = 24, PATIENCE = 60, UNITS_PAIR = 2 * sizeof(unsigned) };

static MPI_Op composition;
static uint64_t calls; /* started; equal on all ranks */
static char now[160];  /* description of the running call */
static uint64_t own;   /* random state for the draws of each rank */

/* ---- reports ---- */

static void name_call(const struct piece *p, uint64_t call, const char *form, size_t bytes)
{
    snprintf(now, sizeof now, "seed %llu, call %llu: %s%s%s, %zu bytes, rank %d of %d, root %d\n",
             (unsigned long long)options.seed, (unsigned long long)call, form,
             collectives[p->what].name, p->in_place ? " in place" : "", bytes, p->me, p->size,
             p->a.root);
}

/* Reports that a call has not ended. Makes only async-signal-safe calls. */
static void too_long(int signal)
{
    static const char text[] = "FAIL: not completed after a minute: ";

    (void)signal;
    if (write(1, text, sizeof text - 1) < 0 || write(1, now, strlen(now)) < 0)
        _exit(5);
    _exit(4);
}

static void judge(const struct piece *p, enum form form, int error)
{
    int before = failures;

    piece_check(p, form, error);
    if (failures != before && failures <= 8)
        printf("FAIL rank %d: %s", world_rank, now);
    fflush(stdout);
}

/* ---- calls ---- */

/* Properties drawn once, equal on all ranks. */
struct drawn {
    enum kind_of_call what;
    int root, kind;
    size_t bytes;
    bool in_place, turns; /* turns: the root changes from call to call */
};

static struct drawn draw_call(uint64_t *state)
{
    uint64_t bits = draw(state, 23);
    struct drawn d = { .what = (enum kind_of_call)draw(state, CALLS),
                       .root = (int)draw(state, RANKS_MAX),
                       .kind = draw(state, 2) ? BYTES : (int)draw(state, 96),
                       .bytes = 1 + draw(state, (uint64_t)1 << bits),
                       .in_place = draw(state, 3) == 0,
                       .turns = draw(state, 2) };

    d.bytes = d.bytes < options.max ? d.bytes : options.max;
    if (reduces(d.what) && d.kind == BYTES)
        d.kind = 0; /* the program's own function, which does not commute */
    return d;
}

/*
 * Makes a call in which a rank sends or receives at most about d->bytes. A single rank gets no
 * derived types, because its calls fall back to the MPI. Open MPI 4's nonblocking gatherv loses 32
 * bytes of such a type (--seed 1025, call 20000).
 */
static struct piece *make(const struct drawn *d, MPI_Comm comm, int turn)
{
    bool shared = d->what >= GATHER || d->what == REDUCE_SCATTER_BLOCK;
    size_t bytes = d->bytes;
    int size;

    MPI_Comm_size(comm, &size);
    int kind = size == 1 ? BYTES : d->kind;
    size_t unit = reduces(d->what) ? UNITS_PAIR : kind == BYTES ? 1 : UNIT;
    if (shared)
        bytes /= (size_t)size;
    return piece_make(d->what, comm, d->root + (d->turns ? turn : 0),
                      bytes < unit ? 1 : (int)(bytes / unit), d->in_place, kind, composition,
                      ++calls ^ options.seed << 32);
}

/* Delays some ranks, most of them a little. */
static void come_late(void)
{
    uint64_t what = draw(&own, 64);

    if (what < 2)
        pause_us(draw(&own, what == 0 ? 3000 : 100));
    else if (what < 6)
        for (uint64_t until = now_ns() + draw(&own, 20000); now_ns() < until;)
            ;
}

/* Makes the same call several times. */
static void blocking(MPI_Comm comm, uint64_t *state)
{
    struct drawn d = draw_call(state);
    int times = 1 + (int)draw(state, d.bytes < 1 << 18 ? REPEATS : REPEATS / 6);

    for (int turn = 0; turn < times; turn++) {
        struct piece *p = make(&d, comm, turn);
        come_late();
        name_call(p, calls, "", d.bytes);
        alarm(PATIENCE);
        int error = collectives[p->what].call(&p->a, BLOCKING, &p->request);
        alarm(0);
        judge(p, BLOCKING, error);
        piece_free(p);
    }
}

/* Starts several calls at once, and completes them in an order that is equal on all ranks. */
static void nonblocking(MPI_Comm comm, uint64_t *state)
{
    struct piece *pieces[FLIGHT];
    uint64_t number[FLIGHT];
    struct drawn d[FLIGHT];
    int count = 1 + (int)draw(state, FLIGHT);
    bool backwards = draw(state, 2);

    alarm(PATIENCE);
    for (int i = 0; i < count; i++) {
        d[i] = draw_call(state);
        pieces[i] = make(&d[i], comm, 0);
        number[i] = calls;
        come_late();
        name_call(pieces[i], number[i], "start of nonblocking ", d[i].bytes);
        int error = collectives[d[i].what].call(&pieces[i]->a, NONBLOCKING, &pieces[i]->request);
        check(error == MPI_SUCCESS, "%serror %d", now, error);
    }
    for (int k = 0; k < count; k++) {
        int i = backwards ? count - 1 - k : k;
        come_late();
        name_call(pieces[i], number[i], "end of nonblocking ", d[i].bytes);
        int error = wait_one(&pieces[i]->request, (int)draw(&own, WAYS));
        judge(pieces[i], NONBLOCKING, error);
        piece_free(pieces[i]);
    }
    alarm(0);
}

static void random_call(MPI_Comm comm, uint64_t *state)
{
    if (draw(state, 4) == 0)
        nonblocking(comm, state);
    else
        blocking(comm, state);
}

int main(int argc, char **argv)
{
    begin(&argc, &argv, MPI_THREAD_SINGLE);
    read_options(argc, argv, "soak");
    if (!check(world_size <= RANKS_MAX, "more than %d ranks", RANKS_MAX))
        MPI_Abort(MPI_COMM_WORLD, 2);
    hard_pieces = options.beyond;
    own = mix(options.seed) + (uint64_t)world_rank;
    signal(SIGALRM, too_long);
    MPI_Op_create(compose, 0, &composition);
    random_sequence(random_call, options.brief ? 20 : 100);
    MPI_Op_free(&composition);
    if (world_rank == 0)
        printf("%llu calls\n", (unsigned long long)calls);
    return finish("soak");
}
