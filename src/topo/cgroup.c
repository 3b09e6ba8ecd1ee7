/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * cgroup.c - finds the control groups of this process by /proc/self/mounts and /proc/self/cgroup.
 */
#define _GNU_SOURCE
#include "topo/cgroup.h"

#include <limits.h>
#include <mntent.h>
#include <stdio.h>
#include <string.h>

enum { PATH_BYTES = 2 * PATH_MAX };

/* The cgroup of this process in the hierarchy that has a controller; "": version 2's.  False: in
 * none. */
static bool find_group(const char *root, const char *controller, char group[PATH_MAX])
{
    char path[PATH_BYTES], line[PATH_BYTES];
    bool found = false;
    FILE *f;

    snprintf(path, sizeof path, "%s/proc/self/cgroup", root);
    f = fopen(path, "re");
    while (f && !found && fgets(line, sizeof line, f)) { /* 4:cpu,cpuacct:/user.slice */
        char *names = strchr(line, ':'), *end = names ? strchr(names + 1, ':') : NULL;

        line[strcspn(line, "\n")] = '\0';
        if (!end || strlen(end + 1) >= PATH_MAX)
            continue;
        *end = '\0';
        found = names[1] == '\0' && !*controller;
        for (char *rest, *name = strtok_r(names + 1, ",", &rest); name && *controller;
             name = strtok_r(NULL, ",", &rest))
            found = found || !strcmp(name, controller);
        strcpy(group, strstr(end + 1, "/..")
                          ? "/"
                          : end + 1); /* a group outside of our namespace cannot be seen */
    }
    if (f)
        fclose(f);
    return found;
}

/* A group and all above it, up to where they are mounted. */
static void climb(const char *top, char *group, bool version_2,
                  void (*visit)(const char *folder, bool version_2, void *arg), void *arg)
{
    for (;;) {
        char folder[2 * PATH_BYTES], *slash = strrchr(group, '/');

        snprintf(folder, sizeof folder, "%s%s", top, group);
        visit(folder, version_2, arg);
        if (!slash)
            return;
        *slash = '\0';
    }
}

void hud_cgroup_visit(const char *root, const char *controller,
                      void (*visit)(const char *folder, bool version_2, void *arg), void *arg)
{
    char path[PATH_BYTES], text[PATH_BYTES], group[PATH_MAX];
    struct mntent entry;
    FILE *mounts;

    snprintf(path, sizeof path, "%s/proc/self/mounts", root);
    mounts = setmntent(path, "re");
    while (mounts && getmntent_r(mounts, &entry, text, sizeof text)) {
        bool version_2 = !strcmp(entry.mnt_type, "cgroup2");
        bool version_1 = !strcmp(entry.mnt_type, "cgroup") && hasmntopt(&entry, controller);

        if ((version_1 || version_2) && find_group(root, version_2 ? "" : controller, group)) {
            snprintf(path, sizeof path, "%s%s", root, entry.mnt_dir);
            climb(path, group, version_2, visit, arg);
        }
    }
    if (mounts)
        endmntent(mounts);
}
