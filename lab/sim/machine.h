/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * machine.h - a modelled machine: its cores, and all numbers of simulated time.  Plain tables,
 * filled once.
 *
 * It is read from the JSON object of lab/machines/NAME.toml, which has a source for each number.
 * No other file of the simulator reads descriptions or has numbers of its own.
 *
 * The class of two cores is the smallest unit that contains both: the core itself (0), a unit of
 * the topology's active level 0, 1, ... (1, 2, ...), or only the machine (the last).  Tables "by
 * class" are indexed by it.
 *
 * Units: _ns; _gbps, 1e9 bytes/s; _bytes.  For a copy each byte counts once; for memory and links
 * each byte that crosses counts.
 */
#ifndef HUD_SIM_MACHINE_H
#define HUD_SIM_MACHINE_H

#include "topo/topo.h"

#include <jansson.h>

enum {
    MACHINE_OWN = 0,
    MACHINE_CLASSES = SHAPE_LEVELS + 1,
    MACHINE_NAME = 64,
    MACHINE_STREAMS = 64,
    MACHINE_UNSHARED = -2 /* no level: each core fetches a line itself */
};

/* Costs of a cache line that another core has written or read. */
struct machine_lines {
    double size_bytes;
    double hit_ns;        /* a load of a line in the core's own cache */
    double post_ns;       /* time for a core to pass a store to its store buffer */
    double store_entries; /* length of that buffer; 0 if it is unlimited */
    double add_ns;        /* an atomic operation on a line that the core owns */
    /* An atomic operation on a line that a core of this class owns.  0 means transfer_ns +
     * add_ns. */
    double fetch_add_ns[MACHINE_CLASSES];
    /* One way, of a line that a core of this class has written: half a compare-and-swap round
     * trip. */
    double transfer_ns[MACHINE_CLASSES];
    /* Time of one way of a word that two cores poll and store to in turn.  0 if unknown.  Not used
     * by any simulation. */
    double hop_ns[MACHINE_CLASSES];
    /* Added until a store is visible, if a core of this class has a copy: half the round trip of
     * two flags, less transfer_ns. */
    double revoke_ns[MACHINE_CLASSES];
    /* Time between overlapping misses of one core. */
    double gap_ns[MACHINE_CLASSES];
    /* Like gap_ns, for a line from another core than the previous line.  0 means gap_ns. */
    double scan_gap_ns[MACHINE_CLASSES];
    /* Like gap_ns, for stores to lines that a core of this class has read.  0 means gap_ns. */
    double store_gap_ns[MACHINE_CLASSES];
    /* Added to a store for each core after the first that has a copy of its line. */
    double revoke_each_ns;
    double serve_ns[MACHINE_CLASSES]; /* time between two readers of a line */
    /* Added if the line's home is at this distance (machine_away), and farther than its holder. */
    double home_ns[MACHINE_CLASSES];
    /* The level whose units fetch a line once for all of their cores, as in shared_level, or
     * MACHINE_UNSHARED. */
    int share;
    double home_agents;  /* agents of each NUMA node, assigned to lines in turn; 0 means 1 */
    double home_busy_ns; /* time for which a request for a line occupies its agent */
};

/* The links that line transfers and bytes cross. */
struct machine_links {
    /* Limit within a unit of this class's level, for transfers that begin or end there.  0 means no
     * limit. */
    double mesh_gbps[MACHINE_CLASSES];
    /* Limit of transfers into such a unit.  0 means no limit. */
    double port_gbps[MACHINE_CLASSES];
    /* Limit of transfers out of such a unit.  0 means port_gbps. */
    double port_out_gbps[MACHINE_CLASSES];
    /* Limit of transfers from one socket to another, per direction and pair.  0 with one socket. */
    double socket_gbps;
};

/* Speeds of copies by one core, by the place of the source.  The destination is in the core's own
 * private cache. */
struct machine_copy {
    /* Copies from a private cache of a core of this class.  MACHINE_OWN is the core's own cache. */
    double cached_gbps[MACHINE_CLASSES];
    /* Like cached_gbps, for nearest caches at both ends.  0 means cached_gbps. */
    double nearest_gbps[MACHINE_CLASSES];
    /* Copies from its own cache into lines that it has written and a core of this class has read
     * since.  0 means by store_gap_ns (writes.h). */
    double retake_gbps[MACHINE_CLASSES];
    /* Like cached_gbps, if the core also returns the lines.  0 means that no rank returns lines. */
    double return_gbps[MACHINE_CLASSES];
    double memory_gbps[MACHINE_CLASSES]; /* speed from memory at this distance (machine_away) */
    double shared_gbps;                  /* speed from the shared cache of its unit */
    /* Non-temporal stores from its own cache to its node's memory.  0 if the machine has none. */
    double nontemporal_gbps;
    /* Copies between processes by the kernel: the maximum speed, and the time of a call. */
    double kernel_gbps, kernel_call_ns;
    /* Added to such a call by each other such call in progress that uses one of the same two
     * processes. */
    double kernel_other_ns;
    /* Total of two or more copies by the kernel from or to one process.  0 means no limit. */
    double kernel_process_gbps;
};

