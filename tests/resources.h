/* SPDX-License-Identifier: BSD-3-Clause */
/* resources.h - the descriptors and mappings of this process. */
#ifndef HUD_TESTS_RESOURCES_H
#define HUD_TESTS_RESOURCES_H

#include <dirent.h>
#include <stdio.h>
#include <string.h>

/* Returns the number of open descriptors. */
static inline int open_descriptors(void)
{
    DIR *folder = opendir("/proc/self/fd");
    int count = -3; /* ".", ".." and the folder */

    while (folder && readdir(folder))
        count++;
    if (folder)
        closedir(folder);
    return count;
}

struct mappings {
    long all, named; /* numbers of all mappings, and of those whose file has the name */
    long named_bytes;
};

static inline struct mappings count_mappings(const char *name)
{
    struct mappings m = { 0 };
    FILE *maps = fopen("/proc/self/maps", "re");
    unsigned long from, to;
    char line[512];

    for (; maps && fgets(line, sizeof line, maps); m.all++)
        if (strstr(line, name) && sscanf(line, "%lx-%lx", &from, &to) == 2) {
            m.named++;
            m.named_bytes += (long)(to - from);
        }
    if (maps)
        fclose(maps);
    return m;
}

#endif
