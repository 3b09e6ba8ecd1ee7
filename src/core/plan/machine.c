/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * machine.c - see machine.h.
 *
 * Source  Intel's manual, volume 2, CPUID: bit 31 of ECX of leaf 1 is set by hypervisors.  They
 *         give their signature in leaf 0x40000000 (kernel: virt/kvm/x86/cpuid).
 */
#include "core/plan/machine.h"
#include "topo/topo.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/utsname.h>
#include <unistd.h>

#if defined(__x86_64__)
#include <cpuid.h>

static void find_hypervisor(struct machine *m)
{
    static const char *const known[][2] = {
        { "KVMKVMKVM", "kvm" },     { "Microsoft Hv", "hyperv" }, { "VMwareVMware", "vmware" },
        { "XenVMMXenVMM", "xen" },  { "TCGTCGTCGTCG", "tcg" },    { "bhyve bhyve ", "bhyve" },
        { "ACRNACRNACRN", "acrn" },
    };
    const char *name = "other";
    unsigned a = 0, b = 0, c = 0, d = 0;
    char signature[13] = "";

    if (!__get_cpuid(1, &a, &b, &c, &d) || !(c >> 31 & 1)) {
        name = "none";
    } else {
        __cpuid(0x40000000, a, b, c, d);
        memcpy(signature, &b, 4);
        memcpy(signature + 4, &c, 4);
        memcpy(signature + 8, &d, 4);
    }
    for (size_t i = 0; i < sizeof known / sizeof *known; i++)
        if (strcmp(signature, known[i][0]) == 0)
            name = known[i][1];
    snprintf(m->hypervisor, sizeof m->hypervisor, "%s", name);
}
#else
static void find_hypervisor(struct machine *m)
{
    snprintf(m->hypervisor, sizeof m->hypervisor, "unknown");
}
#endif

/* Takes "6.1" of "6.1.0-13-amd64". */
static void find_kernel(struct machine *m)
{
    struct utsname system;
    size_t length = 0;

    if (uname(&system) != 0)
        system.release[0] = '\0';
    for (int part = 0; part < 2; part++) {
        length += part == 1 && system.release[length] == '.';
        length += strspn(system.release + length, "0123456789");
    }
    snprintf(m->kernel, sizeof m->kernel, "%.*s", (int)length, system.release);
}

static struct machine here;

static void find(void)
{
    struct machine *m = &here;

    hud_topo_cpu_name(m->cpu, sizeof m->cpu);
    for (char *c = m->cpu; *c; c++)
        *c = *c == '"' ? '\'' : *c;
    m->processors = sysconf(_SC_NPROCESSORS_ONLN);
    m->numa_nodes = hud_topo_numa_nodes();
    find_kernel(m);
    find_hypervisor(m);
}

const struct machine *hud_machine(void)
{
    static pthread_once_t once = PTHREAD_ONCE_INIT;

    pthread_once(&once, find);
    return &here;
}

bool hud_machine_is(const struct machine *m, const char *key, const char *value)
{
    const struct {
        const char *key, *text;
        long number;
    } keys[] = { { "processors", NULL, m->processors },
                 { "cpu", m->cpu, 0 },
                 { "numa", NULL, m->numa_nodes },
                 { "kernel", m->kernel, 0 },
                 { "virtual", m->hypervisor, 0 } };

    for (size_t i = 0; i < sizeof keys / sizeof *keys; i++)
        if (strcmp(key, keys[i].key) == 0)
            return keys[i].text ? strcmp(value, keys[i].text) == 0
                                : strtol(value, NULL, 10) == keys[i].number;
    return true;
}

void hud_machine_write(const struct machine *m, char line[MACHINE_LINE])
{
    snprintf(line, MACHINE_LINE, "machine processors=%ld cpu=\"%s\" numa=%d kernel=%s virtual=%s",
             m->processors, m->cpu, m->numa_nodes, m->kernel, m->hypervisor);
}
