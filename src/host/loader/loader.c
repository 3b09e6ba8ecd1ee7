/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * loader.c - the library to preload: finds the MPI that the program initialises, and loads the
 * front end that was built for this MPI.
 *
 * The loader depends on no MPI, so it is harmless in every process of a job: shells, launchers,
 * interpreters, programs that are linked to an MPI and never call it.  When it is loaded it only
 * hides its names (look_up.c, scope.c).  All else begins in MPI_Init, in any library.  If that MPI
 * has no front end, huddle does nothing, and rank 0 reports this in one line.
 *
 * With HUDDLE=off no front end is loaded; the functions in entries.S pass calls on.  The same
 * holds in a process with elevated privileges, if /etc/ld.so.preload or a trusted directory loads
 * this library; then not even HUDDLE is read.
 */
#define _GNU_SOURCE
#include "host/loader/loader.h"

#include "base/launcher_env.h"
#include "base/process_atomics.h"
#include "base/required.h"
#include "base/setuid.h"
#include "host/first_words.h"
#include "host/mpich_abi.h"
#include "mem/kept_errno.h"

#include <dlfcn.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { VERSION_BYTES = 8192 }; /* MPICH's MPI_MAX_LIBRARY_VERSION_STRING, which is the largest */

struct front_end;
static const char *plug_component(const struct front_end *row, const struct object *mpi,
                                  const char *version);
static const char *plug_wrappers(const struct front_end *row, const struct object *mpi,
                                 const char *version);

/* The MPIs with a front end: the beginning of the version, the front end's file in this library's
 * directory, and how to plug it in.  Open MPI's is known by the library's name, the MPICH family by
 * its ABI. */
static const struct front_end {
    const char *version, *file;
    /* Plugs the front end in.  Returns NULL, or the reason for a failure. */
    const char *(*plug)(const struct front_end *row, const struct object *mpi, const char *version);
} open_mpis[] = { { "Open MPI v4.1.", "openmpi-4.1/mca_coll_huddle.so", plug_component },
                  { "Open MPI v5.0.", "openmpi-5.0/mca_coll_huddle.so", plug_component } },
  mpich_family = { "", "libhuddle-mpich.so", plug_wrappers };
enum { OPEN_MPIS = sizeof open_mpis / sizeof open_mpis[0] };

/* Findings about an MPI that the program initialises. */
struct verdict {
    char version[FIRST_WORDS];
    char why[160]; /* why huddle does not serve this MPI; may be empty */
};

static bool served_runs;                    /* its initialisation has returned */
static ElfW(Addr) reported;                 /* the last unserved MPI that was reported */
static atomic_flag busy = ATOMIC_FLAG_INIT; /* never waited for, see begin() */
static struct plugged {
    const struct hud_front *front;
    bool started, initialised;
} plugged[HUD_LAYERS];

static bool setting_is(const char *name, const char *value)
{
    const char *set = getenv(name);

    return set && strcmp(set, value) == 0;
}

static bool is_off(void)
{
    return setting_is("HUDDLE", "off") || setting_is("HUDDLE", "0");
}

/* ---- messages ---- */

/* Prints "huddle: <version>: <why>; <consequence>". */
static void report(const char *version, const char *why, bool ends)
{
    char line[512];

    if (setting_is("HUDDLE_LOG", "quiet") || (setting_is("HUDDLE_LOG", "error") && !ends))
        return;
    int bytes = snprintf(line, sizeof line, "huddle: %s: %s; %s\n", version, why,
                         ends ? "HUDDLE=require ends the job" : "its own collectives are used");
    ssize_t written = write(STDERR_FILENO, line,
                            (size_t)(bytes < (int)sizeof line ? bytes : (int)sizeof line - 1));
    (void)written;
}

struct failure {
    const char *version, *why;
};

static void report_the_end(const void *arg)
{
    const struct failure *failure = arg;

    report(failure->version, failure->why, true);
}

static void leave_alone(const char *version, const char *why)
{
    if (setting_is("HUDDLE", "require"))
        required_end(launched_rank() < 0, report_the_end, &(struct failure){ version, why });
    if (launched_rank() <= 0)
        report(version, why, false);
}

