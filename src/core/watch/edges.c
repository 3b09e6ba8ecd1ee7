/* SPDX-License-Identifier: BSD-3-Clause */
/* edges.c - labels of the places where algorithms post and wait, from the table that cmake/edges.py
 * extracts from the source. */
#include "core/watch/longwait.h"

#include <string.h>

static const struct site {
    const char *file;
    int line;
    const char *label;
} sites[] = {
#include "edges.inc"
};

const char *hud_edge_label(const char *file, int line)
{
    for (size_t i = 0; i < sizeof sites / sizeof sites[0]; i++)
        if (sites[i].line == line && strcmp(sites[i].file, file) == 0)
            return sites[i].label;
    return "";
}
