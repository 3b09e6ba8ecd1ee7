/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * loader.c - the one library to preload: finds the MPI that the program initialises, and loads the
 * front end that was built for it.
 *
 * It depends on no MPI, so it is harmless in every process of a job: shells, launchers,
 * interpreters, programs that are linked to an MPI and never call it.  When it is loaded it only
 * hides its names (scope.c).  All else begins in MPI_Init, whichever library it is in.  If that MPI
 * has no front end, huddle does nothing, and rank 0 reports it in one line.
 *
 * With HUDDLE=off no front end is loaded; the functions in trampolines.S pass calls on.  The same
 * holds in a process with elevated privileges, if /etc/ld.so.preload or a trusted directory brings
 * this library into it; there not even that variable is read.
 */
#define _GNU_SOURCE
#include "host/loader/loader.h"

#include "core/elevated.h"
#include "core/launched.h"
#include "core/local.h"
#include "core/required.h"
#include "mem/kept_errno.h"

#include <dlfcn.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { VERSION_BYTES = 8192 }; /* MPICH's MPI_MAX_LIBRARY_VERSION_STRING, the largest */

struct front_end;
struct mpi;
static const char *plug_component(const struct front_end *row, struct mpi *mpi);
static const char *plug_wrappers(const struct front_end *row, struct mpi *mpi);

/* The MPIs that have a front end: library, how its version begins, the front end's file
 * in this library's directory, how it is plugged in. */
static const struct front_end {
    const char *soname, *version, *file;
    const char *(*plug)(const struct front_end *row, struct mpi *mpi); /* NULL, or why not */
} front_ends[] = {
    { "libmpi.so.40", "Open MPI v4.1.", "openmpi-4.1/mca_coll_huddle.so", plug_component },
    { "libmpi.so.40", "Open MPI v5.0.", "openmpi-5.0/mca_coll_huddle.so", plug_component },
    { "libmpich.so.12", "MPICH Version:", "libhuddle-mpich.so", plug_wrappers },
    { "libmpi.so.12", "MPICH Version:", "libhuddle-mpich.so", plug_wrappers },
    { "libmpich.so.12", "Intel(R) MPI", "libhuddle-mpich.so", plug_wrappers },
    { "libmpi.so.12", "Intel(R) MPI", "libhuddle-mpich.so", plug_wrappers },
};
enum { FRONT_ENDS = sizeof front_ends / sizeof front_ends[0] };

/* An MPI of this process that was looked at. */
struct mpi {
    struct object object;
    void *handle;
    char version[VERSION_BYTES];
    const char *why; /* huddle does not serve it; NULL: it does */
    char unknown[128];
    bool reported;
};
static struct mpi served, other;   /* `other`: the last one that is not served */
static bool served_runs;           /* its initialisation has returned */
static _Atomic(void *) is_serving; /* &served, once it is */
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct plugged {
    const struct hud_front *front;
    ElfW(Addr) base; /* of its library */
    bool started, initialised;
} plugged[HUD_LAYERS];
static _Atomic(void *) look_again; /* hud_look_again * */

static bool setting_is(const char *name, const char *value)
{
    const char *set = getenv(name);

    return set && strcmp(set, value) == 0;
}

static bool is_off(void)
{
    return setting_is("HUDDLE", "off") || setting_is("HUDDLE", "0");
}

/* ---- lines ---- */

/* Prints "huddle: <first words of the version>: <why>; <what follows>". */
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

static void leave_alone(const char *version, const char *why)
{
    if (setting_is("HUDDLE", "require"))
        required_end(launched_rank() < 0, report_the_end, &(struct trouble){ version, why });
    if (launched_rank() <= 0)
        report(version, why, false);
}

/* ---- objects ---- */

void *hud_loader_handle(const struct object *object)
{
    bool is_program = !object->path || object->path[0] == '\0';

    return hud_real_dlopen(is_program ? NULL : object->path, RTLD_LAZY | RTLD_NOLOAD);
}

