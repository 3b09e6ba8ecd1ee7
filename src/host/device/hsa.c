/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * hsa.c - memory of AMD's GPUs that HIP does not know, by HSA's runtime (libhsa-runtime64.so):
 * OpenMP's offloading allocates with it.
 *
 * The processor may be able to read memory of a GPU, slowly and without order.  So memory counts as
 * a device's if its owner is a GPU.  A copy is complete on return, and accepts any memory of the
 * host.
 *
 * HSA Runtime Programmer's Reference Manual, "Memory"; hsa_ext_amd.h.
 */
#include "host/device/device.h"
#include "host/device/symbols.h"

/* Constants of hsa.h and hsa_ext_amd.h. */
enum { TYPE_ALLOCATED = 1, TYPE_GRAPHICS = 3, TYPE_SHARED = 4, TYPE_MAPPED = 6 };
enum { AGENT_INFO_DEVICE = 17, DEVICE_GPU = 1 };

struct pointer_info {
    uint32_t size; /* set by the caller; the runtime returns the bytes that it has filled */
    int type;
    void *agent_base, *host_base;
    size_t bytes;
    void *user;
    uint64_t owner; /* an agent; 0 if unknown */
    char later[64]; /* room for additions by a later version */
};

static struct {
    int (*get_info)(const void *pointer, struct pointer_info *info, void *(*allocate)(size_t),
                    uint32_t *count, uint64_t **accessible);
    int (*get_agent)(uint64_t agent, int attribute, void *value);
    int (*copy)(void *dst, const void *src, size_t bytes);
} runtime;

static const struct hud_symbol symbols[] = {
    { "hsa_amd_pointer_info", (void **)&runtime.get_info, true },
    { "hsa_agent_get_info", (void **)&runtime.get_agent, true },
    { "hsa_memory_copy", (void **)&runtime.copy, true },
    { NULL, NULL, false },
};

static bool find(void *library)
{
    return hud_symbols_find(library, symbols);
}

static bool is_gpu(uint64_t agent)
{
    int device = 0;

    return agent != 0 && runtime.get_agent(agent, AGENT_INFO_DEVICE, &device) == 0 &&
           device == DEVICE_GPU;
}

static bool ask(const void *address, struct hud_device_place *place)
{
    struct pointer_info info = { .size = offsetof(struct pointer_info, later) };

    if (runtime.get_info(address, &info, NULL, NULL, NULL) != 0 ||
        info.size < offsetof(struct pointer_info, later))
        return false;
    place->context = (void *)(uintptr_t)info.owner;
    return (info.type == TYPE_ALLOCATED || info.type == TYPE_GRAPHICS || info.type == TYPE_SHARED ||
            info.type == TYPE_MAPPED) &&
           is_gpu(info.owner);
}

static int copy(const struct hud_device_place *place, const struct hud_device_copy *c, size_t count,
                bool to_device, const char **function)
{
    int error = 0;

    (void)place;
    *function = "hsa_memory_copy";
    for (size_t i = 0; i < count; i++)
        for (size_t row = 0; row < c[i].rows && error == 0; row++) {
            struct hud_device_copy one = hud_device_row(&c[i], row);
            error = to_device ? runtime.copy(one.device, one.host, one.bytes)
                              : runtime.copy(one.host, one.device, one.bytes);
        }
    return error;
}

const struct hud_device_runtime hud_device_hsa = {
    "HSA", { "libhsa-runtime64.so", NULL }, find, ask, copy
};
