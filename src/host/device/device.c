/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * device.c - finds the runtimes in the process, and passes questions to them.
 *
 * A runtime may be loaded at any time, for example when Python imports a module.  The loader calls
 * huddle_look_again when the program looks up a symbol, which happens after each load.  The front
 * ends call it at their start and for each new communicator.  At the next buffer, huddle then
 * searches the list of loaded libraries if the list has grown.  A runtime that was found stays in
 * the process: its handle is kept, so that dlclose does not unmap functions that huddle calls.
 *
 * A forked process keeps its parent's knowledge.  By the rules of the runtimes, the child may not
 * use its parent's runtime, so the child has no device buffers either.
 */
#define _GNU_SOURCE
#include "host/device/device.h"
#include "base/process_atomics.h"

#include <dlfcn.h>
#include <limits.h>
#include <link.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>

/* HSA is asked after HIP, which does not know memory that others have allocated by HSA. */
static const struct hud_device_runtime *const runtimes[] = { &hud_device_cuda, &hud_device_hip,
                                                             &hud_device_ze, &hud_device_hsa };
enum { RUNTIMES = sizeof runtimes / sizeof runtimes[0], LIBRARIES = 2 };

#define NONE_HERE (UINTPTR_MAX - 1) /* all addresses except NULL and (void *)-1 are plain memory */

_Atomic(uintptr_t) hud_device_limit; /* 0 at first: the first buffer starts a search */

static _Atomic(uintptr_t) wanted = 1;       /* number of requested searches */
static _Atomic(uintptr_t) searched;         /* value of `wanted` at the last search */
static _Atomic(uintptr_t) rest = NONE_HERE; /* the limit while no runtime is in the process */
static _Atomic(uintptr_t) found_here;       /* bit mask of the runtimes in the process */
static _Atomic(uintptr_t) off;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER; /* guards the next lines */
static unsigned long long loaded;                        /* number of loaded libraries at the last
                                                            search */
static unsigned tried; /* bit mask of the runtimes whose library was found */

/* ---- searching ------------------------------------------------------------------------------- */

struct search {
    unsigned long long loaded; /* number of libraries loaded since the process began */
    unsigned wanted;           /* bit mask of the runtimes to search for */
    char path[RUNTIMES][LIBRARIES][PATH_MAX];
};

static int count_loads(struct dl_phdr_info *info, size_t bytes, void *arg)
{
    (void)bytes;
    *(unsigned long long *)arg = info->dlpi_adds;
    return 1;
}

static bool begins_with(const char *name, const char *beginning)
{
    return beginning && strncmp(name, beginning, strlen(beginning)) == 0;
}

static int note_path(struct dl_phdr_info *info, size_t bytes, void *arg)
{
    struct search *s = arg;
    const char *slash = strrchr(info->dlpi_name, '/'), *name = slash ? slash + 1 : info->dlpi_name;

    (void)bytes;
    for (int i = 0; i < RUNTIMES; i++)
        for (int l = 0; l < LIBRARIES; l++)
            if (s->wanted >> i & 1 && begins_with(name, runtimes[i]->libraries[l]))
                snprintf(s->path[i][l], sizeof s->path[i][l], "%s", info->dlpi_name);
    return 0;
}

/* Finds the runtimes that were not found before.  (dlopen may not be called within
 * dl_iterate_phdr.) */
static __attribute__((noinline)) void search(void)
{
    static struct search s; /* used under the lock */

    memset(&s, 0, sizeof s);
    s.wanted = ~tried;
    dl_iterate_phdr(note_path, &s);
    for (int i = 0; i < RUNTIMES; i++) {
        const char *path = s.path[i][s.path[i][0][0] ? 0 : 1];
        void *library = path[0] ? dlopen(path, RTLD_LAZY | RTLD_NOLOAD) : NULL;
        if (!library)
            continue;
        tried |= 1u << i;
        if (runtimes[i]->find(library))
            local_set_word(&found_here, local_word(&found_here) | 1u << i);
    }
}

