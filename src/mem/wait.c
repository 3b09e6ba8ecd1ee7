/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * wait.c - what a rank does when a flag is not there after the first looks: yield the processor, move the host's pending
 * messages, and at last sleep.
 *
 * Yielding wins while everybody is in the collective, also when ranks outnumber processors; a sleep gives the core away for good when a
 * rank computes for milliseconds.  A sleep is bounded (policy->sleep_ns, 1 ms at most) and followed by a progress call: so a post
 * needs no fence before its look at `sleepers`, and MPI's progress rule holds for a rank that sleeps.
 *
 * Futexes are 32 bits wide: ranks sleep on the low half of the counter, not PRIVATE (the waker maps it elsewhere).
 */
#define _GNU_SOURCE
#include "mem/mem.h"

#include <limits.h>
#include <linux/futex.h>
#include <sched.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

enum { POLLS_PER_YIELD = 64, YIELDS_PER_PROGRESS = 8 };

static uint32_t *low_half(mem_flag *f)
{
    return (uint32_t *)(uintptr_t)&f->value + (__BYTE_ORDER__ == __ORDER_BIG_ENDIAN__ ? 1 : 0);
}

static bool there(struct mem *m, mem_flag *f, uint64_t least)
{
    return (int64_t)(mem_peek(m, f) - least) >= 0;
}

static void progress(const struct mem *m)
{
    if (m->policy->progress)
        m->policy->progress(m->policy->arg);
}

/* One bounded sleep, or none if the value changes first. */
static void sleep_on(struct mem *m, mem_flag *f, uint64_t least)
{
    struct mem_home *home = (struct mem_home *)((uintptr_t)f & m->home_mask);
    struct timespec most = { .tv_sec = 0, .tv_nsec = (long)m->policy->sleep_ns };

    atomic_fetch_add_explicit(&home->sleepers, 1, memory_order_seq_cst);
    uint64_t seen = mem_peek(m, f);
    if ((int64_t)(seen - least) < 0)
        syscall(SYS_futex, low_half(f), FUTEX_WAIT, (uint32_t)seen, &most, NULL, 0);
    atomic_fetch_sub_explicit(&home->sleepers, 1, memory_order_relaxed);
}

/* A few looks: many while polling is welcome, one when somebody else needs the processor. */
static bool look(struct mem *m, mem_flag *f, uint64_t least)
{
    unsigned looks = m->policy->polls != 0 ? POLLS_PER_YIELD : 1;

    for (; looks != 0; looks--) {
        if (there(m, f, least))
            return true;
        mem_pause();
    }
    return false;
}

/* A pending message moves by one piece a call; at one call a sleep it would move at a thousandth of its speed. */
enum { PROGRESS_PER_SLEEP = 32 };

void hud_mem_wait(struct mem *m, mem_flag *f, uint64_t least)
{
    const struct mem_policy *policy = m->policy;
    unsigned per_progress = policy->polls != 0 ? 2 : YIELDS_PER_PROGRESS;

    for (unsigned yields = 0; !look(m, f, least); yields++) {
        if (yields >= policy->yields) {
            sleep_on(m, f, least);
            for (int i = 0; i < PROGRESS_PER_SLEEP && !look(m, f, least); i++)
                progress(m);
        } else if (yields % per_progress == per_progress - 1) {
            progress(m);
        } else {
            sched_yield();
        }
    }
}

void hud_mem_wake(mem_flag *f)
{
    syscall(SYS_futex, low_half(f), FUTEX_WAKE, INT_MAX, NULL, NULL, 0);
}
