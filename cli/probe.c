/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * probe.c - what `huddle` knows about this machine, in JSON on standard output.
 *
 *   probe info TOPIC                            hud_info_json(TOPIC)
 *   probe team --ranks N [--bind core|none]     N forked processes form a team through the public header, run barriers and broadcasts whose
 *                                               bytes are verified, and say what hud_team_json says on each of them
 *
 * Bound, the k-th process runs on the k-th core (hwloc's logical order), round robin.  Exit status: 0, 1 failed, 2 not understood.
 * A member that hangs or dies takes the probe with it: it never outlives LIMIT_S.
 */
#include "huddle/huddle.h"

#include <hwloc.h>
#include <pthread.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

enum { CELL_BYTES = 4096, MOST_RANKS = 1024, LIMIT_S = 120, ROUNDS = 3 };

/* What the members share while the team is set up: one page for the barrier, then a cell per rank. */
struct board {
    pthread_barrier_t meet;
    _Alignas(CELL_BYTES) unsigned char cell[][CELL_BYTES];
};

struct member {
    struct board *board;
    int rank, ranks;
};

static int rank_of(void *arg)
{
    return ((struct member *)arg)->rank;
}

static int size_of(void *arg)
{
    return ((struct member *)arg)->ranks;
}

static int allgather(void *arg, const void *mine, size_t bytes, void *all)
{
    const struct member *m = arg;

    for (size_t done = 0; done < bytes; done += CELL_BYTES) {
        size_t n = bytes - done < CELL_BYTES ? bytes - done : CELL_BYTES;
        memcpy(m->board->cell[m->rank], (const char *)mine + done, n);
        pthread_barrier_wait(&m->board->meet);
        for (int r = 0; r < m->ranks; r++)
            memcpy((char *)all + (size_t)r * bytes + done, m->board->cell[r], n);
        pthread_barrier_wait(&m->board->meet);
    }
    return 0;
}

/* Bytes of round k of a root: no two rounds alike. */
static unsigned char expected(size_t i, int root, int round)
{
    return (unsigned char)(i * 7 + (size_t)root * 31 + (size_t)round * 101 + 1);
}

/* Returns HUD_OK, HUD_PASS, or -1: wrong bytes or an error. */
static int check_bcast(hud_team *team, const struct member *m, size_t bytes, int root, int round)
{
    unsigned char *data = calloc(1, bytes);
    int status = data ? HUD_OK : -1;

    for (size_t i = 0; data && m->rank == root && i < bytes; i++)
        data[i] = expected(i, root, round);
    if (data)
        status = hud_bcast(team, &(struct hud_view){ .base = data, .bytes = bytes }, root);
    for (size_t i = 0; status == HUD_OK && i < bytes; i++)
        if (data[i] != expected(i, root, round))
            status = -1;
    free(data);
    return status == HUD_OK || status == HUD_PASS ? status : -1;
}

/* A barrier and broadcasts from every root in turn (at most 8 roots).  Returns how many were taken, -1: one was wrong. */
static int exercise(hud_team *team, const struct member *m, int *calls)
{
    static const size_t sizes[] = { 8, 112, 4096, 65536 };
    int taken = 0;

    *calls = 0;
    for (int round = 0; round < ROUNDS; round++) {
        int status = hud_barrier(team);
        if (status != HUD_OK && status != HUD_PASS)
            return -1;
        taken += status == HUD_OK, ++*calls;
        for (size_t s = 0; s < sizeof sizes / sizeof *sizes; s++)
            for (int root = 0; root < m->ranks && root < 8; root++) {
                status = check_bcast(team, m, sizes[s], root, round);
                if (status < 0)
                    return -1;
                taken += status == HUD_OK, ++*calls;
            }
    }
    return taken;
}

/* One forked process.  Its JSON goes to `out`. */
static int member_main(struct member *m, int cpu, FILE *out)
{
    struct hud_exchange exchange = { .rank = rank_of, .size = size_of, .allgather = allgather, .arg = m };
    struct hud_host host = { .world_rank = m->rank, .world_size = m->ranks, .local_ranks = m->ranks };
    hud_context *context = NULL;
    hud_team *team = NULL;
    char *json = NULL;
    int calls = 0, taken = -1;

    if (hud_context_create(&host, &context) == HUD_OK && hud_team_create(context, &exchange, &team) == HUD_OK)
        taken = exercise(team, m, &calls);
    if (taken >= 0 && hud_team_json(team, &json) == HUD_OK)
        fprintf(out, "{\"rank\": %d, \"cpu\": %d, \"calls\": %d, \"taken\": %d, \"team\": %s}", m->rank, cpu, calls, taken, json);
    free(json);
    pthread_barrier_wait(&m->board->meet); /* nobody's memory goes while another still describes its team */
    hud_team_free(team);
    hud_context_destroy(context);
    return taken >= 0 && json && fclose(out) == 0 ? 0 : 1;
}

/* The OS number of the first processor of every core in logical order that this process may use; *count of them. */
static int *list_cores(int *count)
{
    hwloc_topology_t t;
    int *cpu = NULL;

    *count = 0;
    if (hwloc_topology_init(&t) != 0)
        return NULL;
    if (hwloc_topology_load(t) == 0) {
        int cores = hwloc_get_nbobjs_by_type(t, HWLOC_OBJ_CORE);
        cpu = calloc(cores > 0 ? (size_t)cores : 1, sizeof *cpu);
        for (int i = 0; cpu && i < cores; i++)
            cpu[(*count)++] = hwloc_bitmap_first(hwloc_get_obj_by_type(t, HWLOC_OBJ_CORE, (unsigned)i)->cpuset);
    }
    hwloc_topology_destroy(t);
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
    struct board *board = mmap(NULL, sizeof *board + (size_t)ranks * CELL_BYTES, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    pthread_barrierattr_t shared;

    if (board == MAP_FAILED)
        return NULL;
    pthread_barrierattr_init(&shared);
    pthread_barrierattr_setpshared(&shared, PTHREAD_PROCESS_SHARED);
    pthread_barrier_init(&board->meet, &shared, (unsigned)ranks);
    return board;
}

/* Forks member `rank`; returns the reading end of its pipe, -1: could not. */
static int start_member(struct board *board, int rank, int ranks, const int *cpu, int cores)
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
        _exit(member_main(&(struct member){ board, rank, ranks }, bind_to(cpu, cores, rank), fdopen(ends[1], "w")));
    }
    close(ends[1]);
    return ends[0];
}

