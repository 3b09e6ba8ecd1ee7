/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * topo/sys.c - NUMA nodes from /sys, the CPU quota from the cgroups, affinity from the scheduler.
 *
 * Source  Linux: admin-guide/mm/numaperf and ABI/stable/sysfs-devices-node (node/online,
 *         nodeN/cpulist), admin-guide/cgroup-v2 (cpu.max), scheduler/sched-bwc (cpu.cfs_quota_us).
 *         The files are read at each call: they are few and small, and no topology is loaded.
 */
#define _GNU_SOURCE /* sched_getaffinity */
#include "topo/sys.h"
#include "topo/cgroup.h"
#include "topo/machine.h"

#include <limits.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { PATH_BYTES = PATH_MAX + 64 }; /* root is short, or a test's folder */

/* ---- affinity -------------------------------------------------------------------------------- */

void hud_topo_allowed(struct topo_cpus *cpus)
{
    uint64_t mask[65536 / 64] = {
        0
    }; /* sched_getaffinity fails if the kernel knows more processors than fit */
    int beyond = sched_getaffinity(0, sizeof mask, (cpu_set_t *)mask) != 0;

    for (size_t i = TOPO_CPUS / 64; i < sizeof mask / sizeof mask[0] && !beyond; i++)
        beyond = mask[i] != 0;
    memcpy(cpus, mask, sizeof *cpus);
    if (beyond)
        memset(cpus, -1, sizeof *cpus); /* counts as unbound */
}

int hud_topo_cpus_count(const struct topo_cpus *cpus)
{
    int count = 0;

    for (int word = 0; word < TOPO_CPUS / 64; word++)
        count += __builtin_popcountll(cpus->word[word]);
    return count;
}

/* ---- NUMA nodes ------------------------------------------------------------------------------ */

/* Reads a list in the kernel's format ("0-3,8").  Returns false if the file is missing or has other
 * content. */
static bool read_list(const char *path, struct topo_cpus *list)
{
    char *text = NULL;
    size_t room = 0;
    FILE *f = fopen(path, "re");
    bool read = f && getline(&text, &room, f) > 0;

    if (read)
        text[strcspn(text, "\n")] = '\0';
    read = read && hud_topo_list_read(text, list);
    if (f)
        fclose(f);
    free(text);
    return read;
}

/* Reads the set of online NUMA nodes.  Assumes node 0 if the kernel does not list any. */
static void read_nodes(const char *root, struct topo_cpus *nodes)
{
    char path[PATH_BYTES];

    snprintf(path, sizeof path, "%s/sys/devices/system/node/online", root);
    if (read_list(path, nodes) && hud_topo_cpus_count(nodes) >= 1)
        return;
    memset(nodes, 0, sizeof *nodes);
    topo_add(nodes, 0);
}

int hud_sys_numa_nodes(const char *root)
{
    struct topo_cpus nodes;

    read_nodes(root, &nodes);
    return hud_topo_cpus_count(&nodes);
}

static bool node_holds(const char *root, int node, const struct topo_cpus *cpus)
{
    char path[PATH_BYTES];
    struct topo_cpus near;
    bool holds;

    snprintf(path, sizeof path, "%s/sys/devices/system/node/node%d/cpulist", root, node);
    holds = read_list(path, &near);
    for (int word = 0; word < TOPO_CPUS / 64 && holds; word++)
        holds = (cpus->word[word] & ~near.word[word]) == 0;
    return holds;
}

int hud_sys_home_node(const char *root, const struct topo_cpus *cpus)
{
    struct topo_cpus nodes;
    bool one, bound = hud_topo_cpus_count(cpus) > 0;
    int home = -1;

    read_nodes(root, &nodes);
    one = hud_topo_cpus_count(&nodes) == 1;
    for (int n = 0; n < TOPO_CPUS && home < 0; n++)
        if (topo_has(&nodes, n) && (one || (bound && node_holds(root, n, cpus))))
            home = n;
    return home;
}

/* ---- CPU quota ------------------------------------------------------------------------------- */

/* Returns how many processors a cgroup's own limit allows, rounded up, or INT_MAX if there is no
 * limit. */
static int folder_quota(const char *folder, bool version_2)
{
    static const char *const files[2][2] = { { "cpu.cfs_quota_us", "cpu.cfs_period_us" },
                                             { "cpu.max", NULL } };
    long long us[2] = { -1, -1 }, cpus; /* quota and period, in one file or in two */
    int known = 0;

    for (int i = 0; i < 2 && files[version_2][i]; i++) {
        char path[PATH_BYTES];
        FILE *f;

        snprintf(path, sizeof path, "%s/%s", folder, files[version_2][i]);
        f = fopen(path, "re");
        while (f && known < 2 && fscanf(f, "%lld", &us[known]) == 1)
            known++;
        if (f)
            fclose(f);
    }
    if (known < 2 || us[0] <= 0 || us[1] <= 0) /* "max", -1, or no controller here */
        return INT_MAX;
    cpus = (us[0] - 1) / us[1] + 1;
    return cpus < INT_MAX ? (int)cpus : INT_MAX;
}

/* Updates the minimum quota, *arg. */
static void reduce_quota(const char *folder, bool version_2, void *arg)
{
    int quota = folder_quota(folder, version_2), *min = arg;

    *min = quota < *min ? quota : *min;
}

int hud_sys_cpu_quota(const char *root)
{
    int min = INT_MAX;

    hud_cgroup_visit(root, "cpu", reduce_quota, &min);
    return min;
}

/* ---- the processors' name -------------------------------------------------------------------- */

/* Finds the value of the first "key : value" line of cpuinfo.  Returns false if there is none. */
static bool cpuinfo(const char *root, const char *key, char *value, size_t bytes)
{
    char path[PATH_BYTES], line[512];
    bool found = false;

    snprintf(path, sizeof path, "%s/proc/cpuinfo", root);
    FILE *f = fopen(path, "re");
    while (f && !found && fgets(line, sizeof line, f)) {
        char *colon = strchr(line, ':');
        found = colon && strncmp(line, key, strlen(key)) == 0 &&
                strspn(line + strlen(key), " \t") == (size_t)(colon - line) - strlen(key);
        if (found)
            snprintf(value, bytes, "%.*s", (int)strcspn(colon + 1 + strspn(colon + 1, " "), "\n"),
                     colon + 1 + strspn(colon + 1, " "));
    }
    if (f)
        fclose(f);
    return found;
}

void hud_sys_cpu_name(const char *root, char *name, size_t bytes)
{
    char maker[64], part[64];

    name[0] = '\0';
    if (!cpuinfo(root, "model name", name, bytes) &&
        cpuinfo(root, "CPU implementer", maker, sizeof maker) &&
        cpuinfo(root, "CPU part", part, sizeof part))
        snprintf(name, bytes, "%s/%s", maker, part);
}

/* ---- the system itself ----------------------------------------------------------------------- */

int hud_topo_numa_nodes(void)
{
    return hud_sys_numa_nodes("");
}

int hud_topo_home_node(const struct topo_cpus *cpus)
{
    return hud_sys_home_node("", cpus);
}

int hud_topo_node_here(void)
{
    unsigned cpu, node;

    return getcpu(&cpu, &node) == 0 ? (int)node : -1;
}

int hud_topo_cpu_quota(void)
{
    return hud_sys_cpu_quota("");
}

void hud_topo_cpu_name(char *name, size_t bytes)
{
    hud_sys_cpu_name("", name, bytes);
}
