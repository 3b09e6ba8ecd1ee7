/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * loader.c - the one library to preload: finds the MPI in the process and loads the front end that
 * was built for it.
 *
 * It depends on no MPI, so it is harmless in every process of a job: shells, launchers,
 * interpreters.  It searches when it is loaded: an MPI that the program links is already mapped
 * then, in any order of constructors.  It searches again when MPI_Init is called, for an MPI that
 * was loaded later by dlopen, as mpi4py does.  If an MPI has no front end, huddle does nothing, and
 * rank 0 reports it in one line.
 *
 * With HUDDLE=off nothing is searched and nothing loaded; the functions in trampolines.c pass calls
 * on.  The same holds in a process with elevated privileges, if /etc/ld.so.preload or a trusted
 * directory brings this library into it; there not even that variable is read.
 */
#define _GNU_SOURCE
#include "host/loader/loader.h"

#include "core/elevated.h"
#include "core/launched.h"
#include "core/local.h"
#include "core/required.h"

#include <dlfcn.h>
#include <limits.h>
#include <link.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { VERSION_BYTES = 8192 }; /* MPICH's MPI_MAX_LIBRARY_VERSION_STRING, the largest */

static const char *plug_component(void *end, void *mpi, const char *version);
static const char *plug_wrappers(void *end, void *mpi, const char *version);

/* The MPIs that have a front end: library, how its version begins, the front end's file
 * in this library's directory, how it is plugged in. */
static const struct front_end {
    const char *soname, *version, *file;
    const char *(*plug)(void *end, void *mpi, const char *version); /* NULL, or why not */
} front_ends[] = {
    { "libmpi.so.40", "Open MPI v4.1.", "openmpi-4.1/mca_coll_huddle.so", plug_component },
    { "libmpi.so.40", "Open MPI v5.0.", "openmpi-5.0/mca_coll_huddle.so", plug_component },
    { "libmpich.so.12", "MPICH Version:", "libhuddle-mpich.so", plug_wrappers },
    { "libmpi.so.12", "MPICH Version:", "libhuddle-mpich.so", plug_wrappers },
    { "libmpich.so.12", "Intel(R) MPI", "libhuddle-mpich.so", plug_wrappers },
    { "libmpi.so.12", "Intel(R) MPI", "libhuddle-mpich.so", plug_wrappers },
};
enum { FRONT_ENDS = sizeof front_ends / sizeof front_ends[0] };

/* Libraries an MPI may be in; the last has handles of its own (MPI 5's standard ABI), so no front
 * end. */
static const char *const sonames[] = { "libmpi.so.40", "libmpich.so.12", "libmpi.so.12",
                                       "libmpi_abi.so.1" };

static atomic_flag attached = ATOMIC_FLAG_INIT;
static _Atomic(void *) mpi_found;  /* dlopen's handle; kept for the life of the process */
static _Atomic(void *) front_used; /* const struct hud_front * */

static bool setting_is(const char *name, const char *value)
{
    const char *set = getenv(name);

    return set && strcmp(set, value) == 0;
}

/* "huddle: <first words of the version>: <why>; <what follows>" */
static void report(const char *version, const char *why, bool ends)
{
    char name[80], line[512];
    size_t used = 0;

    if (setting_is("HUDDLE_LOG", "quiet") || (setting_is("HUDDLE_LOG", "error") && !ends))
        return;
    for (const char *c = version; *c && !strchr("\n,", *c) && used < sizeof name - 1; c++)
        if (!strchr(" \t", *c) || (used > 0 && name[used - 1] != ' '))
            name[used++] = *c == '\t' ? ' ' : *c;
    name[used] = '\0';
    int bytes = snprintf(line, sizeof line, "huddle: %s: %s; %s\n", name, why,
                         ends ? "HUDDLE=require ends the job" : "its own collectives are used");
    ssize_t written = write(STDERR_FILENO, line,
                            (size_t)(bytes < (int)sizeof line ? bytes : (int)sizeof line - 1));
    (void)written;
}

struct trouble {
    const char *version, *why;
};

static void report_the_end(const void *arg)
{
    const struct trouble *trouble = arg;

    report(trouble->version, trouble->why, true);
}

static void left_alone(const char *version, const char *why)
{
    if (setting_is("HUDDLE", "require"))
        required_end(launched_rank() < 0, report_the_end, &(struct trouble){ version, why });
    if (launched_rank() <= 0)
        report(version, why, false);
}

static const char *plug_component(void *end, void *mpi, const char *version)
{
    hud_openmpi_entry *inject = (hud_openmpi_entry *)dlsym(end, HUD_OPENMPI_ENTRY);

    (void)mpi;
    (void)version;
    if (!inject)
        return "its component is not huddle's";
    inject(); /* says itself why it cannot */
    return NULL;
}

