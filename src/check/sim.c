/* SPDX-License-Identifier: BSD-3-Clause */
/* sim.c - creates and frees a simulation with its ranks and arenas, and catches plain accesses to
 * shared memory. */
#include "check/grow.h"
#include "check/messages.h"
#include "check/time.h"

#include <signal.h>
#include <string.h>
#include <sys/mman.h>

static struct sim *running; /* the run that the signal handler ends */

static size_t arenas_bytes(const struct sim *s)
{
    return (size_t)s->options.ranks * s->options.arena_bytes;
}

static char *map(size_t bytes, int protection)
{
    void *p = mmap(NULL, bytes, protection, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);

    return hud_must(p == MAP_FAILED ? NULL : p);
}

struct sim *hud_sim_create(const struct sim_options *options)
{
    struct sim *s = hud_must(calloc(1, sizeof *s));

    s->options = *options;
    s->random = options->seed;
    s->shown = map(arenas_bytes(s), PROT_NONE);
    s->twin = map(arenas_bytes(s), PROT_READ | PROT_WRITE);
    s->ranks = hud_must(calloc((size_t)sim_ranks(s), sizeof *s->ranks));
    for (int i = 0; i < sim_ranks(s); i++) {
        struct sim_rank *r = &s->ranks[i];
        r->s = s;
        r->number = i;
        r->home = &s->ranks[i % options->ranks];
        r->clock = hud_order_create(sim_ranks(s));
        hud_order_set(r->clock, i, 1);
        if (r->home == r)
            r->arena = hud_must(calloc(options->arena_bytes / HUD_LINE, sizeof(struct sim_flag *)));
        r->now = (struct sim_event){ .rank = i, .what = "has not called", .file = "nowhere" };
    }
    if (options->time)
        options->time->create(s);
    return s;
}

static void free_rank(struct sim_rank *r)
{
    for (size_t i = 0; r->arena && i < r->s->options.arena_bytes / HUD_LINE; i++)
        hud_flag_free(r->arena[i]);
    free(r->arena);
    hud_order_free(r->clock);
    hud_bytes_free(&r->bytes);
    hud_bytes_free(&r->user);
    free(r->views);
}

void hud_sim_free(struct sim *s)
{
    if (!s)
        return;
    for (int r = 0; r < sim_ranks(s); r++)
        free_rank(&s->ranks[r]);
    hud_messages_free(s);
    while (s->teams) {
        struct sim_team *t = s->teams;
        s->teams = t->next;
        free(t->mem);
        free(t->entry);
        hud_order_free(t->joined);
        hud_order_free(t->gathered);
        free(t);
    }
    if (s->clock)
        sim_time(s)->destroy(s);
    munmap(s->shown, arenas_bytes(s));
    munmap(s->twin, arenas_bytes(s));
    free(s->ranks);
    free(s);
}

/* ---- results of a run ---- */

const char *hud_sim_report(const struct sim *s)
{
    return s->report;
}

unsigned long hud_sim_mutated(const struct sim *s)
{
    return s->mutated;
}

unsigned long hud_sim_events(const struct sim *s)
{
    return s->events;
}

unsigned long hud_sim_posts(const struct sim *s)
{
    return s->posts;
}

size_t hud_sim_moved(const struct sim *s, int rank)
{
    return s->ranks[rank].moved_bytes;
}

unsigned hud_sim_hops(const struct sim *s)
{
    unsigned max = 0;

    for (int r = 0; r < sim_ranks(s); r++)
        max = s->ranks[r].hops > max ? s->ranks[r].hops : max;
    return max;
}

/* ---- a plain access to shared memory ---- */

static void report_fault(struct sim *s, size_t at)
{
    const struct sim_rank *r = s->current;
    const struct alg *a = r->in ? r->in->alg : NULL;

    hud_sim_note(
        s,
        "plain access to shared memory by rank %d in %s/%s: byte %zu of rank %zu's arena, after "
        "its call at %s:%d\n",
        r->number, a ? a->coll : "no", a ? a->name : "algorithm", at % s->options.arena_bytes,
        at / s->options.arena_bytes, r->now.file, r->now.line);
}

static void on_fault(int signal, siginfo_t *info, void *context)
{
    struct sim *s = running;
    size_t at = s ? (size_t)((uintptr_t)info->si_addr - (uintptr_t)s->shown) : 0;

    (void)context;
    if (!s || !s->current || at >= arenas_bytes(s)) {
        struct sigaction usual = { .sa_handler = SIG_DFL };
        sigaction(signal, &usual, NULL); /* the access is repeated and ends the process */
        return;
    }
    report_fault(s, at);
    siglongjmp(s->current->bottom, 1);
}

bool hud_sim_run(struct sim *s, void (*body)(struct sim *s, int rank, void *arg), void *arg)
{
    enum { HANDLER_STACK = 64 * 1024 };
    struct sigaction fault = { .sa_sigaction = on_fault,
                               .sa_flags = SA_SIGINFO | SA_ONSTACK | SA_NODEFER },
                     before;
    stack_t stack = { .ss_sp = hud_must(malloc(HANDLER_STACK)), .ss_size = HANDLER_STACK },
            stack_before;

    s->body = body;
    s->arg = arg;
    running = s;
    sigaltstack(&stack, &stack_before);
    sigaction(SIGSEGV, &fault, &before);
    hud_sched_run(s);
    sigaction(SIGSEGV, &before, NULL);
    sigaltstack(&stack_before, NULL);
    running = NULL;
    free(stack.ss_sp);
    return !s->failed;
}