static void copy_out(int from)
{
    char piece[4096];
    ssize_t n;

    while ((n = read(from, piece, sizeof piece)) > 0)
        fwrite(piece, 1, (size_t)n, stdout);
    close(from);
}

static int probe_team(int ranks, bool bind)
{
    struct board *board = make_board(ranks);
    int *from = calloc((size_t)ranks, sizeof *from);
    int cores = 0, status, failed = 0;
    int *cpu = bind ? list_cores(&cores) : NULL;

    if (!board || !from)
        return fprintf(stderr, "huddle: probe: out of memory\n"), 1;
    alarm(LIMIT_S);
    for (int r = 0; r < ranks; r++)
        if ((from[r] = start_member(board, r, ranks, cpu, cores)) < 0)
            return fprintf(stderr, "huddle: probe: cannot start process %d of %d\n", r + 1, ranks), 1; /* the others die with us */
    printf("{\"ranks\": %d, \"bind\": \"%s\", \"members\": [", ranks, bind ? "core" : "none");
    for (int r = 0; r < ranks; r++) {
        printf(r ? ",\n" : "\n");
        copy_out(from[r]);
    }
    printf("\n]}\n");
    while (wait(&status) > 0)
        failed |= status != 0;
    if (failed)
        fprintf(stderr, "huddle: probe: a member of the team failed\n");
    free(from);
    free(cpu);
    return failed;
}

static int probe_info(const char *topic)
{
    char *json;

    if (hud_info_json(topic, &json) != HUD_OK)
        return fprintf(stderr, "huddle: probe: no topic '%s'\n", topic), 2;
    puts(json);
    free(json);
    return 0;
}

int main(int argc, char **argv)
{
    bool bind = true;
    int ranks = 0;

    if (argc == 2 && !strcmp(argv[1], "version"))
        return printf("\"%s\"\n", hud_version()) < 0;
    if (argc == 3 && !strcmp(argv[1], "info"))
        return probe_info(argv[2]);
    for (int i = 2; argc > 1 && !strcmp(argv[1], "team") && i + 1 < argc; i += 2) {
        if (!strcmp(argv[i], "--ranks"))
            ranks = atoi(argv[i + 1]);
        else if (!strcmp(argv[i], "--bind"))
            bind = strcmp(argv[i + 1], "none") != 0;
    }
    if (ranks >= 1 && ranks <= MOST_RANKS)
        return probe_team(ranks, bind);
    fprintf(stderr, "huddle: probe: usage: probe version | info TOPIC | team --ranks 1..%d [--bind core|none]\n", MOST_RANKS);
    return 2;
}
