/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * caches.h - where bytes are: which caches have them, which copy is newer than memory, and on which
 * node their memory is.
 *
 * Each core has a private cache and, in front of it, a nearest cache.  Each unit of some cores has
 * a shared cache.  A cache keeps the bytes that were used last: when it is full it evicts the least
 * recently used bytes.  Nothing here takes time: copies.h asks where bytes are before it moves
 * them.
 *
 * The private cache has all bytes of the nearest cache.  A read brings bytes into both.  If the
 * private cache did not have them, they pass through the unit's shared cache, and stay there too.
 * If they came from another core's private cache that was newer than memory, that core's unit's
 * shared cache is then newer than memory.  A write leaves them only in the core's own two caches,
 * newer than memory.  A private cache evicts bytes that are newer than memory to its unit's shared
 * cache, and a shared cache evicts them to memory.  Bytes that are in no cache are in memory.
 *
 * Machines differ in two respects (caches_shape).  A shared cache may take only bytes that its
 * private caches evict, clean bytes too (victim).  Bytes that only another core's private cache
 * has, and that are not newer than memory, then come from memory.  And bytes that are newer than
 * memory may stay where they are when another core reads them (CACHES_KEEP), or be written to
 * memory if that core is of another unit (CACHES_WRITE_BACK).
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
    /* [cores] unit whose shared cache a core uses. */
    const int *unit;
    /* nearest_bytes is 0 without nearest caches. */
    size_t nearest_bytes, private_bytes, shared_bytes;
    bool victim;
    enum caches_dirty dirty;
    /* Returns the distance of two cores, 0 for a core and itself.  `where` is passed to each
     * call. */
    int (*distance)(const void *where, int a, int b);
    const void *where;
};

enum caches_kind {
    CACHES_OWN,  /* the core's private cache */
    CACHES_CORE, /* another core's private cache */
    CACHES_UNIT, /* the shared cache of the core's unit or of another unit */
    CACHES_NODE  /* memory */
};

struct caches_place {
    enum caches_kind kind;
    int of;    /* core, unit or NUMA node */
    bool near; /* whether it is the nearest cache of that core */
    /* A write: number of other cores with a copy in their own caches, which must be revoked.  0 if
     * the only such core has written the bytes, so that they are fetched like a read. */
    int readers;
};

/* Bytes newer than memory that caches have given up, to make room or to other caches.  Calls add to
 * these counts. */
struct caches_given_up {
    double shared_bytes; /* bytes from private caches to shared caches */
    double *node_bytes;  /* [nodes] bytes from shared caches to memory */
};

struct sim_caches;

/* Creates empty caches.  The arrays of `shape` and `where` must outlive the result. */
struct sim_caches *hud_caches_create(const struct caches_shape *shape);
void hud_caches_free(struct sim_caches *c);

/* Sets the node whose memory has these bytes.  A later call overrides an earlier call.  Without a
 * call the node is 0. */
void hud_caches_home(struct sim_caches *c, uintptr_t first, size_t bytes, int node);
/* Returns the node whose memory has this byte. */
int hud_caches_node(const struct sim_caches *c, uintptr_t at);

/*
 * Finds the bytes at `first` for a core, and sets `place`.  Returns the number of bytes from
 * `first` on, at most `bytes`, in this place and of the same home.  A read finds bytes in the first
 * of these: the core's own private cache, its unit's shared cache, a cache newer than memory,
 * memory.  A write finds bytes in the core's own private cache if no cache except its unit's shared
 * cache has them too.  Otherwise the place is the farthest core with a copy, since it must give the
 * copy up, or memory.
 */
size_t hud_caches_find(struct sim_caches *c, int core, uintptr_t first, size_t bytes, bool write,
                       struct caches_place *place);

void hud_caches_read(struct sim_caches *c, int core, uintptr_t first, size_t bytes,
                     struct caches_given_up *given_up);
void hud_caches_write(struct sim_caches *c, int core, uintptr_t first, size_t bytes,
                      struct caches_given_up *given_up);
/* Records a write with non-temporal stores, after which only memory has these bytes. */
void hud_caches_write_nontemporal(struct sim_caches *c, uintptr_t first, size_t bytes);

/* Returns the number of bytes in a core's nearest cache.  The others count the bytes in its private
 * cache and in a unit's shared cache. */
size_t hud_caches_nearest_bytes(const struct sim_caches *c, int core);
size_t hud_caches_private_bytes(const struct sim_caches *c, int core);
size_t hud_caches_shared_bytes(const struct sim_caches *c, int unit);

#ifdef __cplusplus
}
#endif
#endif
