/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * front.h - the interface between the loader and the libraries that it plugs into a process: a
 * front end and the recorder.  They are not linked to the loader: the loader finds each by file
 * name and calls its exported function, which returns NULL, or the reason why it cannot be used.
 *
 * Open MPI's component:  const char *huddle_openmpi_inject(const char *version,
 *                                                          const struct hud_front **front);
 * Wrappers over PMPI_*:  const char *huddle_mpich_attach(const struct object *mpi,
 *                                                        const char *version,
 *                                                        const struct hud_front **front);
 * The recorder:          const char *huddle_record_attach(const struct object *mpi,
 *                                                         const struct hud_front **front);
 *     mpi has the tables of the MPI's library: dlsym would go through the loader, or through the
 *     loader of another huddle.  version is the text of MPI_Get_library_version.
 *
 * These functions are called at most once, before the MPI initialises.  They change only their own
 * data, or the MPI's list of components.
 *
 * A front end may also export  void huddle_look_again(void);  The loader calls this function when
 * the program may have opened another library.
 */
#ifndef HUD_FRONT_H
#define HUD_FRONT_H

/* A function that wraps a function of MPI and has the same type. */
struct hud_wrapper {
    const char *name;
    void (*function)(void);
    void **next; /* the loader stores the wrapped function here before a call; NULL: not needed, and
                    the function also wraps PMPI_X if its name is MPI_X */
};

/* A row of a table of wrappers, for a symbol whose next function is in next_<symbol>. */
#define HUD_WRAPPER(symbol, wrapper) { #symbol, (void (*)(void))(wrapper), &next_##symbol },

/* Lives as long as the process. */
struct hud_front {
    /* Tables, each terminated by a NULL name, or NULL.  The loader forwards only names that it
     * exports itself. */
    const struct hud_wrapper *wrappers[4];
    void (*starting)(void);    /* called before the MPI's own initialisation; or NULL */
    void (*initialised)(void); /* called after the initialisation, successful or not */
};

struct object;

#define HUD_OPENMPI_ENTRY "huddle_openmpi_inject"
#define HUD_MPICH_ENTRY "huddle_mpich_attach"
#define HUD_RECORD_ENTRY "huddle_record_attach"
#define HUD_LOOK_AGAIN "huddle_look_again"

typedef const char *hud_openmpi_entry(const char *version, const struct hud_front **front);
typedef const char *hud_mpich_entry(const struct object *mpi, const char *version,
                                    const struct hud_front **front);
typedef const char *hud_record_entry(const struct object *mpi, const struct hud_front **front);
typedef void hud_look_again(void);

#endif
