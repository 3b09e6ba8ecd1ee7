/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * front.h - the interface between the loader and what it plugs into a process: a front end and the
 * recorder.  None is linked to the loader: the loader finds it by file name and calls one exported
 * function, which returns NULL, or why it cannot serve.
 *
 * Open MPI's component:  const char *huddle_openmpi_inject(const char *version,
 *                                                          const struct hud_front **front);
 * Wrappers over PMPI_*:  const char *huddle_mpich_attach(const struct object *mpi,
 *                                                        const char *version,
 *                                                        const struct hud_front **front);
 * The recorder:          const char *huddle_record_attach(const struct object *mpi,
 *                                                         const struct hud_front **front);
 *     mpi has the tables of the MPI's library: dlsym would go through the loader, or through that
 *     of another huddle.  version is the text of MPI_Get_library_version.
 *
 * They are called at most once, before the MPI initialises.  They change nothing but their own
 * data, or the MPI's list of components.
 *
 * A front end may also export  void huddle_look_again(void);  It is called when the program may
 * have opened another library.
 */
#ifndef HUD_FRONT_H
#define HUD_FRONT_H

/* A function that stands in front of a function of MPI.  Its type is the MPI's. */
struct hud_wrapper {
    const char *name;
    void (*function)(void);
    void **next; /* what the name leads to without this function, set by the loader before a call;
                    NULL: not wanted, and MPI_X stands in front of PMPI_X, too */
};

/* Lives as long as the process. */
struct hud_front {
    /* Tables, each ends with a NULL name.  NULL: none.  The loader forwards only names that it
     * exports itself. */
    const struct hud_wrapper *wrappers[4];
    void (*starting)(void);    /* the MPI's own initialisation follows; may be NULL */
    void (*initialised)(void); /* it has returned, well or not */
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