bool hud_loader_mpi_of(const void *definition, struct object *found)
{
    struct object own;

    if (!hud_object_at(definition, &own))
        return false;
    void *init = hud_object_address(&own, "PMPI_Init");
    if (init) {
        *found = own;
        return true;
    }
    void *handle = hud_loader_handle(&own);
    init = handle ? hud_real_dlsym(handle, "PMPI_Init") : NULL;
    if (init && hud_scope_index(init) >= 0) /* the program's own handle finds the loader's */
        init = hud_real_dlsym(RTLD_NEXT, "PMPI_Init");
    return init && hud_object_at(init, found);
}

bool hud_loader_serves(const struct object *object)
{
    return local_get(&is_serving) && object->base == served.object.base;
}

bool hud_loader_is_own(const void *caller)
{
    struct object from;
    bool is = false;

    if (!hud_object_at(caller, &from))
        return false;
    for (int i = 0; i < HUD_LAYERS; i++)
        is = is || (plugged[i].base && plugged[i].base == from.base);
    return is;
}

/* ---- plugging in ---- */

/* Opens a file in this library's directory and returns its entry, or NULL and why not. */
static void *open_beside(const char *file, const char *entry, enum hud_layer layer,
                         const char **why)
{
    char path[PATH_MAX];
    struct object self, opened;

    *why = "its front end cannot be found";
    if (!hud_object_at(front_ends, &self) || !self.path)
        return NULL;
    const char *slash = strrchr(self.path, '/');
    int folder = slash ? (int)(slash - self.path) + 1 : 0;
    if (snprintf(path, sizeof path, "%.*s%s", folder, self.path, file) >= (int)sizeof path)
        return NULL;
    *why = "huddle was built without a front end for it";
    if (access(path, R_OK) != 0)
        return NULL;
    void *library = hud_real_dlopen(path, RTLD_NOW | RTLD_LOCAL);
    *why = library ? "its front end is not huddle's" : hud_real_dlerror();
    void *found = library ? hud_real_dlsym(library, entry) : NULL;
    if (found && hud_object_at(found, &opened))
        plugged[layer].base = opened.base;
    if (found && layer == HUD_FRONT_END)
        local_set(&look_again, hud_real_dlsym(library, HUD_LOOK_AGAIN));
    return found;
}

static void add(enum hud_layer layer, const struct hud_front *front)
{
    plugged[layer].front = front;
    for (size_t i = 0; i < sizeof front->wrappers / sizeof *front->wrappers; i++)
        if (front->wrappers[i])
            hud_names_add(layer, front->wrappers[i]);
}

static const char *plug_component(const struct front_end *row, struct mpi *m)
{
    const char *why;
    void *entry = open_beside(row->file, HUD_OPENMPI_ENTRY, HUD_FRONT_END, &why);

    return entry ? ((hud_openmpi_entry *)entry)(m->version) : why;
}

static const char *plug_wrappers(const struct front_end *row, struct mpi *m)
{
    const char *why;
    const struct hud_front *front = NULL;
    void *entry = open_beside(row->file, HUD_MPICH_ENTRY, HUD_FRONT_END, &why);

    if (entry)
        why = ((hud_mpich_entry *)entry)(m->handle, m->version, &front);
    if (!why)
        add(HUD_FRONT_END, front);
    return why;
}

/* Returns the function that tells the version: as the program finds it, if that is one of this MPI
 * (a vendor's library may stand in front of another one), else the MPI's own. */
static void *version_function(const struct object *object)
{
    struct object mpi;
    void *found = hud_names_next("MPI_Get_library_version", NULL);

    return found && hud_loader_mpi_of(found, &mpi) && mpi.base == object->base
               ? found
               : hud_object_address(object, "PMPI_Get_library_version");
}

/* Returns the row of an MPI, or NULL and why it has none. */
static const struct front_end *find_front_end(struct mpi *m)
{
    const char *slash = m->object.path ? strrchr(m->object.path, '/') : NULL,
               *soname = m->object.soname ? m->object.soname
                         : slash          ? slash + 1
                                          : "an MPI";
    int bytes = 0;
    int (*get_version)(char *, int *) = (int (*)(char *, int *))version_function(&m->object);

    if (!get_version || get_version(m->version, &bytes) != 0)
        snprintf(m->version, sizeof m->version, "%s, of unknown version", soname);
    m->why = m->unknown;
    snprintf(m->unknown, sizeof m->unknown, "no front end for %s%s", soname,
             strncmp(soname, "libmpi_abi.", strlen("libmpi_abi.")) == 0 ? ", MPI's standard ABI"
                                                                        : "");
    for (int i = 0; i < FRONT_ENDS; i++)
        if (strcmp(soname, front_ends[i].soname) == 0 &&
            strncmp(m->version, front_ends[i].version, strlen(front_ends[i].version)) == 0)
            return &front_ends[i];
    return NULL;
}

