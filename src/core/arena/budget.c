/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * budget.c - memory limits of the machine and of the memory cgroups.
 *
 * The size of /dev/shm does not limit a memfd; the memory cgroup does.  There even posix_fallocate
 * wakes the OOM killer instead of failing.  So the limit of every ancestor, less its usage without
 * inactive page cache, is checked first.  This is best effort: other processes may allocate
 * meanwhile.
 */
#include "core/arena/budget.h"
#include "topo/cgroup.h"

#include <limits.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

/* Bytes of address space and of memory that are left for the MPI and the program. */
enum { SPACE_KEPT = 256 << 20, MEMORY_KEPT = 8 << 20 };

/* Reads the first number in a file.  Returns -1 without a file, or for "max". */
static long long read_number(const char *path)
{
    long long n = -1;
    FILE *f = fopen(path, "re");

    if (!f)
        return -1;
    if (fscanf(f, "%lld", &n) != 1)
        n = -1;
    fclose(f);
    return n;
}

/* Reads the number behind a key in "key number" or "key: number kB" lines.  Returns -1 if the
 * key is missing. */
static long long read_key(const char *path, const char *key)
{
    char line[256];
    long long n = -1;
    FILE *f = fopen(path, "re");

    if (!f)
        return -1;
    while (n < 0 && fgets(line, sizeof line, f)) {
        size_t k = strlen(key);
        if (strncmp(line, key, k) == 0 && (line[k] == ' ' || line[k] == ':'))
            n = strtoll(line + k + 1, NULL, 10);
    }
    fclose(f);
    return n;
}

struct limit {
    size_t whole, left; /* bytes: the least limit, the least room below a limit */
};

/* Versions 1 and 2 name their files differently. */
static const struct names {
    const char *limit, *usage, *inactive;
} names_of[2] = { { "memory.limit_in_bytes", "memory.usage_in_bytes", "total_inactive_file" },
                  { "memory.max", "memory.current", "inactive_file" } };

/* Reads the limit of a group.  arg: the minimum so far.  Most groups have no limit, and
 * reading their usage would take the longest time. */
static void read_limit(const char *folder, bool version_2, void *arg)
{
    const struct names *names = &names_of[version_2];
    struct limit *min = arg;
    char path[PATH_MAX + 32]; /* no longer one can be opened */

    snprintf(path, sizeof path, "%s/%s", folder, names->limit);
    long long limit = read_number(path);
    if (limit < 0 || limit > LLONG_MAX / 2)
        return;
    snprintf(path, sizeof path, "%s/%s", folder, names->usage);
    long long usage = read_number(path);
    snprintf(path, sizeof path, "%s/memory.stat", folder);
    long long inactive = read_key(path, names->inactive);
    if (usage < 0)
        return;
    usage -= inactive > 0 && inactive < usage ? inactive : 0;
    size_t left = usage < limit ? (size_t)(limit - usage) : 0;
    min->whole = (size_t)limit < min->whole ? (size_t)limit : min->whole;
    min->left = left < min->left ? left : min->left;
}

static struct limit group_limits(void)
{
    struct limit min = { SIZE_MAX, SIZE_MAX };

    hud_cgroup_visit("", "memory", read_limit, &min);
    return min;
}

/* Returns a line of /proc/meminfo in bytes, or SIZE_MAX if the line is missing. */
static size_t machine_bytes(const char *key)
{
    long long kb = read_key("/proc/meminfo", key);

    return kb > 0 ? (size_t)kb << 10 : SIZE_MAX;
}

static size_t smaller(size_t a, size_t b)
{
    return a < b ? a : b;
}

size_t hud_budget_of(size_t whole, int processors, int local_ranks)
{
    int share = processors > local_ranks ? processors : local_ranks;
    size_t page = (size_t)sysconf(_SC_PAGESIZE);
    size_t bytes = whole == SIZE_MAX ? BUDGET_MAX : whole / 100 / (size_t)(share > 0 ? share : 1);

    return smaller(bytes, BUDGET_MAX) / page * page;
}

size_t hud_budget_default(int local_ranks)
{
    return hud_budget_of(smaller(machine_bytes("MemTotal"), group_limits().whole),
                         (int)sysconf(_SC_NPROCESSORS_ONLN), local_ranks);
}

bool hud_budget_has_space(size_t arena_bytes, int mappings)
{
    struct rlimit max;
    size_t pages = (size_t)read_number("/proc/self/statm"), page = (size_t)sysconf(_SC_PAGESIZE);

    if (getrlimit(RLIMIT_AS, &max) != 0 || max.rlim_cur == RLIM_INFINITY || pages == (size_t)-1)
        return true;
    size_t left = max.rlim_cur / page > pages ? ((size_t)max.rlim_cur / page - pages) * page : 0;
    return left > SPACE_KEPT && (left - SPACE_KEPT) / arena_bytes > (size_t)mappings;
}

size_t hud_budget_left(void)
{
    return smaller(machine_bytes("MemAvailable"), group_limits().left);
}

size_t hud_budget_room(void)
{
    size_t left = hud_budget_left();

    return left > MEMORY_KEPT ? left - MEMORY_KEPT : 0;
}

bool hud_budget_has_descriptors(void)
{
    struct rlimit max;

    return getrlimit(RLIMIT_NOFILE, &max) != 0 || max.rlim_cur >= BUDGET_DESCRIPTORS;
}