/* ---- plugging in ---- */

/* Opens a file in this library's directory.  Returns its entry, or NULL with the reason in *why. */
static void *open_beside(const char *file, const char *entry, enum hud_layer layer,
                         const char **why)
{
    char path[PATH_MAX];
    struct object self;

    *why = "its front end cannot be found";
    if (!hud_object_at(open_mpis, &self) || !self.path)
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
    if (found)
        hud_plugged_open(layer, found,
                         layer == HUD_FRONT_END ? hud_real_dlsym(library, HUD_LOOK_AGAIN) : NULL);
    return found;
}

static void add(enum hud_layer layer, const struct hud_front *front)
{
    plugged[layer].front = front;
    for (size_t i = 0; i < sizeof front->wrappers / sizeof *front->wrappers; i++)
        if (front->wrappers[i])
            hud_names_add(layer, front->wrappers[i]);
}

static const char *plug_component(const struct front_end *row, const struct object *mpi,
                                  const char *version)
{
    const char *why;
    const struct hud_front *front = NULL;
    void *entry = open_beside(row->file, HUD_OPENMPI_ENTRY, HUD_FRONT_END, &why);

    (void)mpi;
    if (entry)
        why = ((hud_openmpi_entry *)entry)(version, &front);
    if (!why)
        add(HUD_FRONT_END, front);
    return why;
}

static const char *plug_wrappers(const struct front_end *row, const struct object *mpi,
                                 const char *version)
{
    const char *why;
    const struct hud_front *front = NULL;
    void *entry = open_beside(row->file, HUD_MPICH_ENTRY, HUD_FRONT_END, &why);

    if (entry)
        why = ((hud_mpich_entry *)entry)(mpi, version, &front);
    if (!why)
        add(HUD_FRONT_END, front);
    return why;
}

/* Returns the function that reports the version: the program's definition if in the MPI (a vendor's
 * library may wrap another MPI), otherwise the MPI's own. */
static void *version_function(const struct object *object)
{
    struct object mpi;
    void *found = hud_names_next("MPI_Get_library_version", NULL);

    return found && hud_loader_mpi_of(found, &mpi) && mpi.base == object->base
               ? found
               : hud_object_address(object, "PMPI_Get_library_version");
}

/* Stores the version's text.  Returns the row of an MPI, or NULL with the reason in why. */
static const struct front_end *find_front_end(const struct object *object,
                                              char version[VERSION_BYTES], char why[160])
{
    const char *slash = object->path ? strrchr(object->path, '/') : NULL,
               *soname = object->soname ? object->soname
                         : slash        ? slash + 1
                                        : "an MPI";
    int bytes = 0;
    int (*get_version)(char *, int *) = (int (*)(char *, int *))version_function(object);

    if (!get_version || get_version(version, &bytes) != 0)
        snprintf(version, VERSION_BYTES, "%s, of unknown version", soname);
    snprintf(why, 160, "no front end for %s%s", soname,
             strncmp(soname, "libmpi_abi.", strlen("libmpi_abi.")) == 0 ? ", MPI's standard ABI"
                                                                        : "");
    for (int i = 0; i < OPEN_MPIS && strcmp(soname, "libmpi.so.40") == 0; i++)
        if (strncmp(version, open_mpis[i].version, strlen(open_mpis[i].version)) == 0)
            return &open_mpis[i];
    return mpich_abi_is_of(object) ? &mpich_family : NULL;
}

/* Plugs in the front end of an MPI, or stores the reason for a failure. */
static void load(const struct object *object, struct verdict *verdict)
{
    static char version[VERSION_BYTES]; /* used by one thread at a time, see begin() */
    const struct front_end *row = find_front_end(object, version, verdict->why);
    const char *why = verdict->why;

    first_words(version, verdict->version);
    if (hud_plugged_serves(NULL))
        why = "huddle serves another MPI of this process";
    else if (row)
        why = row->plug(row, object, version);
    if (why && why != verdict->why)
        snprintf(verdict->why, sizeof verdict->why, "%s", why);
    if (why)
        return;
    verdict->why[0] = '\0';
    hud_loader_pin(hud_object_address(object, "PMPI_Init"));
    hud_plugged_serve(HUD_FRONT_END, object);
}

