/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * test_topo_sys.c - NUMA nodes and the CPU quota, read from folders that imitate /sys and /proc of
 * machines and containers.
 */
#define _GNU_SOURCE /* mkdtemp, nftw */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include "topo/sys.h"

#include <ftw.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

static char root[] = "/tmp/huddle-test-XXXXXX";

static int make_root(void **state)
{
    (void)state;
    strcpy(root + strlen(root) - 6, "XXXXXX");
    return mkdtemp(root) ? 0 : -1;
}

static int remove_one(const char *path, const struct stat *s, int type, struct FTW *walk)
{
    (void)s, (void)type, (void)walk;
    return remove(path);
}

static int remove_root(void **state)
{
    (void)state;
    return nftw(root, remove_one, 16, FTW_DEPTH | FTW_PHYS);
}

/* Writes a file below root, and creates its folders. */
static void put(const char *name, const char *text)
{
    char path[PATH_MAX];
    FILE *f;

    snprintf(path, sizeof path, "%s%s", root, name);
    for (char *slash = strchr(path + strlen(root) + 1, '/'); slash;
         slash = strchr(slash + 1, '/')) {
        *slash = '\0';
        mkdir(path, 0700);
        *slash = '/';
    }
    f = fopen(path, "w");
    assert_non_null(f);
    fputs(text, f);
    fclose(f);
}

static int home(int first, int last)
{
    struct topo_cpus cpus = { { 0 } };

    for (int c = first; c <= last; c++)
        cpus.word[c / 64] |= (uint64_t)1 << (c % 64);
    return hud_sys_home_node(root, &cpus);
}

static void home_node_is_found(void **state)
{
    (void)state;
    put("/sys/devices/system/node/online", "0-1,8\n");
    put("/sys/devices/system/node/node0/cpulist", "0-3,8-11\n");
    put("/sys/devices/system/node/node1/cpulist", "\n"); /* memory only */
    put("/sys/devices/system/node/node8/cpulist", "4-7,12-15,128-191\n");
    assert_int_equal(hud_sys_numa_nodes(root), 3);
    assert_int_equal(home(0, 0), 0);
    assert_int_equal(home(0, 3), 0);
    assert_int_equal(home(130, 191), 8);
    assert_int_equal(home(3, 4), -1);
    assert_int_equal(home(1, 0), -1); /* no processor at all */
    assert_int_equal(home(16, 16), -1);
    assert_int_equal(home(0, TOPO_CPUS - 1), -1);
}

static void missing_nodes_count_as_one(void **state)
{
    (void)state;
    assert_int_equal(hud_sys_numa_nodes(root), 1); /* no /sys */
    assert_int_equal(home(0, 5), 0);
    put("/sys/devices/system/node/online", "0-1\n"); /* the nodes themselves are missing */
    assert_int_equal(hud_sys_numa_nodes(root), 2);
    assert_int_equal(home(0, 0), -1);
    put("/sys/devices/system/node/online", "4\n");
    assert_int_equal(hud_sys_numa_nodes(root), 1);
    assert_int_equal(home(0, 5), 4);
    put("/sys/devices/system/node/online", "gibberish\n");
    assert_int_equal(hud_sys_numa_nodes(root), 1);
    assert_int_equal(home(0, 5), 0);
    put("/sys/devices/system/node/online", "");
    assert_int_equal(hud_sys_numa_nodes(root), 1);
}

static void quota_of_cgroup_version_2_is_read(void **state)
{
    (void)state;
    assert_int_equal(hud_sys_cpu_quota(root), INT_MAX);
    put("/proc/self/mounts", "proc /proc proc rw 0 0\ncgroup2 /cg cgroup2 rw,nosuid 0 0\n");
    put("/proc/self/cgroup", "0::/slurm/job 7/step\n");
    assert_int_equal(hud_sys_cpu_quota(root), INT_MAX);
    put("/cg/slurm/job 7/step/cpu.max", "max 100000\n");
    assert_int_equal(hud_sys_cpu_quota(root), INT_MAX);
    put("/cg/slurm/cpu.max", "350000 100000\n"); /* an ancestor's limit, rounded up */
    assert_int_equal(hud_sys_cpu_quota(root), 4);
    put("/cg/slurm/job 7/step/cpu.max", "200000 100000\n");
    assert_int_equal(hud_sys_cpu_quota(root), 2);
    put("/cg/cpu.max", "1000 100000\n"); /* the container's limit, visible at the mount */
    assert_int_equal(hud_sys_cpu_quota(root), 1);
}

static void quota_of_cgroup_version_1_is_read(void **state)
{
    (void)state;
    put("/proc/self/mounts", "tmpfs /cg tmpfs rw 0 0\ncgroup /cg/cpuset cgroup rw,cpuset 0 "
                             "0\ncgroup /cg/cpu,cpuacct cgroup rw,cpu,cpuacct 0 0\n"
                             "cgroup2 /cg/unified cgroup2 rw 0 0\n");
    put("/proc/self/cgroup",
        "5:cpuset:/set\n4:cpu,cpuacct:/docker/abc\n1:name=systemd:/\n0::/other\n");
    put("/cg/cpuset/docker/abc/cpu.cfs_quota_us", "1\n"); /* another controller's folder */
    put("/cg/cpuset/docker/abc/cpu.cfs_period_us", "1\n");
    put("/cg/cpu,cpuacct/docker/abc/cpu.cfs_quota_us", "-1\n");
    put("/cg/cpu,cpuacct/docker/abc/cpu.cfs_period_us", "100000\n");
    assert_int_equal(hud_sys_cpu_quota(root), INT_MAX);
    put("/cg/cpu,cpuacct/docker/cpu.cfs_quota_us", "600000\n");
    assert_int_equal(hud_sys_cpu_quota(root), INT_MAX); /* no period */
    put("/cg/cpu,cpuacct/docker/cpu.cfs_period_us", "100000\n");
    assert_int_equal(hud_sys_cpu_quota(root), 6);
    put("/cg/unified/other/cpu.max", "500000 100000\n"); /* both versions at once */
    assert_int_equal(hud_sys_cpu_quota(root), 5);
}

static void quota_outside_of_the_namespace_is_ignored(void **state)
{
    (void)state;
    put("/proc/self/mounts", "cgroup2 /cg/in cgroup2 rw 0 0\n");
    put("/proc/self/cgroup", "0::/../neighbour\n");
    put("/cg/neighbour/cpu.max", "100000 100000\n");
    put("/cg/in/cpu.max", "300000 100000\n");
    assert_int_equal(hud_sys_cpu_quota(root), 3);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(home_node_is_found, make_root, remove_root),
        cmocka_unit_test_setup_teardown(missing_nodes_count_as_one, make_root, remove_root),
        cmocka_unit_test_setup_teardown(quota_of_cgroup_version_2_is_read, make_root, remove_root),
        cmocka_unit_test_setup_teardown(quota_of_cgroup_version_1_is_read, make_root, remove_root),
        cmocka_unit_test_setup_teardown(quota_outside_of_the_namespace_is_ignored, make_root,
                                        remove_root),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
