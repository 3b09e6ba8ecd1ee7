/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * memory.h - simulated device memory, shared by the stand-ins for the runtimes. Each is a library
 * with the real library's name, and includes this code.
 *
 * Memory is mapped twice. At its device address the processor cannot access it. With
 * STAND_IN_DECOY=1 the processor finds garbage there, so a copy by the kernel or the processor
 * shows in the result. The test reads and writes the memory through its alias.
 */
#ifndef HUD_STAND_IN_MEMORY_H
#define HUD_STAND_IN_MEMORY_H

#include <pthread.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#define EXPORT __attribute__((visibility("default")))

struct memory {
    char *device, *alias;
    size_t bytes;
    bool managed;
    int number; /* number of the allocation; determines its device and context */
};

/* Allocates memory for the test. Returns the address that is passed to MPI. */
EXPORT void *stand_in_allocate(size_t bytes, int managed, void **alias);
EXPORT void stand_in_free(void *device);
/* Makes the next copies of this process fail. */
EXPORT void stand_in_fail(int fail);
/* Returns the number of copies, or of address queries, so far. */
EXPORT long stand_in_copies(void);
EXPORT long stand_in_questions(void);

enum { MEMORIES = 4096 };
static struct memory memories[MEMORIES];
static int highest, made, failing; /* highest: number of entries ever used */
static long copies, questions;
static pthread_mutex_t memory_lock = PTHREAD_MUTEX_INITIALIZER;

static bool find_memory(const void *address, struct memory *found)
{
    bool there = false;

    __atomic_add_fetch(&questions, 1, __ATOMIC_RELAXED);
    pthread_mutex_lock(&memory_lock);
    for (int i = 0; i < highest && !there; i++) {
        there = memories[i].device && (const char *)address >= memories[i].device &&
                (const char *)address < memories[i].device + memories[i].bytes;
        if (there)
            *found = memories[i];
    }
    pthread_mutex_unlock(&memory_lock);
    return there;
}

void *stand_in_allocate(size_t bytes, int managed, void **alias)
{
    int fd = memfd_create("device", MFD_CLOEXEC);
    bool decoy = getenv("STAND_IN_DECOY") != NULL;
    struct memory *m = NULL;

    bytes = (bytes + 4096) / 4096 * 4096;
    if (fd < 0 || ftruncate(fd, (off_t)bytes) != 0)
        abort();
    pthread_mutex_lock(&memory_lock);
    for (int i = 0; i < MEMORIES && !m; i++)
        m = memories[i].device ? NULL : &memories[i];
    if (!m)
        abort();
    m->alias = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    m->device = m->alias;
    if (!managed)
        m->device =
            decoy ? mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0)
                  : mmap(NULL, bytes, PROT_NONE, MAP_SHARED, fd, 0);
    if (m->alias == MAP_FAILED || m->device == MAP_FAILED)
        abort();
    if (!managed && decoy)
        memset(m->device, 0xDD, bytes);
    m->bytes = bytes;
    highest = m - memories >= highest ? (int)(m - memories) + 1 : highest;
    m->managed = managed != 0;
    m->number = made++;
    *alias = m->alias;
    void *device = m->device;
    pthread_mutex_unlock(&memory_lock);
    close(fd);
    return device;
}

void stand_in_free(void *device)
{
    pthread_mutex_lock(&memory_lock);
    for (int i = 0; i < MEMORIES; i++)
        if (memories[i].device == device) {
            munmap(memories[i].alias, memories[i].bytes);
            if (!memories[i].managed)
                munmap(memories[i].device, memories[i].bytes);
            memories[i].device = NULL;
            break;
        }
    pthread_mutex_unlock(&memory_lock);
}

void stand_in_fail(int fail)
{
    failing = fail;
}

long stand_in_copies(void)
{
    return __atomic_load_n(&copies, __ATOMIC_RELAXED);
}

long stand_in_questions(void)
{
    return __atomic_load_n(&questions, __ATOMIC_RELAXED);
}

/* Returns the address at which the processor can access the memory. */
static char *seen(const void *address)
{
    struct memory m;

    return find_memory(address, &m) ? m.alias + ((const char *)address - m.device)
                                    : (char *)(uintptr_t)address;
}

static void copy_memory(void *dst, const void *src, size_t bytes)
{
    memmove(seen(dst), seen(src), bytes);
    __atomic_add_fetch(&copies, 1, __ATOMIC_RELAXED);
}

#endif
