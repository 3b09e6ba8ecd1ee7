/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * direct.c - copies between the memories of two processes by the kernel.  Calls process_vm_readv
 * and process_vm_writev until all bytes have moved or no more can be moved.  If the team has
 * mappings (mapped.h), copies go through them instead.
 *
 * One system call moves at most 2 GB, and less if a page is missing on either side.  A copy may be
 * refused at any time: by the rules of ptrace (Yama, other users, a process that must not be
 * dumped), by seccomp, because of another PID namespace, or because of a missing page.  The caller
 * has heard from the other process within the same operation.  But the call of that process may
 * have failed since then, and huddle must no longer touch its buffers (hud_mem_close).
 *
 * A pid may come to mean another process.  The member's process may have ended.  Or this process
 * was restarted from a checkpoint and knows old pids, while the job that was checkpointed still
 * runs, with the same contents at the same addresses.  So a copy uses a pid only if its process was
 * seen to map this team's memory within the last PROVEN_NS.  To check, this rank writes a number
 * that no other job has into the member's slice, and reads it back through that process.  A restart
 * or the reuse of a pid takes longer than PROVEN_NS, and a clock that was set back is noticed, too.
 * So each copy reads the clock once.  A restart between that reading and the system call would not
 * be noticed.
 */
#define _GNU_SOURCE
#include "mem/kept_errno.h"
#include "mem/mapped.h"
#include "mem/mem.h"

#include <sys/uio.h>
#include <time.h>

enum {
    PROVEN_NS = 1000000,
    PROOFS = 64 /* attempts while other members write their numbers */
};

/* Copies between processes: process_vm_readv or process_vm_writev. */
typedef ssize_t move_fn(pid_t pid, const struct iovec *local, unsigned long locals,
                        const struct iovec *remote, unsigned long remotes, unsigned long flags);

static size_t move(move_fn *call, int pid, uint64_t there, uint64_t here, size_t bytes)
{
    size_t done = 0;

    KEEP_ERRNO();
    while (done < bytes) {
        struct iovec local = { (void *)(uintptr_t)(here + done), bytes - done },
                     remote = { (void *)(uintptr_t)(there + done), bytes - done };
        ssize_t moved = call(pid, &local, 1, &remote, 1, 0);
        if (moved > 0)
            done += (size_t)moved;
        else if (moved == 0 || errno != EINTR)
            break;
    }
    return done;
}

size_t hud_mem_read(int pid, uint64_t from, void *to, size_t bytes)
{
    return move(process_vm_readv, pid, from, (uint64_t)(uintptr_t)to, bytes);
}

static struct mem_reach *reach_of(const struct mem *m, int rank)
{
    return (struct mem_reach *)(void *)(m->slices[rank] + m->team->reach);
}

/* Reports whether the process with a member's pid maps the member's slice.  Other members may write
 * their numbers meanwhile, so an equal value in both mappings is a proof, too. */
static bool prove(struct mem *m, int rank, uint64_t now_ns)
{
    const struct mem_peer *peer = &m->team->peers[rank];
    _Atomic uint64_t *proof = &reach_of(m, rank)->proof;
    uint64_t here = (uint64_t)(uintptr_t)m->slices[rank] & m->home_mask;
    uint64_t there = peer->arena + ((uint64_t)(uintptr_t)proof - here);
    uint64_t mine = now_ns ^ (uint64_t)(m->rank + 1) << 48, seen;

    for (int i = 0; i < PROOFS; i++) {
        atomic_store_explicit(proof, mine, memory_order_seq_cst);
        if (hud_mem_read(peer->pid, there, &seen, sizeof seen) != sizeof seen)
            return false;
        if (seen == mine || seen == atomic_load_explicit(proof, memory_order_seq_cst))
            return true;
    }
    return false;
}

static bool is_peer(struct mem *m, int rank)
{
    struct mem_peer *peer = &m->team->peers[rank];
    int64_t now_ns = hud_mem_now_ns();

    if ((uint64_t)now_ns - (uint64_t)peer->proven_ns < PROVEN_NS)
        return true;
    if (!prove(m, rank, (uint64_t)now_ns))
        return false;
    peer->proven_ns = now_ns;
    return true;
}

static size_t kernel_read(struct mem *m, int rank, uint64_t from, void *to, size_t bytes)
{
    return is_peer(m, rank) ? hud_mem_read(m->team->peers[rank].pid, from, to, bytes) : 0;
}

static size_t kernel_write(struct mem *m, int rank, uint64_t to, const void *from, size_t bytes)
{
    return is_peer(m, rank) ? move(process_vm_writev, m->team->peers[rank].pid, to,
                                   (uint64_t)(uintptr_t)from, bytes)
                            : 0;
}

/* Copies bytes from another rank's memory.  Returns 0 if the owner has closed its memory meanwhile,
 * because the bytes that were read may then be anything. */
size_t hud_mem_pull(struct mem *m, int rank, uint64_t from, void *to, size_t bytes)
{
    size_t moved = m->team->mapped ? hud_mapped_read(m->team->mapped[rank], from, to, bytes)
                                   : kernel_read(m, rank, from, to, bytes);

    atomic_thread_fence(memory_order_seq_cst);
    return atomic_load_explicit(&reach_of(m, rank)->closed, memory_order_relaxed) == 0 ? moved : 0;
}

/* Copies bytes to another rank's memory.  The writer publishes its target and then looks at
 * `closed`; the owner sets `closed` and then looks at the targets.  So at least one of the two sees
 * the other. */
size_t hud_mem_push(struct mem *m, int rank, uint64_t to, const void *from, size_t bytes)
{
    struct mem_reach *mine = reach_of(m, m->rank);
    size_t moved = 0;

    atomic_store_explicit(&mine->writes, (uint64_t)rank + 1, memory_order_seq_cst);
    if (atomic_load_explicit(&reach_of(m, rank)->closed, memory_order_seq_cst) == 0)
        moved = m->team->mapped ? hud_mapped_write(m->team->mapped[rank], to, from, bytes)
                                : kernel_write(m, rank, to, from, bytes);
    atomic_store_explicit(&mine->writes, 0, memory_order_release);
    return moved;
}

void hud_mem_close(struct mem *m, bool (*ended)(void *arg, int rank), void *arg)
{
    const struct timespec soon = { .tv_nsec = 20000 };
    uint64_t me = (uint64_t)m->rank + 1;

    atomic_store_explicit(&reach_of(m, m->rank)->closed, 1, memory_order_seq_cst);
    for (int r = 0; r < m->size; r++)
        while (atomic_load_explicit(&reach_of(m, r)->writes, memory_order_seq_cst) == me &&
               !ended(arg, r))
            nanosleep(&soon, NULL);
}
