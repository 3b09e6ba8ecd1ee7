/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * caches.h - where bytes are: which caches have them, which copy is newer than memory, and on which
 * node their memory is.
 *
 * Each core has a private cache and, in front of it, a nearest one.  Each unit of some cores has a
 * shared one.  A cache keeps the bytes that were used last: when it is full it evicts those that
 * were used least recently.  Nothing here takes time: copies.h asks where bytes are before it moves
 * them.
 *
 * The private cache has all bytes of the nearest one.  A read brings bytes into both.  If the
 * private one did not have them, they pass through the unit's shared cache, and stay there too.  If
 * they came from another core's private cache that was newer than memory, that core's unit's shared
 * cache is then newer than memory.  A write leaves them only in the core's own two caches, newer
 * than memory.  A private cache evicts bytes that are newer than memory to its unit's shared cache,
 * and that one to memory.  Bytes that are in no cache are in memory.
 *
 * Machines differ in two respects (caches_shape).  A shared cache may take only what its private
 * caches evict, clean bytes too (victim).  Bytes that only another core's private cache has, and
 * that are not newer than memory, then come from memory.  And bytes that are newer than memory may
 * stay where they are when another core reads them (CACHES_KEEP), or be written to memory if that
 * core is of another unit (CACHES_WRITE_BACK).
 *
 * Bytes are identified by address and kept one by one.  So nothing depends on the alignment of
 * buffers to cache lines, or on their addresses.  Running out of memory ends the program.
 */
#ifndef HUD_CACHES_H
#define HUD_CACHES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

enum caches_dirty { CACHES_HAND_ON, CACHES_KEEP, CACHES_WRITE_BACK };

struct caches_shape {
    int cores, units;
    const int *unit;                                   /* [cores] whose shared cache is a core's */
    size_t nearest_bytes, private_bytes, shared_bytes; /* nearest: 0, there is none */
    bool victim;
    enum caches_dirty dirty;
    /* How far two cores are from each other, 0 for a core and itself; `where` is handed through. */
    int (*apart)(const void *where, int a, int b);
    const void *where;
};

enum caches_kind {
    CACHES_OWN,  /* the core's private cache */
    CACHES_CORE, /* another core's */
    CACHES_UNIT, /* the shared cache of the core's unit, or of another one */
    CACHES_NODE  /* memory */
};

struct caches_place {
    enum caches_kind kind;
    int of;    /* core, unit or NUMA node */
    bool near; /* in that core's nearest cache */
};

/* What a cache has given up, newer than memory, to make room or to others: added to what stands
 * here. */
struct caches_given_up {
    double shared_bytes; /* by private caches, to shared ones */
    double *node_bytes;  /* [nodes] by shared caches, to memory */
};

struct sim_caches;

/* Arrays and `where` must live as long. */
struct sim_caches *hud_caches_create(const struct caches_shape *shape);
void hud_caches_free(struct sim_caches *c);

/* These bytes are in this node's memory.  Said again of other bytes, that counts; never said: node
 * 0. */
void hud_caches_home(struct sim_caches *c, uintptr_t first, size_t bytes, int node);
/* Whose they are. */
int hud_caches_node(const struct sim_caches *c, uintptr_t at);

/*
 * Where a core finds the bytes at `first`; returns how many, from there on and at most `bytes`, it
 * finds there; they are of one home.  To read: its own private cache; its unit's shared one;
 * whatever is newer than memory; memory.  To write: its own private cache, if no other has them but
 * its unit's shared one; else the core that is farthest of those that have them, since it must give
 * them up; memory.
 */
size_t hud_caches_find(struct sim_caches *c, int core, uintptr_t first, size_t bytes, bool write,
                       struct caches_place *place);

void hud_caches_read(struct sim_caches *c, int core, uintptr_t first, size_t bytes,
                     struct caches_given_up *given_up);
void hud_caches_write(struct sim_caches *c, int core, uintptr_t first, size_t bytes,
                      struct caches_given_up *given_up);
/* They were written with non-temporal stores: memory alone has them. */
void hud_caches_write_past(struct sim_caches *c, uintptr_t first, size_t bytes);

/* Bytes in a core's nearest cache, in its private one, in a unit's shared one. */
size_t hud_caches_nearest_bytes(const struct sim_caches *c, int core);
size_t hud_caches_private_bytes(const struct sim_caches *c, int core);
size_t hud_caches_shared_bytes(const struct sim_caches *c, int unit);

#ifdef __cplusplus
}
#endif
#endif
