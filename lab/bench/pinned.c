/* SPDX-License-Identifier: BSD-3-Clause */
#include "pinned.h"

#include <pthread.h>
#include <sched.h>
#include <stdlib.h>

struct start {
    void (*body)(void *arg, int thread);
    void *arg;
    int thread, cpu;
    pthread_t id;
};

static void *begin(void *arg)
{
    struct start *s = arg;

    s->body(s->arg, s->thread);
    return NULL;
}

static int create(struct start *s)
{
    pthread_attr_t attr;
    cpu_set_t *one = CPU_ALLOC((size_t)s->cpu + 1);
    size_t bytes = CPU_ALLOC_SIZE((size_t)s->cpu + 1);

    if (!one)
        return -1;
    CPU_ZERO_S(bytes, one);
    CPU_SET_S((size_t)s->cpu, bytes, one);
    pthread_attr_init(&attr);
    int failed =
        pthread_attr_setaffinity_np(&attr, bytes, one) || pthread_create(&s->id, &attr, begin, s);
    pthread_attr_destroy(&attr);
    CPU_FREE(one);
    return failed ? -1 : 0;
}

/* Lets the threads start only when all exist, because the others would wait for a missing thread
 * for ever. */
struct gate {
    pthread_mutex_t lock;
    pthread_cond_t opened;
    int state; /* 0: wait, 1: run, -1: return */
    void (*body)(void *arg, int thread);
    void *arg;
};

static void pass(void *arg, int thread)
{
    struct gate *g = arg;

    pthread_mutex_lock(&g->lock);
    while (g->state == 0)
        pthread_cond_wait(&g->opened, &g->lock);
    int state = g->state;
    pthread_mutex_unlock(&g->lock);
    if (state > 0)
        g->body(g->arg, thread);
}

int pinned_run(const int *cpu, int threads, void (*body)(void *arg, int thread), void *arg)
{
    struct gate g = { .lock = PTHREAD_MUTEX_INITIALIZER,
                      .opened = PTHREAD_COND_INITIALIZER,
                      .body = body,
                      .arg = arg };
    struct start *start = calloc((size_t)threads, sizeof *start);
    int there = 0;

    for (; start && there < threads; there++) {
        start[there] =
            (struct start){ .body = pass, .arg = &g, .thread = there, .cpu = cpu[there] };
        if (create(&start[there]) != 0)
            break;
    }
    pthread_mutex_lock(&g.lock);
    g.state = there == threads ? 1 : -1;
    pthread_cond_broadcast(&g.opened);
    pthread_mutex_unlock(&g.lock);
    for (int i = 0; i < there; i++)
        pthread_join(start[i].id, NULL);
    free(start);
    return there == threads ? 0 : -1;
}

static int rising(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;

    return (x > y) - (x < y);
}

double pinned_median(double *values, int count)
{
    qsort(values, (size_t)count, sizeof *values, rising);
    return count % 2 ? values[count / 2] : (values[count / 2 - 1] + values[count / 2]) / 2;
}

double pinned_middle(double *values, int count)
{
    int first = count / 4, end = count - count / 4;
    double sum = 0;

    qsort(values, (size_t)count, sizeof *values, rising);
    for (int i = first; i < end; i++)
        sum += values[i];
    return sum / (end - first);
}

double pinned_max(double *values, int count)
{
    qsort(values, (size_t)count, sizeof *values, rising);
    return values[count - 1 - count / 8];
}

void pinned_flush(const void *at, size_t bytes)
{
    for (size_t i = 0; i < bytes; i += 64) {
#if defined __x86_64__
        __builtin_ia32_clflush((const char *)at + i);
#elif defined __aarch64__
        __asm__ volatile("dc civac, %0" : : "r"((const char *)at + i) : "memory");
#endif
    }
    atomic_thread_fence(memory_order_seq_cst);
}
