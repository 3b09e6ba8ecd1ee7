/* SPDX-License-Identifier: BSD-3-Clause */
/* ends.h - two members of a team that must send each other descriptors: of one process, made to
 * look like two; and a socket that anybody may have. */
#ifndef HUD_TESTS_ENDS_H
#define HUD_TESTS_ENDS_H

#include "core/arena/peers.h"

enum { BYTES = 1 << 20, MAX_PASSED = 253 }; /* the kernel's SCM_MAX_FD */

struct end {
    struct peers peers;
    struct arena arena;
};

extern struct end a, b;
extern struct peer_card cards[2];
extern int stranger; /* the socket */

/* Before and after a test. */
int ends_start(void **state);
int ends_finish(void **state);

int ends_descriptors(void); /* open in this process */

/* A message to an end's socket, with so many copies of a descriptor; 0, or errno. */
int ends_send(int from, const struct peer_card *to, const void *message, size_t bytes, int fd,
              int copies);
/* What its owner's message would say. */
struct handover ends_says(const struct peer_card *card);

/* Both ends set a team up; what it came to at each. */
void ends_set_up(int *rc_a, int *rc_b);
void ends_set_up_well(void);

#endif
