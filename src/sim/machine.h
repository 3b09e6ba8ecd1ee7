/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * machine.h - a modelled machine: where its cores are, and all numbers of simulated time.  Plain
 * tables, filled once.
 *
 * It is read from the JSON object of machines/NAME.toml, which has a source for each number.  No
 * other file of the simulator reads descriptions, and none has numbers of its own.
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

/* What a cache line costs that somebody else has written or read. */
struct machine_lines {
    double size_bytes;
    double hit_ns;                        /* a load of a line that its own cache holds */
    double post_ns;                       /* until a core has handed a store to its store buffer */
    double store_entries;                 /* of that buffer; 0: as many as are needed */
    double add_ns;                        /* an atomic operation on a line that the core owns */
    double fetch_add_ns[MACHINE_CLASSES]; /* the same on a line that a core of this class owns; 0:
                                             transfer_ns and add_ns */
    double transfer_ns[MACHINE_CLASSES];  /* one way, of a line that a core of this class has
                                            written: a compare-and-swap round trip / 2 */
    double hop_ns[MACHINE_CLASSES];       /* one way, of a word that two cores poll and store to in
                                          turn; 0: not known.  No simulation uses it */
    double revoke_ns[MACHINE_CLASSES]; /* added until a store is visible, where a core of this class
                                          has a copy: two flags' round trip / 2 - transfer_ns */
    double gap_ns[MACHINE_CLASSES];    /* the next of several misses of one core that overlap */
    double scan_gap_ns[MACHINE_CLASSES];  /* the same where it comes from another core than the one
                                            before; 0: as gap_ns */
    double store_gap_ns[MACHINE_CLASSES]; /* the same of stores to lines that such a core has read;
                                             0: as gap_ns */
    double revoke_each_ns; /* added to a store for each core but one that has a copy of its line */
    double serve_ns[MACHINE_CLASSES]; /* between two readers of one line */
    double home_ns[MACHINE_CLASSES];  /* added where the line's home is so far away (machine_away),
                                          farther than its holder */
    int share; /* the level whose units fetch a line once for all of their cores, as shared_level;
                  or MACHINE_UNSHARED */
    double home_agents;  /* of each NUMA node, lines in turn; 0: one */
    double home_busy_ns; /* a request for a line occupies its agent so long; 0: no time */
};

/* What line transfers and bytes cross. */
struct machine_links {
    double mesh_gbps[MACHINE_CLASSES]; /* within a unit of the level of this class, of what begins
                                          or ends there; 0: no limit of its own */
    double port_gbps[MACHINE_CLASSES]; /* into such a unit; 0: no limit of its own */
    double port_out_gbps[MACHINE_CLASSES]; /* out of it; 0: as much */
    double socket_gbps; /* from one socket to another, per direction and pair; 0: there is one
                           socket */
};

/* What one core copies, by where the source lies.  The destination lies in its own private
 * cache. */
struct machine_copy {
    double cached_gbps[MACHINE_CLASSES]; /* in a private cache of a core of this class; MACHINE_OWN:
                                            its own */
    double
        nearest_gbps[MACHINE_CLASSES]; /* the same of nearest ones, both ends; 0: as private ones */
    double memory_gbps[MACHINE_CLASSES]; /* in memory so far away (machine_away) */
    double shared_gbps;                  /* in the shared cache of its unit */
    double past_gbps; /* non-temporal stores from its own cache to its node's memory; 0: it does no
                         such thing */
    double kernel_gbps,
        kernel_call_ns;     /* from another process by the kernel: at most so fast, and each call */
    double kernel_other_ns; /* added to such a call by each other one that is under way and uses one
                               of the same two processes */
    double kernel_process_gbps; /* what two and more get together that copy from or to one process
                                   at once; 0: no limit of its own */
};

struct machine_memory {
    double latency_ns[MACHINE_CLASSES]; /* of a line that lies in no cache, but in memory so far
                                           away (machine_away) */
    double node_gbps; /* of one NUMA node, read and written, lines that are read only to be written
                         included */
    double streams_gbps[MACHINE_STREAMS + 1]; /* what so many cores get of it at once; 0: unknown */
};

/* What a unit's shared cache has of what its cores read. */
enum machine_fill {
    MACHINE_FILL_READ,  /* all of it */
    MACHINE_FILL_VICTIM /* what private caches have evicted */
};

/* Where bytes newer than memory go that another core reads. */
enum machine_share {
    MACHINE_SHARE_CACHE, /* to the shared cache of the unit of the core that wrote them */
    MACHINE_SHARE_OWNER, /* nowhere: they stay in that core's own cache */
    MACHINE_SHARE_MEMORY /* to memory, if the reader is of another unit; else as the first */
};

struct machine_caches {
    double nearest_bytes, private_bytes; /* of a core; what the nearest one has the private one has,
                                            too; 0: there is none that matters */
    int shared_level; /* whose units share the last cache, -1: the whole machine does */
    double shared_bytes, shared_gbps; /* of one; what it gives to its cores together */
    int shared_fill, dirty_share;     /* enum machine_fill, machine_share */
};

struct machine_reduce {
    double core_gbps; /* bytes read by a sum of two vectors that are in its own cache */
};

/* Between nodes that are each such a machine; ports.h says what that means. */
struct machine_network {
    double latency_ns; /* of a message without bytes; 0: nothing is known */
    double message_ns; /* of such a message, a port is busy so long */
    double gbps;       /* each way; 0: no limit */
};

/* What a call takes besides its memory accesses, all of it before they begin. */
struct machine_call {
    double enter_ns;   /* the front end, from the call to the algorithm, and the way back */
    double data_ns;    /* added where the collective moves data */
    double reduce_ns;  /* added where it reduces */
    double host_ns;    /* added by the MPI in front of huddle, if there is one */
    double clock_ns;   /* one reading of the clock, by which measured ranks start together */
    double message_ns; /* an MPI's own work for a message: half where it is sent, half where it is
                          received; of algorithms that have `sends` (alg.h) */
};

struct sim_machine {
    char name[MACHINE_NAME];
    int vendor; /* of its processors, enum topo_vendor */
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

/* NULL: *error is one line, "what: the value (accepted: ...)".  A path of an XML topology is used
 * as it stands. */
struct sim_machine *hud_machine_read(const json_t *description, char *error, size_t error_bytes);
/* The same of its topology alone: all numbers are 0. */
struct sim_machine *hud_machine_place(const char *topology, char *error, size_t error_bytes);
void hud_machine_free(struct sim_machine *m); /* NULL is allowed */

/* "own", "l2", ..., "machine" */
const char *hud_machine_class_name(const struct sim_machine *m, int class);

static inline int machine_unit(const struct sim_machine *m, int level, int core)
{
    return m->unit[level * m->cores + core];
}

/* Which of the units that fetch a line once for all of their cores has the core. */
static inline int machine_share(const struct sim_machine *m, int core)
{
    return m->lines.share == MACHINE_UNSHARED ? core
           : m->lines.share < 0               ? 0
                                              : machine_unit(m, m->lines.share, core);
}

/* The class of cores of such a unit, within which a line's home is not asked. */
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

/* How far a node's memory is from a core: MACHINE_OWN: it is the core's own node, else the class of
 * the core and any of the node's. */
static inline int machine_away(const struct sim_machine *m, int core, int node)
{
    return m->node[core] == node ? MACHINE_OWN : machine_class(m, core, m->first[node]);
}

#endif
