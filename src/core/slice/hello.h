/* SPDX-License-Identifier: BSD-3-Clause */
/* hello.h - what ranks exchange in the two rounds of a team's set-up. */
#ifndef HUD_SLICE_HELLO_H
#define HUD_SLICE_HELLO_H

#include "core/slice/peer_card.h"
#include "cost/network.h"
#include "topo/topo.h"

#include <stddef.h>

enum { HELLO_BYTES = 1280, HELLO_VALUES = 512 };

/* Arenas are whole pages, of this size or a multiple of it, and fit into an address space. */
#define HELLO_PAGE ((uint64_t)4096)
#define HELLO_ARENA_MAX ((uint64_t)1 << 46)

/* First round: presence, arena, bytes on offer, affinity, settings.  From the first release on its
 * size never changes, so that different versions recognise each other. */
union hello {
    struct {
        uint64_t version;          /* version of huddle and of the layout of a slice */
        uint64_t host_id, boot_id; /* boot_id 0: unknown */
        uint32_t reason;           /* why this rank cannot take part, or REASON_NONE */
        uint32_t complaint;        /* hash of the line about a bad setting, 0: none */
        uint64_t offer_bytes;
        uint64_t single_call_bytes; /* struct plan_single_call of the team */
        int32_t single_call_axis;   /* -1: it makes any calls */
        int32_t world_rank;
        int32_t quota;             /* processors the cgroup allows */
        int32_t node;              /* NUMA node of the arena, or where this rank runs now */
        uint32_t pages;            /* enum arena_pages of the arena */
        uint64_t settings;         /* digest of those that must agree */
        uint64_t known;            /* hud_wisdom_digest; 0: this rank cannot use its own lines */
        char values[HELLO_VALUES]; /* "NAME=VALUE" lines of settings that differ from the default,
                                      as many as fit, for messages */
        struct peer_card card;
        struct topo_cpus cpus;
    } fields;
    unsigned char bytes[HELLO_BYTES];
};

/* What rank 0 of a team knows of such teams (core/job/wisdom.h), in its arena. */
struct reply_known {
    uint64_t offset;
    uint32_t lines;  /* 0: nothing */
    uint16_t whole;  /* nonzero: all lines of the file */
    uint16_t alike;  /* nonzero: all ranks know the same, so each uses its own lines */
    uint64_t digest; /* hud_wisdom_digest of what rank 0 knows */
};

/* Second round. */
struct reply {
    uint32_t reason;             /* REASON_NONE: the slice is there and all arenas are mapped */
    uint16_t direct;             /* enum direct_way, a set: of reaching the others' memory */
    uint16_t quick;              /* nonzero: the kernel copies quickly for this rank */
    uint64_t offset;             /* offset of the slice in the arena */
    struct reply_known known;    /* what rank 0 knows */
    struct cost_network network; /* a span's network, as this rank knows it */
    uint32_t span_known;         /* hash of what this rank knows about such spans (span_learn.h) */
    uint32_t oversubscribed;     /* nonzero if the rank's node or kernel is, in a span */
};

#endif
