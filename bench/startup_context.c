/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * startup_context.c - the work of huddle when a rank starts, without an MPI, for startup.py: loads
 * libhuddle and creates a context, with its arena, and rank 0's topology.
 *
 *   startup_context LIBHUDDLE RANK RANKS
 *
 * Prints processor time and elapsed time, in ms.
 */
#include "huddle/huddle.h"
#include "startup.h"

#include <dlfcn.h>
#include <stdlib.h>

int main(int argc, char **argv)
{
    struct hud_host host = { .name = "no MPI" };
    int (*create)(const struct hud_host *, hud_context **);
    hud_context *context = NULL;

    if (argc != 4)
        return 2;
    host.world_rank = atoi(argv[2]);
    host.world_size = host.local_ranks = atoi(argv[3]);
    double wall = ms(CLOCK_MONOTONIC), cpu = ms(CLOCK_PROCESS_CPUTIME_ID);
    void *library = dlopen(argv[1], RTLD_NOW);
    void *found = library ? dlsym(library, "hud_context_create") : NULL;
    if (!found) {
        fprintf(stderr, "%s\n", dlerror());
        return 1;
    }
    create = (int (*)(const struct hud_host *, hud_context **))found;
    if (create(&host, &context) != HUD_OK)
        return 1;
    cpu = ms(CLOCK_PROCESS_CPUTIME_ID) - cpu;
    wall = ms(CLOCK_MONOTONIC) - wall;
    printf("startup %s %.3f %.3f\n", argv[2], cpu, wall);
    return 0;
}
