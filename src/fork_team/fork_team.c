/* SPDX-License-Identifier: BSD-3-Clause */
/* fork_team.c - see fork_team.h. */
#include "fork_team/fork_team.h"

#include <hwloc.h>
#include <pthread.h>
#include <signal.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum { CELL_BYTES = 4096 };

/* A page for the barrier, then a cell per rank. */
struct fork_board {
    pthread_barrier_t meet;
    bool failed[FORK_TEAM_MAX]; /* written by each rank when its body has returned */
    _Alignas(CELL_BYTES) unsigned char cell[][CELL_BYTES];
};

struct fork_started {
    struct fork_rank rank;
    const struct fork_team *team;
    pid_t pid; /* 0: has ended */
    pthread_t thread;
    int status; /* set by a thread */
};

/* ---- for the body of a rank ---- */

static int rank_of(void *arg)
{
    return ((struct fork_rank *)arg)->rank;
}

static int size_of(void *arg)
{
    return ((struct fork_rank *)arg)->ranks;
}

void fork_team_meet(const struct fork_rank *self)
{
    pthread_barrier_wait(&self->board->meet);
}

static int allgather(void *arg, const void *mine, size_t bytes, void *all)
{
    const struct fork_rank *self = arg;

    for (size_t done = 0; done < bytes; done += CELL_BYTES) {
        size_t n = bytes - done < CELL_BYTES ? bytes - done : CELL_BYTES;
        memcpy(self->board->cell[self->rank], (const char *)mine + done, n);
        fork_team_meet(self);
        for (int r = 0; r < self->ranks; r++)
            memcpy((char *)all + (size_t)r * bytes + done, self->board->cell[r], n);
        fork_team_meet(self);
    }
    return 0;
}

struct hud_exchange fork_team_exchange(struct fork_rank *self)
{
    return (struct hud_exchange){
        .rank = rank_of, .size = size_of, .allgather = allgather, .arg = self
    };
}

struct hud_host fork_team_host(const struct fork_rank *self)
{
    return (struct hud_host){ .world_rank = self->rank,
                              .world_size = self->ranks,
                              .local_ranks = self->ranks };
}

int fork_team_join(struct fork_rank *self, const char *const *settings)
{
    struct hud_host host = fork_team_host(self);
    struct hud_exchange exchange = fork_team_exchange(self);

    host.settings = settings;
    int status = hud_context_create(&host, &self->context);
    return status != HUD_OK ? status : hud_team_create(self->context, &exchange, &self->team);
}

void fork_team_leave(struct fork_rank *self)
{
    fork_team_meet(self);
    hud_team_free(self->team);
    hud_context_destroy(self->context);
    self->team = NULL;
    self->context = NULL;
}

void fork_team_fail(struct fork_rank *self, const char *format, ...)
{
    char text[512];
    va_list values;

    if (self->failed)
        return;
    self->failed = true;
    va_start(values, format);
    vsnprintf(text, sizeof text, format, values);
    va_end(values);
    fprintf(stderr, "rank %d of %d: %s\n", self->rank, self->ranks, text);
}

/* ---- processors ---- */

/* Returns the OS number of the first processor of every core that this process may use, in logical
 * order; stores their number in *count. */
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

/* Binds this process to the rank's core.  Returns the processor, or -1 if the process stays
 * unbound. */
static int bind_to(const int *cpu, int cores, int rank)
{
    cpu_set_t one;

    if (cores == 0)
        return -1;
    CPU_ZERO(&one);
    CPU_SET((size_t)cpu[rank % cores], &one);
    return sched_setaffinity(0, sizeof one, &one) == 0 ? cpu[rank % cores] : -1;
}

/* ---- start and end ---- */

void *fork_team_shared(size_t bytes)
{
    void *memory = mmap(NULL, bytes, PROT_READ | PROT_WRITE,
                        MAP_SHARED | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);

    return memory == MAP_FAILED ? NULL : memory;
}

static size_t board_bytes(int ranks)
{
    return sizeof(struct fork_board) + (size_t)ranks * CELL_BYTES;
}

static struct fork_board *make_board(int ranks)
{
    struct fork_board *board = fork_team_shared(board_bytes(ranks));
    pthread_barrierattr_t shared;

    if (!board)
        return NULL;
    pthread_barrierattr_init(&shared);
    pthread_barrierattr_setpshared(&shared, PTHREAD_PROCESS_SHARED);
    pthread_barrier_init(&board->meet, &shared, (unsigned)ranks);
    pthread_barrierattr_destroy(&shared);
    return board;
}

static void free_team(struct fork_team *team)
{
    if (team->started)
        munmap(team->started->rank.board, board_bytes(team->ranks));
    free(team->started);
    team->started = NULL;
}

/* Runs the body of a rank. Returns its status. */
static int run_body(struct fork_started *s)
{
    int status = s->team->body(&s->rank, s->team->arg);

    s->rank.board->failed[s->rank.rank] = s->rank.failed;
    return status;
}

/* Runs a rank in its process, bound if there are cores, and ends the process.  `to` is the writing
 * end of its output, or -1. */
static void run_process(struct fork_started *s, const int *cpu, int cores, int to)
{
    alarm((unsigned)s->team->limit_s); /* its signal ends the process */
    s->rank.cpu = bind_to(cpu, cores, s->rank.rank);
    if (to >= 0)
        s->rank.out = fdopen(to, "w");
    int status = to < 0 || s->rank.out ? run_body(s) : 1;
    _exit(fflush(NULL) == 0 ? status : 1);
}

