/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * cgroup.c - finds the control groups of this process by /proc/self/mounts and /proc/self/cgroup.
 * Those of the system are found once for each controller, since a start asks for them four times
 * and reading the mounts takes longest.
 */
#define _GNU_SOURCE
#include "topo/cgroup.h"

#include <limits.h>
#include <mntent.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { PATH_BYTES = 2 * PATH_MAX };

struct group {
    struct group *next;
    bool version_2;
    char folder[];
};

/* From a group up to where groups are mounted, of each mount.  complete: none was left out because
 * there was no memory or descriptor for it. */
struct groups {
    struct group *first, **end;
    bool complete;
};

/* Too much for the stack of some threads. */
struct texts {
    char path[PATH_BYTES], folder[2 * PATH_BYTES], line[PATH_BYTES], mount[PATH_BYTES],
        group[PATH_MAX];
};

/* The cgroup of this process in the hierarchy that has a controller; "": version 2's.  False: in
 * none. */
static bool find_group(const char *root, const char *controller, struct texts *t, bool *complete)
{
    bool found = false;
    FILE *f;

    snprintf(t->path, sizeof t->path, "%s/proc/self/cgroup", root);
    f = fopen(t->path, "re");
    *complete = *complete && f;
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

static void add(struct groups *groups, const char *folder, bool version_2)
{
    size_t bytes = strlen(folder) + 1;
    struct group *g = malloc(sizeof *g + bytes);

    groups->complete = groups->complete && g;
    if (!g)
        return;
    g->next = NULL;
    g->version_2 = version_2;
    memcpy(g->folder, folder, bytes);
    *groups->end = g;
    groups->end = &g->next;
}

/* The group and all above it, up to where they are mounted, which is t->path. */
static void climb(struct texts *t, bool version_2, struct groups *groups)
{
    for (;;) {
        char *slash = strrchr(t->group, '/');

        snprintf(t->folder, sizeof t->folder, "%s%s", t->path, t->group);
        add(groups, t->folder, version_2);
        if (!slash)
            return;
        *slash = '\0';
    }
}

static void find(const char *root, const char *controller, struct groups *groups)
{
    struct texts *t = malloc(sizeof *t);
    struct mntent entry;
    FILE *mounts = NULL;

    groups->end = &groups->first;
    if (t) {
        snprintf(t->path, sizeof t->path, "%s/proc/self/mounts", root);
        mounts = setmntent(t->path, "re");
    }
    groups->complete = mounts;
    while (mounts && getmntent_r(mounts, &entry, t->mount, sizeof t->mount)) {
        bool version_2 = !strcmp(entry.mnt_type, "cgroup2");
        bool version_1 = !strcmp(entry.mnt_type, "cgroup") && hasmntopt(&entry, controller);

        if ((version_1 || version_2) &&
            find_group(root, version_2 ? "" : controller, t, &groups->complete)) {
            snprintf(t->path, sizeof t->path, "%s%s", root, entry.mnt_dir);
            climb(t, version_2, groups);
        }
    }
    if (mounts)
        endmntent(mounts);
    free(t);
}

static void visit_all(const struct groups *groups,
                      void (*visit)(const char *folder, bool version_2, void *arg), void *arg)
{
    for (const struct group *g = groups->first; g; g = g->next)
        visit(g->folder, g->version_2, arg);
}

static void forget(struct groups *groups)
{
    for (struct group *next, *g = groups->first; g; g = next) {
        next = g->next;
        free(g);
    }
    *groups = (struct groups){ .first = NULL };
}

void hud_cgroup_visit(const char *root, const char *controller,
                      void (*visit)(const char *folder, bool version_2, void *arg), void *arg)
{
    static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
    static struct groups known[2]; /* of the system: cpu, memory */
    struct groups here = { .first = NULL };

    if (root[0] != '\0') {
        find(root, controller, &here);
        visit_all(&here, visit, arg);
        forget(&here);
        return;
    }
    pthread_mutex_lock(&lock);
    struct groups *groups = &known[strcmp(controller, "memory") == 0];
    if (!groups->complete) {
        forget(groups);
        find(root, controller, groups);
    }
    visit_all(groups, visit, arg);
    pthread_mutex_unlock(&lock);
}
