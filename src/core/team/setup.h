/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * setup.h - what ranks tell each other when a team is set up, and the verdict that all of them
 * reach alike.
 */
#ifndef HUD_SETUP_H
#define HUD_SETUP_H

#include "core/team/adapt.h"

enum { HELLO_BYTES = 1280, HELLO_VALUES = 512, SPARE_RANKS = 4096 };

/* Arenas are whole pages, of this size or a multiple of it, and fit into an address space. */
#define HELLO_PAGE ((uint64_t)4096)
#define HELLO_ARENA_MAX ((uint64_t)1 << 46)

/* First round: presence, arena, bytes on offer, affinity, settings.  From the first release on its
 * size never changes, so that different versions recognise each other. */
union hello {
    struct {
        uint64_t version;          /* of huddle and of the layout of a slice */
        uint64_t host_id, boot_id; /* boot_id 0: unknown */
        uint32_t reason;           /* why this rank cannot take part, or REASON_NONE */
        uint32_t complaint;        /* hash of the line about a bad setting, 0: none */
        uint64_t offer_bytes;
        uint64_t only_bytes; /* struct plan_only of the team */
        int32_t only_axis;   /* -1: it makes any calls */
        int32_t world_rank;
        int32_t quota;             /* processors the cgroup allows */
        int32_t node;              /* NUMA node of the arena, or where this rank runs now */
        uint32_t pages;            /* enum arena_pages of the arena */
        uint64_t settings;         /* digest of those that must agree */
        char values[HELLO_VALUES]; /* "NAME=VALUE" lines of settings that differ from the default,
                                      as many as fit, for messages */
        struct peer_card card;
        struct topo_cpus cpus;
    } is;
    unsigned char bytes[HELLO_BYTES];
};

/* Second round. */
struct reply {
    uint32_t reason;             /* REASON_NONE: the slice is there and all arenas are mapped */
    uint16_t direct;             /* enum direct_way, a set: of reaching the others' memory */
    uint16_t quick;              /* nonzero: the kernel copies quickly for this rank */
    uint64_t offset;             /* of the slice in the arena */
    struct cost_network network; /* as this rank knows it; of a span */
};

/* Of a hello. */
uint64_t hud_hello_version(void);

/* Where all of the job's ranks are on this node, an absent one is worth a line, by the first that
 * is there.  Elsewhere nobody asks for them all. (attendance.c) */
void hud_team_explain_absence(struct hud_team *team);

void hud_hello_make(struct hud_team *team, union hello *hello);

/* "NAME=VALUE" of a setting, from that rank's hello, else its default. */
void hud_hello_value(const union hello *hello, const struct setting *setting, char text[SET_TEXT]);

/* The first setting in which rank 0 and another one differ, as a line.  in_job: ranks have a number
 * in the job, which their user knows. */
void hud_hello_describe_difference(const union hello *all, int other, bool in_job, char *line,
                                   size_t bytes);

/* Where huge pages are asked for and some ranks have none, the job's rank 0 prints a line, once.
 * No choice depends on it. */
void hud_hello_explain_pages(struct hud_team *team, const union hello *all);

/*
 * Pure: every rank gets the same answer from the same hellos.  *bytes: of the slice; *who: the rank
 * that causes a refusal.  REASON_EXCHANGE: that rank's data is not valid.
 */
enum reason hud_hello_verdict(const union hello *all, int ranks, size_t *bytes, int *who);
/* The same of ranks that may be on several nodes. */
enum reason hud_hello_verdict_apart(const union hello *all, int ranks, size_t *bytes, int *who);
/* The same for replies: a slice of `bytes` must fit into each arena at its owner's offset. */
enum reason hud_reply_verdict(const struct reply *all, const union hello *hello, int ranks,
                              size_t bytes, int *who);

#endif