static const char *plug_wrappers(void *end, void *mpi, const char *version)
{
    hud_mpich_entry *attach = (hud_mpich_entry *)dlsym(end, HUD_MPICH_ENTRY);
    const struct hud_front *front = NULL;

    const char *why = attach ? attach(mpi, version, &front) : "its front end is not huddle's";
    if (!why) {
        for (size_t i = 0; i < sizeof front->wrappers / sizeof *front->wrappers; i++)
            if (front->wrappers[i])
                hud_trampolines_divert(front->wrappers[i]);
        if (front->detours)
            hud_trampolines_detour(front->detours);
        local_set(&front_used, (void *)(uintptr_t)front);
    }
    return why;
}

/* Load the front end from this library's directory. */
static void load(const struct front_end *row, void *mpi, const char *version)
{
    char path[PATH_MAX];
    Dl_info self;

    if (!dladdr((const void *)front_ends, &self) || !self.dli_fname)
        return;
    const char *slash = strrchr(self.dli_fname, '/');
    int folder = slash ? (int)(slash - self.dli_fname) + 1 : 0;
    if (snprintf(path, sizeof path, "%.*s%s", folder, self.dli_fname, row->file) >=
        (int)sizeof path)
        return;
    if (access(path, R_OK) != 0) {
        left_alone(version, "huddle was built without a front end for it");
        return;
    }
    void *end = dlopen(path, RTLD_NOW | RTLD_LOCAL);
    const char *error = end ? row->plug(end, mpi, version) : dlerror();
    if (error)
        left_alone(version, error);
}

static int is_mpi(struct dl_phdr_info *object, size_t bytes, void *arg)
{
    const char *slash = object->dlpi_name ? strrchr(object->dlpi_name, '/') : NULL;

    (void)bytes;
    (void)arg;
    return slash && strncmp(slash + 1, "libmpi", 6) == 0;
}

/* Most processes have none, and are told so without a look at the file system, which dlopen takes
 * even with RTLD_NOLOAD. */
static void *find_mpi(const char **soname)
{
    if (!dl_iterate_phdr(is_mpi, NULL))
        return NULL;
    for (size_t i = 0; i < sizeof sonames / sizeof sonames[0]; i++) {
        void *mpi = dlopen(sonames[i], RTLD_LAZY | RTLD_NOLOAD);
        *soname = sonames[i];
        if (mpi)
            return mpi;
    }
    return NULL;
}

void hud_loader_attach(void)
{
    static char version[VERSION_BYTES]; /* of the one that gets this far; a stack may be small */
    const char *soname;
    int bytes = 0;

    if (process_is_elevated() || local_get(&mpi_found) || setting_is("HUDDLE", "off") ||
        setting_is("HUDDLE", "0"))
        return;
    void *mpi = find_mpi(&soname);
    if (!mpi || !local_claim(&attached))
        return;
    local_set(&mpi_found, mpi);
    int (*get_version)(char *, int *) =
        (int (*)(char *, int *))dlsym(mpi, "PMPI_Get_library_version");
    if (!get_version || get_version(version, &bytes) != 0)
        snprintf(version, sizeof version, "%s, of unknown version", soname);
    for (int i = 0; i < FRONT_ENDS; i++)
        if (strcmp(soname, front_ends[i].soname) == 0 &&
            strncmp(version, front_ends[i].version, strlen(front_ends[i].version)) == 0) {
            load(&front_ends[i], mpi, version);
            return;
        }
    left_alone(version, strcmp(soname, "libmpi_abi.so.1") == 0
                            ? "no front end for MPI's standard ABI"
                            : "no front end for it");
}

void hud_loader_initialised(void)
{
    const struct hud_front *front = local_get(&front_used);

    if (front)
        front->initialised();
}

/* The definition that the caller's own libraries hold; NULL too if the caller is this library, or
 * wraps the name itself, before this one does. */
static void *next_of_caller(const char *name, void *address)
{
    void *map = NULL;
    Dl_info caller, self;

    if (!dladdr1(address, &caller, &map, RTLD_DL_LINKMAP) || !map ||
        !dladdr((const void *)front_ends, &self) || caller.dli_fbase == self.dli_fbase)
        return NULL;
    const char *path = ((struct link_map *)map)->l_name;
    void *own = *path ? dlopen(path, RTLD_LAZY | RTLD_NOLOAD) : NULL;
    void *next = own ? dlsym(own, name) : NULL;
    return next == dlsym(RTLD_DEFAULT, name) ? NULL : next;
}

/* The next in the order of libraries; else of the MPI found (its names may be local, as under
 * Python); else of the caller's own libraries. */
void *hud_loader_next(const char *name, void *address)
{
    void *mpi = local_get(&mpi_found), *next = dlsym(RTLD_NEXT, name);
    const char *soname;

    if (!next && (mpi || (mpi = find_mpi(&soname))))
        next = dlsym(mpi, name);
    return next ? next : next_of_caller(name, address);
}

__attribute__((constructor)) static void look_when_loaded(void)
{
    hud_loader_attach();
}