/* Forks a rank.  Stores the reading end of its output in *from, if from is not NULL.  Returns 0, or
 * -1 on failure. */
static int fork_rank(struct fork_started *s, const int *cpu, int cores, int *from)
{
    int ends[2] = { -1, -1 };
    pid_t parent = getpid();

    if (from && pipe(ends) != 0)
        return -1;
    s->pid = fork();
    if (s->pid == 0) {
        prctl(PR_SET_PDEATHSIG, SIGKILL);
        if (getppid() != parent)
            _exit(1);
        if (from)
            close(ends[0]);
        run_process(s, cpu, cores, ends[1]);
    }
    if (from) {
        close(ends[1]);
        *from = ends[0];
    }
    return s->pid > 0 ? 0 : -1;
}

static void *run_thread(void *arg)
{
    struct fork_started *s = arg;

    s->status = run_body(s);
    return NULL;
}

/* Returns the number of ranks that were started. */
static int start_ranks(struct fork_team *team, int *from)
{
    int cores = 0, r = 0;
    int *cpu = team->bind ? list_cores(&cores) : NULL;

    for (bool fine = true; fine && r < team->ranks; r += fine) {
        struct fork_started *s = &team->started[r];
        fine = team->threads ? pthread_create(&s->thread, NULL, run_thread, s) == 0
                             : fork_rank(s, cpu, cores, from ? &from[r] : NULL) == 0;
    }
    free(cpu);
    return r;
}

int fork_team_start(struct fork_team *team, int *from)
{
    struct fork_board *board = make_board(team->ranks);

    fflush(stdout); /* otherwise each process would write what is buffered */
    team->started = calloc((size_t)team->ranks, sizeof *team->started);
    if (!board || !team->started)
        return fprintf(stderr, "huddle: out of memory for %d ranks\n", team->ranks), -1;
    for (int r = 0; r < team->ranks; r++)
        team->started[r] = (struct fork_started){
            .rank = { .rank = r, .ranks = team->ranks, .cpu = -1, .board = board }, .team = team
        };
    int started = start_ranks(team, from);
    if (started == team->ranks)
        return 0;
    fprintf(stderr, "huddle: cannot start rank %d of %d\n", started, team->ranks);
    if (team->threads)
        exit(1); /* the threads wait for the missing rank */
    fork_team_kill(team);
    return -1;
}

/* Waits for the end of a process, by waitpid() with these options.  Returns its rank, or -1 if none
 * has ended or no rank is left. */
static int await_rank(struct fork_team *team, int *status, int options)
{
    pid_t pid;

    while ((pid = waitpid(-1, status, options)) > 0)
        for (int r = 0; r < team->ranks; r++)
            if (team->started[r].pid == pid) {
                team->started[r].pid = 0;
                return r;
            }
    return -1;
}

int fork_team_reap(struct fork_team *team, int *status)
{
    return await_rank(team, status, WNOHANG);
}

int fork_team_await(struct fork_team *team, int rank)
{
    int status = -1;

    waitpid(team->started[rank].pid, &status, 0);
    team->started[rank].pid = 0;
    return status;
}

/* Returns the exit status of a rank whose process has ended, after printing which signal ended the
 * process. */
static int judge(const struct fork_team *team, int rank, int status)
{
    if (WIFEXITED(status))
        return WEXITSTATUS(status);
    if (WTERMSIG(status) == SIGALRM)
        fprintf(stderr, "rank %d of %d: did not end within %d s\n", rank, team->ranks,
                team->limit_s);
    else
        fprintf(stderr, "rank %d of %d: killed by signal %d\n", rank, team->ranks,
                WTERMSIG(status));
    return 1;
}

/* Waits until all processes have ended, or until the first has failed.  Returns 0 or its status. */
static int await_processes(struct fork_team *team)
{
    int failed = 0;

    for (int ended = 0, status; failed == 0 && ended < team->ranks; ended++) {
        int rank = await_rank(team, &status, 0);
        failed = rank < 0 ? 1 : judge(team, rank, status);
    }
    return failed;
}

/* Waits until all threads have ended.  Returns 0 or the status of a failed thread. */
static int await_threads(const struct fork_team *team)
{
    struct timespec until;
    int status = 0;

    clock_gettime(CLOCK_REALTIME, &until);
    until.tv_sec += team->limit_s;
    for (int r = 0; r < team->ranks; r++) {
        struct fork_started *s = &team->started[r];
        if ((team->limit_s > 0 ? pthread_timedjoin_np(s->thread, NULL, &until)
                               : pthread_join(s->thread, NULL)) != 0) {
            fprintf(stderr, "rank %d of %d: did not end within %d s\n", r, team->ranks,
                    team->limit_s);
            _exit(1);
        }
        status = status != 0 ? status : s->status;
    }
    return status;
}

int fork_team_end(struct fork_team *team)
{
    int status = team->threads ? await_threads(team) : await_processes(team);

    for (int r = 0; status == 0 && r < team->ranks; r++)
        status = team->started->rank.board->failed[r];
    fork_team_kill(team);
    return status;
}

void fork_team_kill(struct fork_team *team)
{
    for (int r = 0; !team->threads && r < team->ranks; r++)
        if (team->started[r].pid > 0) {
            kill(team->started[r].pid, SIGKILL);
            waitpid(team->started[r].pid, NULL, 0);
        }
    free_team(team);
}

int fork_team_run(struct fork_team *team)
{
    return fork_team_start(team, NULL) == 0 ? fork_team_end(team) : 1;
}

pid_t fork_team_pid(const struct fork_team *team, int rank)
{
    return team->started[rank].pid;
}
