/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * front.h - the interface between the loader and the front ends.  No front end is linked to the
 * loader: the loader finds it by file name and calls one exported function.
 *
 * Open MPI's component:  int huddle_openmpi_inject(void);
 *     Returns 0 on success; otherwise it has printed the reason.
 * Wrappers over PMPI_*:  const char *huddle_mpich_attach(void *mpi, const char *version, const
 * struct hud_front **front);
 *     mpi is dlopen's handle of the MPI's library, version the text of MPI_Get_library_version.
 *     Returns NULL on success, else the reason.
 *
 * They are called at most once, before the MPI initialises.
 */
#ifndef HUD_FRONT_H
#define HUD_FRONT_H

/* One MPI_* function that a front end wraps.  Its type is the MPI's. */
struct hud_wrapper {
    const char *name;
    void (*function)(void);
};

/* A function that does something first, and then calls the one that its caller would have found. */
struct hud_detour {
    const char *name;
    void (*function)(void);
    void **next; /* set by the loader; a name that has no next definition is left alone */
};

/* A front end made of wrappers.  Lives as long as the process. */
struct hud_front {
    /* Tables, each ends with a NULL name.  NULL: none.  The loader forwards only names that it
     * exports itself. */
    const struct hud_wrapper *wrappers[4];
    const struct hud_detour *detours; /* the same */
    void (*initialised)(void);        /* the MPI's own initialisation has returned, well or not */
};

#define HUD_OPENMPI_ENTRY "huddle_openmpi_inject"
#define HUD_MPICH_ENTRY "huddle_mpich_attach"

typedef int hud_openmpi_entry(void);
typedef const char *hud_mpich_entry(void *mpi, const char *version, const struct hud_front **front);

#endif
