/* SPDX-License-Identifier: BSD-3-Clause */
/* messages.h - messages between the nodes of a span, for the files of src/check. */
#ifndef HUD_SIM_MESSAGES_H
#define HUD_SIM_MESSAGES_H

#include "check/time.h"

/* An end of a message. */
struct sim_end {
    struct sim_end *next; /* list of all active ends, in the order in which they were started */
    struct sim_end *met;  /* the other end */
    struct sim_rank *owner;
    int from, to; /* ranks of the job */
    unsigned tag;
    bool sends, eager;
    struct sim_spot spot;
    size_t bytes;
    struct sim_order *released; /* clock of the sender; NULL if a mutation has dropped it */
    unsigned char *carried;     /* copy of the sent bytes, once the sender is complete */
    bool received;              /* the other end has the bytes */
    uint64_t delay;
    struct sim_passage passage; /* state of the model of time */
    struct sim_event by;
    bool waited; /* its owner is blocked until it changes */
};

/* Reports an error if a message owns these bytes, which the current rank uses and which belong to
 * no flag. */
void hud_messages_touch(struct mem *m, const struct sim_spot *spot, size_t bytes,
                        sim_access *access);

void hud_messages_free(struct sim *s);

#endif
