/* SPDX-License-Identifier: BSD-3-Clause */
/* ends.h - two members of a team that must send each other descriptors, in one process that
 * pretends to be two, and a socket of a stranger. */
#ifndef HUD_TESTS_ENDS_H
#define HUD_TESTS_ENDS_H

#include "../resources.h"
#include "core/arena/peers.h"

enum { BYTES = 1 << 20, MAX_PASSED = 253 }; /* the kernel's SCM_MAX_FD */

struct end {
    struct peers peers;
    struct arena arena;
};

extern struct end a, b;
extern struct peer_card cards[2];
extern int stranger; /* the stranger's socket */

/* Prepares and cleans up a test. */
int ends_start(void **state);
int ends_finish(void **state);

/* Sends a message to an end's socket, with `copies` copies of a descriptor. Returns 0 or errno. */
int ends_send(int from, const struct peer_card *to, const void *message, size_t bytes, int fd,
              int copies);
/* Returns the message that the owner of an arena would send. */
struct handover ends_says(const struct peer_card *card);

/* Sets up a team at both ends, and returns the result of each. */
void ends_set_up(int *rc_a, int *rc_b);
void ends_set_up_well(void);

#endif
