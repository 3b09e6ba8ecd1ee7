/* SPDX-License-Identifier: BSD-3-Clause */
/* callers.c - see callers.h. */
#include "callers.h"
#include "base/process_atomics.h"
#include "component.h"

#include <dlfcn.h>
#include <elf.h>
#include <link.h>
#include <pthread.h>

static struct function {
    const char *name;
    char *from;
    _Atomic(void *) end;  /* NULL: not looked up yet; equal to from: unknown */
    _Atomic(void *) site; /* the return address of its call, in the check; NULL: not checked yet;
                             equal to from: not recognized */
} functions[FUNCTIONS] = {
#define PLAIN(Name, name, ...) { "PMPI_I" #name, NULL, NULL, NULL },
#define HANDLED PLAIN
#define HANDLED_ARRAYS PLAIN
#include "host/signatures.def"
    { "PMPI_Request_free", NULL, NULL, NULL },
};

static __typeof__(&PMPI_Initialized) initialized;
static __typeof__(&PMPI_Finalized) finalized;

/* Returns the end of a function.  Looked up at the function's first call, because the dynamic
 * linker searches all symbols of Open MPI. */
static char *end_of(struct function *f)
{
    void *symbol = NULL;
    char *end = local_get(&f->end);
    Dl_info info;

    if (__builtin_expect(end == NULL, 0)) {
        bool known = dladdr1(f->from, &info, &symbol, RTLD_DL_SYMENT) && symbol != NULL;
        end = f->from + (known ? ((const ElfW(Sym) *)symbol)->st_size : 0);
        local_set(&f->end, end);
    }
    return end;
}

/* Finds the functions.  If one symbol has a size, all have. */
bool hud_callers_find(void)
{
    for (int i = 0; i < FUNCTIONS; i++) {
        functions[i].from = hud_openmpi_function(functions[i].name, NULL);
        if (functions[i].from == NULL)
            return false;
    }
    initialized = OWN(Initialized);
    finalized = OWN(Finalized);
    return end_of(&functions[AT_REQUEST_FREE]) > functions[AT_REQUEST_FREE].from;
}

static bool is_within(struct function *f, const void *caller)
{
    return (uintptr_t)caller > (uintptr_t)f->from && (uintptr_t)caller <= (uintptr_t)end_of(f);
}

/* Checks that a call of the function comes from within its symbol. */
static void check(int at)
{
    static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
    struct function *f = &functions[at];

    pthread_mutex_lock(&lock);
    if (local_get(&f->site) == NULL) {
        const void *site = hud_callers_probe(at, (void (*)(void))f->from);
        bool good = is_within(f, site);
        if (!good) {
            local_set(&f->end, f->from);
            hud_report_warn("the code of %s is not in one piece in this Open MPI; its calls are "
                            "not recognized, and are Open MPI's own",
                            f->name + 1);
        }
        local_set(&f->site, good ? (void *)(uintptr_t)site : f->from);
    }
    pthread_mutex_unlock(&lock);
}

/* Returns whether MPI may be called.  Open MPI itself also calls collectives before and after. */
static bool runs(void)
{
    int begun = 0, ended = 0;

    return initialized(&begun) == MPI_SUCCESS && begun != 0 && finalized(&ended) == MPI_SUCCESS &&
           ended == 0;
}

/* Returns whether a call comes from a function, which is checked if necessary.  A compiler may have
 * made several calls of the one in the source. */
static __attribute__((noinline)) bool comes_from(int at, const void *caller)
{
    if (local_get(&functions[at].site) == NULL && runs())
        check(at);
    return is_within(&functions[at], caller);
}

bool hud_callers_is_users(int at, const void *caller)
{
    return caller == local_get(&functions[at].site) || comes_from(at, caller);
}
