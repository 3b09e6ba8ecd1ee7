/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * abi.c - the few calls that the recorder makes to the MPI in the process, found by name.
 *
 * Handles are pointers in Open MPI and ints in the MPICH family.  All calls pass handles as
 * uintptr_t, of which an MPI with int handles reads the low half.
 */
#define _GNU_SOURCE
#include "host/record/record.h"

#include "host/mpich_abi.h"

#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef uintptr_t handle;

static const struct abi {
    bool pointers;
    uintptr_t in_place;
    int named; /* MPI_COMBINER_NAMED */
} open_mpi = { true, 1, 0 }, mpich = { false, UINTPTR_MAX, 1 };
enum { MPICH_WORLD = 0x44000000, ATTRIBUTE_NULL = 0 };

static const struct abi *abi;
static int keyval = -1;
static handle world, world_group;

static struct mpi {
    int (*Initialized)(int *);
    int (*Query_thread)(int *);
    int (*Comm_rank)(handle, int *);
    int (*Comm_size)(handle, int *);
    int (*Comm_remote_size)(handle, int *);
    int (*Comm_test_inter)(handle, int *);
    int (*Comm_get_name)(handle, char *, int *);
    int (*Comm_group)(handle, void *);
    int (*Group_translate_ranks)(handle, int, const int *, handle, int *);
    int (*Group_free)(void *);
    int (*Type_size)(handle, int *);
    int (*Type_get_envelope)(handle, int *, int *, int *, int *);
    int (*Comm_create_keyval)(void *, void *, int *, void *);
    int (*Comm_set_attr)(handle, int, void *);
    int (*Comm_get_attr)(handle, int, void *, int *);
    int (*Get_library_version)(char *, int *);
} mpi;

static const struct found {
    const char *name;
    size_t offset;
} calls[] = {
#define CALL(name)                                                                                 \
    {                                                                                              \
        "PMPI_" #name, offsetof(struct mpi, name)                                                  \
    }
    CALL(Initialized),         CALL(Query_thread),     CALL(Comm_rank),
    CALL(Comm_size),           CALL(Comm_remote_size), CALL(Comm_test_inter),
    CALL(Comm_get_name),       CALL(Comm_group),       CALL(Group_translate_ranks),
    CALL(Group_free),          CALL(Type_size),        CALL(Type_get_envelope),
    CALL(Comm_create_keyval),  CALL(Comm_set_attr),    CALL(Comm_get_attr),
    CALL(Get_library_version),
#undef CALL
};

static bool find_calls(const struct object *library)
{
    for (size_t i = 0; i < sizeof calls / sizeof *calls; i++) {
        void *found = hud_object_address(library, calls[i].name);
        if (!found)
            return false;
        memcpy((char *)&mpi + calls[i].offset, &found, sizeof found);
    }
    return true;
}

bool hud_record_find_mpi(const struct object *library)
{
    if (library->soname && strcmp(library->soname, "libmpi.so.40") == 0)
        abi = &open_mpi;
    else if (mpich_abi_is_of(library))
        abi = &mpich;
    if (!abi || !find_calls(library))
        return false;
    /* A program that is not a PIE has a copy of the object, which its libraries use, too. */
    world = abi->pointers ? (handle)hud_object_find("ompi_mpi_comm_world") : (handle)MPICH_WORLD;
    return world != 0;
}

bool hud_record_is_pointer_abi(void)
{
    return abi && abi->pointers;
}

uintptr_t hud_record_world(void)
{
    return world;
}

uintptr_t hud_record_handle(uintptr_t given)
{
    return abi->pointers ? given : given & UINT32_MAX;
}

uintptr_t hud_record_handle_at(uintptr_t array, int index)
{
    return abi->pointers ? ((const uintptr_t *)array)[index] : ((const uint32_t *)array)[index];
}

bool hud_record_in_place(uintptr_t buffer)
{
    return buffer == abi->in_place;
}

