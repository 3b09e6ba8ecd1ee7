/* SPDX-License-Identifier: BSD-3-Clause */
/* message_bytes.c - the bytes that a message owns, from its start to its end. */
#include "check/messages.h"

void hud_messages_touch(struct mem *m, const struct sim_spot *spot, size_t bytes,
                        sim_access *access)
{
    const struct sim_event *now = &m->self->now;

    for (const struct sim_end *e = m->s->ends; e; e = e->next) {
        bool overlap = e->spot.owner == spot->owner && e->bytes != 0 && !e->carried &&
                       spot->at < e->spot.at + e->bytes && e->spot.at < spot->at + bytes;
        if (overlap && !(e->sends && access == hud_bytes_read))
            hud_sim_fail(m->s,
                         "a message's bytes: rank %d %s at %s:%d what a message of rank %d %s at "
                         "%s:%d\n",
                         now->rank, now->what, now->file, now->line, e->by.rank,
                         e->sends ? "still sends, started" : "still receives, started", e->by.file,
                         e->by.line);
    }
}