/* Plugs in the recorder, for the first MPI known to it. */
static void load_recorder(const struct object *object)
{
    const char *folder = process_is_elevated() ? NULL : getenv("HUDDLE_RECORD"), *why;
    const struct hud_front *front = NULL;

    if (!folder || folder[0] == '\0' || plugged[HUD_RECORDER].front)
        return;
    hud_record_entry *attach = (hud_record_entry *)open_beside(
        "libhuddle-record.so", HUD_RECORD_ENTRY, HUD_RECORDER, &why);
    if (!attach || attach(object, &front))
        return;
    add(HUD_RECORDER, front);
    hud_plugged_serve(HUD_RECORDER, object);
}

/* ---- initialisation ---- */

/* Returns true for functions in which ranks wait for each other, including MPI_Session_init. */
static bool meets_ranks(const char *name)
{
    return !strstr(name, "MPI_T_");
}

/* Returns true for functions that create an MPI_COMM_WORLD, unlike sessions. */
static bool makes_world(const char *name)
{
    return meets_ranks(name) && !strstr(name, "ession_");
}

static void start(void)
{
    for (int i = 0; i < HUD_LAYERS; i++) {
        struct plugged *p = &plugged[i];
        if (!p->front || p->started)
            continue;
        p->started = true;
        if (p->front->starting)
            p->front->starting();
    }
}

static void initialised(void)
{
    for (int i = 0; i < HUD_LAYERS; i++) {
        struct plugged *p = &plugged[i];
        if (!p->front || !p->started || p->initialised)
            continue;
        p->initialised = true;
        if (p->front->initialised)
            p->front->initialised();
    }
}

/*
 * Prepares an MPI's initialisation.  Returns false if the function does not belong to an MPI.  No
 * thread waits for `busy`: its holder asks the MPI for its version, and takes the dynamic linker's
 * lock, which another thread may hold while it enters here from a library's constructor.  Such a
 * call is of a second MPI, which is left alone.
 */
static bool begin(const char *name, const void *function, struct object *object,
                  struct verdict *verdict)
{
    KEEP_ERRNO();
    if (!hud_loader_mpi_of(function, object))
        return false;
    if (!local_claim(&busy))
        return false;
    load_recorder(object);
    if (!hud_plugged_serves(object) && !process_is_elevated() && !is_off())
        load(object, verdict);
    hud_names_forget();
    if (meets_ranks(name) && (hud_plugged_serves(object) || plugged[HUD_RECORDER].front))
        start();
    local_release(&busy);
    return true;
}

/* Completes an MPI's initialisation.  Reports an unserved MPI only now: a translation library has
 * initialised another MPI by now, which may be served. */
static void end(const char *name, const struct object *object, const struct verdict *verdict,
                bool served_ran)
{
    KEEP_ERRNO();
    if (makes_world(name))
        initialised();
    if (!object)
        return;
    if (hud_plugged_serves(object)) {
        served_runs = true;
    } else if (verdict->why[0] && served_ran == served_runs && reported != object->base) {
        reported = object->base; /* a tool's MPI_Init calls the MPI's */
        leave_alone(verdict->version, verdict->why);
    }
}

uintptr_t hud_loader_initialise(const char *name, void *function, const uintptr_t a[4])
{
    enum { ERROR_OTHER = 15 };
    struct object object;
    struct verdict verdict = { .why = "" };
    bool served_ran = served_runs;

    if (!function)
        return ERROR_OTHER; /* see `absent` in names.c */
    bool is_known = begin(name, function, &object, &verdict);
    uintptr_t result = ((uintptr_t(*)(uintptr_t, uintptr_t, uintptr_t, uintptr_t))function)(
        a[0], a[1], a[2], a[3]);
    end(name, is_known ? &object : NULL, &verdict, served_ran);
    return result;
}
