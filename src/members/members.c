/* SPDX-License-Identifier: BSD-3-Clause */
/* members.c - see members.h. */
#include "members/members.h"

#include <hwloc.h>
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

enum { CELL_BYTES = 4096 };

/* One page for the barrier, then a cell per rank. */
struct board {
    pthread_barrier_t meet;
    _Alignas(CELL_BYTES) unsigned char cell[][CELL_BYTES];
};

static int rank_of(void *arg)
{
    return ((struct member *)arg)->rank;
}

static int size_of(void *arg)
{
    return ((struct member *)arg)->ranks;
}

void members_meet(const struct member *m)
{
    pthread_barrier_wait(&m->board->meet);
}

static int allgather(void *arg, const void *mine, size_t bytes, void *all)
{
    const struct member *m = arg;

    for (size_t done = 0; done < bytes; done += CELL_BYTES) {
        size_t n = bytes - done < CELL_BYTES ? bytes - done : CELL_BYTES;
        memcpy(m->board->cell[m->rank], (const char *)mine + done, n);
        members_meet(m);
        for (int r = 0; r < m->ranks; r++)
            memcpy((char *)all + (size_t)r * bytes + done, m->board->cell[r], n);
        members_meet(m);
    }
    return 0;
}

struct hud_exchange members_exchange(struct member *m)
{
    return (
        struct hud_exchange){ .rank = rank_of, .size = size_of, .allgather = allgather, .arg = m };
}

struct hud_host members_host(const struct member *m)
{
    return (
        struct hud_host){ .world_rank = m->rank, .world_size = m->ranks, .local_ranks = m->ranks };
}

/* The OS number of the first processor of every core in logical order that this process may use;
 * *count of them. */
static int *list_cores(int *count)
{
    hwloc_topology_t t;
    hwloc_bitmap_t may = hwloc_bitmap_alloc(), here = hwloc_bitmap_alloc();
    int *cpu = NULL;

    *count = 0;
    if (hwloc_topology_init(&t) != 0)
        return NULL;
    if (hwloc_topology_load(t) == 0 && hwloc_get_cpubind(t, may, HWLOC_CPUBIND_PROCESS) == 0) {
        int cores = hwloc_get_nbobjs_by_type(t, HWLOC_OBJ_CORE);
        cpu = calloc(cores > 0 ? (size_t)cores : 1, sizeof *cpu);
        for (int i = 0; cpu && i < cores; i++) {
            hwloc_bitmap_and(here, hwloc_get_obj_by_type(t, HWLOC_OBJ_CORE, (unsigned)i)->cpuset,
                             may);
            if (!hwloc_bitmap_iszero(here))
                cpu[(*count)++] = hwloc_bitmap_first(here);
        }
    }
    hwloc_topology_destroy(t);
    hwloc_bitmap_free(may);
    hwloc_bitmap_free(here);
    return cpu;
}

/* Returns the processor, -1: left unbound. */
static int bind_to(const int *cpu, int cores, int rank)
{
    cpu_set_t one;

    if (cores == 0)
        return -1;
    CPU_ZERO(&one);
    CPU_SET((size_t)cpu[rank % cores], &one);
    return sched_setaffinity(0, sizeof one, &one) == 0 ? cpu[rank % cores] : -1;
}

static struct board *make_board(int ranks)
{
    struct board *board = mmap(NULL, sizeof *board + (size_t)ranks * CELL_BYTES,
                               PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    pthread_barrierattr_t shared;

    if (board == MAP_FAILED)
        return NULL;
    pthread_barrierattr_init(&shared);
    pthread_barrierattr_setpshared(&shared, PTHREAD_PROCESS_SHARED);
    pthread_barrier_init(&board->meet, &shared, (unsigned)ranks);
    return board;
}

/* Forks one member, who knows all but its processor and its output; returns the reading end of its
 * pipe, -1: could not. */
static int start(struct member *m, const int *cpu, int cores, member_main body, void *arg)
{
    int ends[2];
    pid_t parent = getpid();

    if (pipe(ends) != 0)
        return -1;
    pid_t child = fork();
    if (child < 0)
        return -1;
    if (child == 0) {
        prctl(PR_SET_PDEATHSIG, SIGKILL);
        if (getppid() != parent)
            _exit(1);
        close(ends[0]);
        m->cpu = bind_to(cpu, cores, m->rank);
        m->out = fdopen(ends[1], "w");
        int status = m->out ? body(m, arg) : 1;
        _exit(fflush(NULL) == 0 ? status : 1);
    }
    close(ends[1]);
    return ends[0];
}

int members_start(int ranks, bool bind, member_main body, void *arg, int *from)
{
    struct member m = { .board = make_board(ranks), .ranks = ranks };
    int cores = 0;
    int *cpu = bind ? list_cores(&cores) : NULL;

    if (!m.board)
        return fprintf(stderr, "huddle: out of memory for %d processes\n", ranks), -1;
    for (m.rank = 0; m.rank < ranks; m.rank++)
        if ((from[m.rank] = start(&m, cpu, cores, body, arg)) < 0)
            return fprintf(stderr, "huddle: cannot start process %d of %d\n", m.rank + 1, ranks),
                   -1; /* the others die with us */
    free(cpu);
    return 0;
}

int members_end(void)
{
    int status;

    while (wait(&status) > 0)
        if (status != 0)
            return WIFEXITED(status) ? WEXITSTATUS(status) : 1;
    return 0;
}
