/* SPDX-License-Identifier: BSD-3-Clause */
/* measured.c - the places, sizes and chains that several measurements of a machine share. */
#include "machine.h"
#include "pinned.h"

#include <stdlib.h>

int measured_pairs(const struct measured *on, int class, int pair[MACHINE_PAIRS][2])
{
    int all = 0, count = 0;

    for (int pass = 0, seen = 0; pass < 2; pass++)
        for (int a = 0; a < on->m->cores; a++)
            for (int b = a + 1; b < on->m->cores; b++) {
                if (machine_class(on->m, a, b) != class)
                    continue;
                if (pass == 0) {
                    all++;
                } else if (seen++ == count * all / MACHINE_PAIRS && count < MACHINE_PAIRS) {
                    pair[count][0] = a;
                    pair[count++][1] = b;
                }
            }
    return count;
}

unsigned char *measured_buffer(size_t bytes)
{
    return aligned_alloc(MACHINE_PAGE, (bytes + MACHINE_PAGE - 1) / MACHINE_PAGE * MACHINE_PAGE);
}

size_t measured_share(const struct measured *on)
{
    return (on->private_bytes ? on->private_bytes : MACHINE_PRIVATE) / 4 / MACHINE_PAGE *
           MACHINE_PAGE;
}

/* Returns a size larger than a core's own caches and smaller than the shared cache, or 0 if there
 * is none. */
size_t measured_beyond(const struct measured *on, int threads)
{
    size_t max = on->shared_bytes / (size_t)(2 * threads),
           bytes = 4 * (on->private_bytes ? on->private_bytes : MACHINE_PRIVATE);

    return (bytes < max ? bytes : max) / MACHINE_PAGE * MACHINE_PAGE;
}

struct node {
    struct node *next;
    char unused[MEASURED_APART - sizeof(struct node *)];
};

/* Links the nodes in an order that no prefetcher predicts (Sattolo's algorithm). */
void measured_link(void *chain, size_t count)
{
    struct node *nodes = chain;
    uint64_t drawn = 1;
    size_t *order = calloc(count, sizeof *order);

    for (size_t i = 0; order && i < count; i++)
        order[i] = i;
    for (size_t i = count - 1; order && i > 0; i--) {
        drawn = drawn * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
        size_t j = (size_t)(drawn >> 33) % i, aside = order[i];
        order[i] = order[j];
        order[j] = aside;
    }
    for (size_t i = 0; i < count; i++)
        nodes[order ? order[i] : i].next = &nodes[order ? order[(i + 1) % count] : (i + 1) % count];
    free(order);
}

void measured_follow(const void *chain, size_t count)
{
    const struct node *at = chain;

    for (size_t i = 0; i < count; i++)
        at = at->next; /* each load depends on the previous one */
    pinned_keep(at);
}

int measured_toucher(const struct measured *on, int class)
{
    const struct sim_machine *m = on->m;
    int toucher = class == MACHINE_OWN ? 0 : -1;

    for (int node = m->nodes - 1; node >= 0 && class != MACHINE_OWN; node--)
        toucher = machine_away(m, 0, node) == class ? m->first[node] : toucher;
    return toucher;
}