static void load(const struct object *object)
{
    struct mpi *m = &other;

    *m = (struct mpi){ .object = *object, .handle = hud_loader_handle(object) };
    const struct front_end *row = find_front_end(m);
    if (local_get(&is_serving))
        m->why = "huddle serves another MPI of this process";
    else if (row && m->handle)
        m->why = row->plug(row, m);
    if (m->why)
        return;
    served = *m;
    local_set(&is_serving, &served);
}

void hud_loader_load(const struct object *object)
{
    pthread_mutex_lock(&lock);
    if (!hud_loader_serves(object) && object->base != other.object.base && !process_is_elevated() &&
        !is_off())
        load(object);
    pthread_mutex_unlock(&lock);
}

/* Plugs the recorder in, for the first MPI that the program initialises. */
static void load_recorder(const struct object *object)
{
    const char *folder = process_is_elevated() ? NULL : getenv("HUDDLE_RECORD"), *why;
    const struct hud_front *front = NULL;

    pthread_mutex_lock(&lock);
    if (folder && folder[0] != '\0' && object->soname && !plugged[HUD_RECORDER].base) {
        hud_record_entry *attach = (hud_record_entry *)open_beside(
            "libhuddle-record.so", HUD_RECORD_ENTRY, HUD_RECORDER, &why);
        if (attach && !attach(object, &front))
            add(HUD_RECORDER, front);
    }
    pthread_mutex_unlock(&lock);
}

/* ---- initialising ---- */

static void start(void)
{
    for (int i = 0; i < HUD_LAYERS; i++) {
        struct plugged *p = &plugged[i];
        if (p->front && p->front->starting && !p->started)
            p->front->starting();
        p->started = true;
    }
}

static void initialised(void)
{
    for (int i = 0; i < HUD_LAYERS; i++) {
        struct plugged *p = &plugged[i];
        if (p->front && p->front->initialised && !p->initialised) {
            p->initialised = true;
            p->front->initialised();
        }
    }
}

/* Reports an MPI that is not served, when its initialisation has returned: a translator has
 * initialised another one by then, which is served. */
static void judge(const struct object *object, bool served_ran)
{
    if (hud_loader_serves(object))
        served_runs = true;
    else if (other.object.base == object->base && other.why && !other.reported &&
             served_ran == served_runs) {
        other.reported = true;
        leave_alone(other.version, other.why);
    }
}

/* Does what comes before an MPI's initialisation.  Returns false if the function is no MPI's. */
static bool begin(const void *function, struct object *object)
{
    KEEP_ERRNO();
    if (!hud_loader_mpi_of(function, object))
        return false;
    load_recorder(object);
    hud_loader_load(object);
    start();
    return true;
}

/* Does what comes after it.  Sessions and tools do not make an MPI_COMM_WORLD. */
static void end(const char *name, const struct object *object, bool served_ran)
{
    KEEP_ERRNO();
    if (!strstr(name, "ession_") && !strstr(name, "MPI_T_"))
        initialised();
    if (object)
        judge(object, served_ran);
}

uintptr_t hud_loader_initialise(const char *name, void *function, const uintptr_t a[4])
{
    struct object object;
    bool served_ran = served_runs;

    if (!function)
        hud_names_missing(name);
    bool is_known = begin(function, &object);
    uintptr_t result = ((uintptr_t(*)(uintptr_t, uintptr_t, uintptr_t, uintptr_t))function)(
        a[0], a[1], a[2], a[3]);
    end(name, is_known ? &object : NULL, served_ran);
    return result;
}

void hud_loader_opened(void)
{
    hud_look_again *look = (hud_look_again *)local_get(&look_again);

    if (look)
        look();
}

__attribute__((constructor)) static void settle(void)
{
    hud_scope_settle();
}
