/* SPDX-License-Identifier: BSD-3-Clause */
/* topo/list.c - sets of processors or NUMA nodes in the kernel's format: "0-3,8". */
#include "topo/machine.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Reads the number at *text and advances *text behind it.  Returns TOPO_CPUS if the number is too
 * large for a set, and -1 if none was found. */
static int next_number(const char **text)
{
    int number = -1;

    for (; **text >= '0' && **text <= '9'; ++*text) {
        number = 10 * (number < 0 ? 0 : number) + (**text - '0');
        number = number < TOPO_CPUS ? number : TOPO_CPUS;
    }
    return number;
}

bool hud_topo_list_read(const char *text, struct topo_cpus *set)
{
    memset(set, 0, sizeof *set);
    while (*text) {
        int first = next_number(&text), last = first;
        if (*text == '-') {
            text++;
            last = next_number(&text);
        }
        if (first < 0 || last < first || (*text != '\0' && (*text != ',' || text[1] == '\0')))
            return false;
        text += *text == ',';
        for (int c = first; c <= last && c < TOPO_CPUS; c++)
            topo_add(set, c);
    }
    return true;
}

char *hud_topo_list_write(const struct topo_cpus *set)
{
    char *text = NULL;
    size_t bytes;
    FILE *f = open_memstream(&text, &bytes);

    for (int c = 0, last; f && c < TOPO_CPUS; c = last + 1) {
        last = c;
        while (topo_has(set, c) && last + 1 < TOPO_CPUS && topo_has(set, last + 1))
            last++;
        if (topo_has(set, c))
            fprintf(f, last > c ? "%s%d-%d" : "%s%d", ftell(f) > 0 ? "," : "", c, last);
    }
    if (f && fclose(f) == 0)
        return text;
    free(text);
    return NULL;
}