bool hud_record_named(uintptr_t type)
{
    int integers, addresses, types, combiner = -1;

    return mpi.Type_get_envelope(type, &integers, &addresses, &types, &combiner) == 0 &&
           combiner == abi->named;
}

uint64_t hud_record_type_bytes(uintptr_t type)
{
    int bytes = 0;

    return mpi.Type_size(type, &bytes) == 0 && bytes > 0 ? (uint64_t)bytes : 0;
}

/* ---- communicators ---- */

static int keep_none(handle comm, int key, void *extra, void *in, void *out, int *flag)
{
    (void)comm, (void)key, (void)extra, (void)in, (void)out;
    *flag = 0;
    return 0;
}

static int comm_freed(handle comm, int key, void *attribute, void *extra)
{
    (void)comm, (void)key, (void)extra;
    hud_record_freed((int)(intptr_t)attribute - 1);
    return 0;
}

int hud_record_attached(uintptr_t comm)
{
    void *attribute = NULL;
    int found = 0;

    if (keyval == -1 &&
        mpi.Comm_create_keyval((void *)keep_none, (void *)comm_freed, &keyval, NULL) != 0)
        return -1;
    return mpi.Comm_get_attr(comm, keyval, (void *)&attribute, &found) == 0 && found
               ? (int)(intptr_t)attribute - 1
               : -1;
}

void hud_record_attach(uintptr_t comm, int index)
{
    mpi.Comm_set_attr(comm, keyval, (void *)(intptr_t)(index + 1));
}

/* Computes FNV-1a over the members' ranks in the world.  All ranks of a communicator get the same
 * hash without a message. */
static uint64_t hash_members(handle comm, int size, bool initialised)
{
    uint64_t hash = 14695981039346656037u;
    handle group = 0;
    int *own = initialised ? calloc((size_t)size * 2, sizeof *own) : NULL, *there = own + size;

    if (own && mpi.Comm_group(comm, &group) == 0) {
        for (int i = 0; i < size; i++)
            own[i] = i;
        if (!world_group)
            mpi.Comm_group(world, &world_group);
        if (mpi.Group_translate_ranks(hud_record_handle(group), size, own,
                                      hud_record_handle(world_group), there) == 0)
            for (int i = 0; i < size; i++)
                hash = (hash ^ (uint64_t)(uint32_t)there[i]) * 1099511628211u;
        mpi.Group_free(&group);
    }
    free(own);
    return hash ^ (uint64_t)size;
}

bool hud_record_describe(uintptr_t comm, struct record_comm *out, int *members)
{
    char name[512] = "";
    int initialised = 0, length = 0;

    if (mpi.Comm_test_inter(comm, &out->inter) != 0 || mpi.Comm_rank(comm, &out->rank) != 0 ||
        mpi.Comm_size(comm, &out->size) != 0)
        return false;
    *members = out->size;
    if (out->inter)
        mpi.Comm_remote_size(comm, members);
    mpi.Comm_get_name(comm, name, &length);
    snprintf(out->name, sizeof out->name, "%.*s", (int)sizeof out->name - 1, name);
    mpi.Initialized(&initialised);
    out->members = hash_members(comm, out->size, initialised != 0);
    return true;
}

void hud_record_about_process(struct record *out)
{
    static char version[8192]; /* MPICH's MPI_MAX_LIBRARY_VERSION_STRING */
    int initialised = 0, length = 0, level = 0;

    out->world_rank = -1;
    mpi.Initialized(&initialised);
    if (initialised && mpi.Comm_rank(world, &out->world_rank) == 0)
        mpi.Comm_size(world, &out->world_size);
    if (initialised)
        mpi.Query_thread(&level);
    out->threads = level == 3; /* the value of MPI_THREAD_MULTIPLE in all MPIs */
    mpi.Get_library_version(version, &length);
    snprintf(out->mpi, sizeof out->mpi, "%.*s", (int)strcspn(version, "\n,"), version);
}
