/* SPDX-License-Identifier: BSD-3-Clause */
/* device.h - device memory for the tests, provided by a stand-in for the device's runtime
 * (stand_in/). */
#ifndef HUD_TESTS_DEVICE_H
#define HUD_TESTS_DEVICE_H

#include "layout.h"

#include <dlfcn.h>

static struct {
    void *(*allocate)(size_t bytes, int managed, void **alias);
    void (*release)(void *device);
    void (*fail)(int fail);
    long (*copies)(void), (*questions)(void);
} device;

/* ---- the library ----------------------------------------------------------------------------- */

static void find(void *library, const char *name, void *function)
{
    void *found = dlsym(library, name);

    if (!check(found != NULL, "no %s in the library", name))
        MPI_Abort(MPI_COMM_WORLD, 3);
    memcpy(function, &found, sizeof found);
}

static void load(const char *path)
{
    void *library = dlopen(path, RTLD_NOW | RTLD_LOCAL);

    if (!check(library != NULL, "%s: %s", path, library ? "" : dlerror()))
        MPI_Abort(MPI_COMM_WORLD, 3);
    find(library, "stand_in_allocate", &device.allocate);
    find(library, "stand_in_free", &device.release);
    find(library, "stand_in_fail", &device.fail);
    find(library, "stand_in_copies", &device.copies);
    find(library, "stand_in_questions", &device.questions);
}

/* ---- a buffer of a call
 * ----------------------------------------------------------------------- */

enum where { HOST, ON_DEVICE, MANAGED };

/* Moves the area's memory to a device. The test accesses the memory by its alias on the host. If
 * *given, the pointer for MPI, is the area's base, it is changed to the device address. */
struct moved {
    void *device;
    unsigned char *host;
};

static struct moved move(struct area *area, enum where where, const void **given)
{
    struct moved m = { NULL, area->memory };
    void *alias;

    if (where == HOST || !area->memory)
        return m;
    m.device = device.allocate(area->bytes, where == MANAGED, &alias);
    memcpy(alias, area->memory, area->bytes);
    if (given && *given == area->base)
        *given = (char *)m.device + (area->base - area->memory);
    area->base = (unsigned char *)alias + (area->base - area->memory);
    area->memory = alias;
    return m;
}

static void move_back(struct area *area, const struct moved *m)
{
    if (!m->device)
        return;
    memcpy(m->host, area->memory, area->bytes);
    area->base = m->host + (area->base - area->memory);
    area->memory = m->host;
    device.release(m->device);
}

#endif
