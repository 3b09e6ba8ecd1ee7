/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * cgroup.c - finds the control groups of this process by /proc/self/mounts and /proc/self/cgroup.
 * The groups of the system are found only once, because a start asks for them four times and
 * reading the mounts takes most of the time.
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

static const char *const controllers[] = { "cpu", "memory" };

struct group {
    struct group *next;
    const char *controller; /* "" for version 2, which has all controllers */
    char folder[];
};

/* For each mount, the groups from the process's own up to the mount point.  The flag `complete` is
 * false if a group was left out because there was no memory or descriptor for it. */
struct groups {
    struct group *first, **end;
    bool complete;
};

/* Buffers for texts.  They are on the heap, because some threads have small stacks. */
struct texts {
    char path[PATH_BYTES], folder[2 * PATH_BYTES], line[PATH_BYTES], mount[PATH_BYTES],
        group[PATH_MAX];
};

/* Finds the cgroup of this process in the hierarchy that has a controller, or in version 2's if the
 * controller is "".  Stores the path in t->group.  Returns false if the process is in none. */
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
                             : end + 1); /* a group outside of this namespace is not visible */
    }
    if (f)
        fclose(f);
    return found;
}

static void add(struct groups *groups, const char *folder, const char *controller)
{
    size_t bytes = strlen(folder) + 1;
    struct group *g = malloc(sizeof *g + bytes);

    groups->complete = groups->complete && g;
    if (!g)
        return;
    g->next = NULL;
    g->controller = controller;
    memcpy(g->folder, folder, bytes);
    *groups->end = g;
    groups->end = &g->next;
}

/* Adds the group and all its ancestors up to the mount point t->path. */
static void climb(struct texts *t, const char *controller, struct groups *groups)
{
    for (;;) {
        char *slash = strrchr(t->group, '/');

        snprintf(t->folder, sizeof t->folder, "%s%s", t->path, t->group);
        add(groups, t->folder, controller);
        if (!slash)
            return;
        *slash = '\0';
    }
}

/* Adds the groups of a mount that limit this process. */
static void enter(const char *root, const struct mntent *mount, const char *controller,
                  struct texts *t, struct groups *groups)
{
    if (!find_group(root, controller, t, &groups->complete))
        return;
    snprintf(t->path, sizeof t->path, "%s%s", root, mount->mnt_dir);
    climb(t, controller, groups);
}

static void find(const char *root, struct groups *groups)
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
        bool version_1 = !strcmp(entry.mnt_type, "cgroup");

        if (!strcmp(entry.mnt_type, "cgroup2"))
            enter(root, &entry, "", t, groups);
        for (size_t i = 0; version_1 && i < sizeof controllers / sizeof *controllers; i++)
            if (hasmntopt(&entry, controllers[i]))
                enter(root, &entry, controllers[i], t, groups);
    }
    if (mounts)
        endmntent(mounts);
    free(t);
}

static void visit_all(const struct groups *groups, const char *controller,
                      void (*visit)(const char *folder, bool version_2, void *arg), void *arg)
{
    for (const struct group *g = groups->first; g; g = g->next)
        if (!*g->controller || !strcmp(g->controller, controller))
            visit(g->folder, !*g->controller, arg);
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
    static struct groups known; /* groups of the system */
    struct groups here = { .first = NULL };

    if (root[0] != '\0') {
        find(root, &here);
        visit_all(&here, controller, visit, arg);
        forget(&here);
        return;
    }
    pthread_mutex_lock(&lock);
    if (!known.complete) {
        forget(&known);
        find(root, &known);
    }
    visit_all(&known, controller, visit, arg);
    pthread_mutex_unlock(&lock);
}