static bool must_look(void)
{
    return local_word(&searched) != local_word(&wanted);
}

/* Sets the limit according to the runtimes found.  A library that is loaded meanwhile sets the
 * limit to 0 again. */
static void settle(void)
{
    if (local_word(&found_here))
        return;
    local_set_word(&hud_device_limit, local_word(&rest));
    if (must_look())
        local_set_word(&hud_device_limit, 0);
}

/* Searches for runtimes.  Other threads wait meanwhile, because their buffer may belong to the
 * runtime that is found. */
static void find_runtimes(void)
{
    unsigned long long now = 0;

    pthread_mutex_lock(&lock);
    uintptr_t asked_for = local_word(&wanted);
    dl_iterate_phdr(count_loads, &now);
    if (now != loaded)
        search();
    loaded = now;
    local_set_word(&searched, asked_for);
    settle();
    pthread_mutex_unlock(&lock);
}

void huddle_look_again(void)
{
    if (local_word(&off))
        return;
    local_raise_word(&wanted);
    local_set_word(&hud_device_limit, 0);
}

bool hud_device_is_excluded(const char *kinds)
{
    static const char *const devices[] = { "cuda", "rocm", "level_zero" };
    bool named = false;

    for (size_t i = 0; i < sizeof devices / sizeof devices[0]; i++)
        named = named || strstr(kinds, devices[i]);
    return kinds[0] != '\0' && !named;
}

void hud_device_switch_off(void)
{
    local_set_word(&off, 1);
    local_set_word(&hud_device_limit, local_word(&rest));
}

void hud_device_ask_always(void)
{
    local_set_word(&rest, 0);
    local_set_word(&hud_device_limit, 0);
}

/* ---- questions and copies -------------------------------------------------------------------- */

bool hud_device_present(void)
{
    if (local_word(&off))
        return false;
    if (must_look())
        find_runtimes();
    else if (local_word(&hud_device_limit) == 0)
        settle(); /* a request for a search and the end of a search have crossed */
    return local_word(&found_here) != 0;
}

bool hud_device_ask(const void *address, struct hud_device_place *place)
{
    *place = (struct hud_device_place){ .runtime = NULL };
    if (!hud_device_present())
        return false;
    uintptr_t here = local_word(&found_here);
    for (int i = 0; i < RUNTIMES; i++) {
        *place = (struct hud_device_place){ .runtime = runtimes[i] };
        if (here >> i & 1 && runtimes[i]->ask(address, place))
            return true;
    }
    *place = (struct hud_device_place){ .runtime = NULL };
    return false;
}

static void copy_here(const struct hud_device_copy *copies, size_t count, bool to_device)
{
    for (size_t i = 0; i < count; i++)
        for (size_t row = 0; row < copies[i].rows; row++) {
            struct hud_device_copy c = hud_device_row(&copies[i], row);
            memcpy(to_device ? c.device : c.host, to_device ? c.host : c.device, c.bytes);
        }
}

/* Reports the first failure of the process.  Later copies fail in the same way, and return
 * errors. */
static void report(const struct hud_device_place *place, const char *function, int error,
                   bool to_device)
{
    static atomic_flag reported = ATOMIC_FLAG_INIT;

    if (local_claim(&reported))
        fprintf(stderr,
                "huddle: %s's %s fails with error %d (0x%x) for a copy %s device %d; the "
                "collective fails\n",
                place->runtime->name, function, error, (unsigned)error, to_device ? "to" : "from",
                place->device);
}

bool hud_device_copy(const struct hud_device_place *place, const struct hud_device_copy *copies,
                     size_t count, bool to_device)
{
    const char *function = "";

    if (!place->runtime || place->managed) {
        copy_here(copies, count, to_device);
        return true;
    }
    int error = place->runtime->copy(place, copies, count, to_device, &function);
    if (error != 0)
        report(place, function, error, to_device);
    return error == 0;
}