struct machine_memory {
    /* Latency of a line that is in no cache, in memory at this distance (machine_away). */
    double latency_ns[MACHINE_CLASSES];
    /* Bandwidth of a NUMA node: reads and writes, including lines read only to be written. */
    double node_gbps;
    /* Total of this many cores on a node's memory.  0 if unknown. */
    double streams_gbps[MACHINE_STREAMS + 1];
};

/* The bytes that a unit's shared cache has, of those that its cores read. */
enum machine_fill {
    MACHINE_FILL_READ,  /* all of them */
    MACHINE_FILL_VICTIM /* only those that private caches have evicted */
};

/* The destination of bytes newer than memory that another core reads. */
enum machine_share {
    MACHINE_SHARE_CACHE, /* the shared cache of the unit of the core that wrote them */
    MACHINE_SHARE_OWNER, /* none: they stay in that core's own cache */
    MACHINE_SHARE_MEMORY /* memory, if the reader is of another unit; else as MACHINE_SHARE_CACHE */
};

struct machine_caches {
    /* Sizes of a core's caches.  The private cache has all bytes of the nearest cache.
     * nearest_bytes is 0 if there is no nearest cache, or if its size does not matter. */
    double nearest_bytes, private_bytes;
    int shared_level; /* level whose units share the last cache; -1 for the whole machine */
    double shared_bytes, shared_gbps; /* size and speed of one shared cache; total for its cores */
    int shared_fill, dirty_share;     /* enum machine_fill, enum machine_share */
};

struct machine_reduce {
    double core_gbps; /* bytes read by a sum of two vectors in its own cache */
};

/* The network between nodes that are each such a machine; see ports.h. */
struct machine_network {
    double latency_ns; /* time of a message without bytes; 0 if unknown */
    double message_ns; /* time for which such a message occupies a port */
    double gbps;       /* each way; 0 means no limit */
};

/* The time of a call besides its memory accesses, all of it before they begin. */
struct machine_call {
    double enter_ns;  /* the front end, from the call to the algorithm, and back */
    double data_ns;   /* added if the collective moves data */
    double reduce_ns; /* added if it reduces */
    double host_ns;   /* added by the MPI in front of huddle, if there is one */
    double clock_ns;  /* a reading of the clock, by which measured ranks start together */
    /* An MPI's own work for a message, half at the sender and half at the receiver, in algorithms
     * that have `sends` (alg.h). */
    double message_ns;
};

struct sim_machine {
    char name[MACHINE_NAME];
    struct topo *topo;
    int cores, levels, classes; /* classes = levels + 2, counting the core itself */
    int nodes, sockets;
    int *cpu;           /* [cores] OS number, ascending */
    int *unit;          /* [level * cores + core] */
    int *node, *socket; /* [cores] */
    int *first;         /* [nodes] a core of each node */
    struct machine_lines lines;
    struct machine_links links;
    struct machine_copy copy;
    struct machine_memory memory;
    struct machine_caches caches;
    struct machine_reduce reduce;
    struct machine_call call;
    struct machine_network network;
};

/* Reads a machine.  Returns NULL on an error, with a line in *error: "what: the value (accepted:
 * ...)".  The path of an XML topology is used unchanged. */
struct sim_machine *hud_machine_read(const json_t *description, char *error, size_t error_bytes);
/* Reads a machine from its topology alone; all its numbers are 0. */
struct sim_machine *hud_machine_place(const char *topology, char *error, size_t error_bytes);
/* Frees a machine, which may be NULL. */
void hud_machine_free(struct sim_machine *m);

/* Returns the name of a class: "own", "l2", ..., "machine". */
const char *hud_machine_class_name(const struct sim_machine *m, int class);

static inline int machine_unit(const struct sim_machine *m, int level, int core)
{
    return m->unit[level * m->cores + core];
}

/* Returns the number of the core's unit that fetches a line once for all of its cores. */
static inline int machine_share(const struct sim_machine *m, int core)
{
    return m->lines.share == MACHINE_UNSHARED ? core
           : m->lines.share < 0               ? 0
                                              : machine_unit(m, m->lines.share, core);
}

/* Returns the class of cores within such a unit, in which a line's home is not asked. */
static inline int machine_share_class(const struct sim_machine *m)
{
    return m->lines.share == MACHINE_UNSHARED ? MACHINE_OWN
           : m->lines.share < 0               ? m->classes - 1
                                              : m->lines.share + 1;
}

static inline int machine_class(const struct sim_machine *m, int a, int b)
{
    int level = 0;

    if (a == b)
        return MACHINE_OWN;
    while (level < m->levels && machine_unit(m, level, a) != machine_unit(m, level, b))
        level++;
    return level + 1;
}

/* Returns the distance of a node's memory from a core: MACHINE_OWN for the core's own node, else
 * the class of the core and the cores of the node. */
static inline int machine_away(const struct sim_machine *m, int core, int node)
{
    return m->node[core] == node ? MACHINE_OWN : machine_class(m, core, m->first[node]);
}

#endif
