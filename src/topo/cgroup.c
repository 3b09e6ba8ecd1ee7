/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * cgroup.c - finds the control groups of this process by /proc/self/mounts and /proc/self/cgroup.
 */
#define _GNU_SOURCE
#include "topo/cgroup.h"

#include <limits.h>
#include <mntent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { PATH_BYTES = 2 * PATH_MAX };

/* Too much for the stack of some threads. */
struct texts {
    char path[PATH_BYTES], folder[2 * PATH_BYTES], line[PATH_BYTES], mount[PATH_BYTES],
        group[PATH_MAX];
};

/* The cgroup of this process in the hierarchy that has a controller; "": version 2's.  False: in
 * none. */
static bool find_group(const char *root, const char *controller, struct texts *t)
{
    bool found = false;
    FILE *f;

    snprintf(t->path, sizeof t->path, "%s/proc/self/cgroup", root);
    f = fopen(t->path, "re");
    while (f && !found && fgets(t->line, sizeof t->line, f)) { /* 4:cpu,cpuacct:/user.slice */
        char *names = strchr(t->line, ':'), *end = names ? strchr(names + 1, ':') : NULL;

        t->line[strcspn(t->line, "\n")] = '\0';
        if (!end || strlen(end + 1) >= PATH_MAX)
            continue;
        *end = '\0';
        found = names[1] == '\0' && !*controller;
        for (char *rest, *name = strtok_r(names + 1, ",", &rest); name && *controller;
             name = strtok_r(NULL, ",", &rest))
            found = found || !strcmp(name, controller);
        strcpy(t->group, strstr(end + 1, "/..")
                             ? "/"
                             : end + 1); /* a group outside of our namespace cannot be seen */
    }
    if (f)
        fclose(f);
    return found;
}

/* The group and all above it, up to where they are mounted, which is t->path. */
static void climb(struct texts *t, bool version_2,
                  void (*visit)(const char *folder, bool version_2, void *arg), void *arg)
{
    for (;;) {
        char *slash = strrchr(t->group, '/');

        snprintf(t->folder, sizeof t->folder, "%s%s", t->path, t->group);
        visit(t->folder, version_2, arg);
        if (!slash)
            return;
        *slash = '\0';
    }
}

/* Without memory no file could be opened, either. */
void hud_cgroup_visit(const char *root, const char *controller,
                      void (*visit)(const char *folder, bool version_2, void *arg), void *arg)
{
    struct texts *t = malloc(sizeof *t);
    struct mntent entry;
    FILE *mounts = NULL;

    if (t) {
        snprintf(t->path, sizeof t->path, "%s/proc/self/mounts", root);
        mounts = setmntent(t->path, "re");
    }
    while (mounts && getmntent_r(mounts, &entry, t->mount, sizeof t->mount)) {
        bool version_2 = !strcmp(entry.mnt_type, "cgroup2");
        bool version_1 = !strcmp(entry.mnt_type, "cgroup") && hasmntopt(&entry, controller);

        if ((version_1 || version_2) && find_group(root, version_2 ? "" : controller, t)) {
            snprintf(t->path, sizeof t->path, "%s%s", root, entry.mnt_dir);
            climb(t, version_2, visit, arg);
        }
    }
    if (mounts)
        endmntent(mounts);
    free(t);
}
