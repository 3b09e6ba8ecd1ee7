/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * hsa.c - a stand-in for libhsa-runtime64.so: memory of two GPUs, and managed memory, which belongs
 * to the processor.
 */
#include "memory.h"

struct pointer_info {
    uint32_t size;
    int type;
    void *agent_base, *host_base;
    size_t bytes;
    void *user;
    uint64_t owner;
};

enum { GENERAL_ERROR = 0x1000, INVALID_ARGUMENT = 0x1001 };
enum { AGENT_DEVICE = 17, ALLOCATED = 1 };
enum { PROCESSOR = 1, FIRST_GPU = 2 }; /* agents */

EXPORT int hsa_amd_pointer_info(const void *pointer, struct pointer_info *info,
                                void *(*allocate)(size_t), uint32_t *count, uint64_t **accessible);
EXPORT int hsa_agent_get_info(uint64_t agent, int attribute, void *value);
EXPORT int hsa_memory_copy(void *dst, const void *src, size_t bytes);

int hsa_amd_pointer_info(const void *pointer, struct pointer_info *info, void *(*allocate)(size_t),
                         uint32_t *count, uint64_t **accessible)
{
    struct memory m;

    if (info->size < sizeof *info || allocate || count || accessible)
        return INVALID_ARGUMENT;
    *info = (struct pointer_info){ .size = sizeof *info };
    if (!find_memory(pointer, &m))
        return 0;
    info->type = ALLOCATED;
    info->agent_base = m.device;
    info->host_base = m.managed ? m.device : NULL;
    info->bytes = m.bytes;
    info->owner = m.managed ? PROCESSOR : (uint64_t)(FIRST_GPU + m.number % 2);
    return 0;
}

int hsa_agent_get_info(uint64_t agent, int attribute, void *value)
{
    if (agent < PROCESSOR || agent > FIRST_GPU + 1 || attribute != AGENT_DEVICE)
        return INVALID_ARGUMENT;
    *(int *)value = agent >= FIRST_GPU;
    return 0;
}

int hsa_memory_copy(void *dst, const void *src, size_t bytes)
{
    if (failing)
        return GENERAL_ERROR;
    copy_memory(dst, src, bytes);
    return 0;
}
