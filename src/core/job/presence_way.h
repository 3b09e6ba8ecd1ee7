/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * presence_way.h - a way to publish the presence of ranks and to find them; presence.c chooses one.
 */
#ifndef HUD_PRESENCE_WAY_H
#define HUD_PRESENCE_WAY_H

#include <stdbool.h>

struct presence_way {
    /* Announces this process as a rank.  False: what this way needs is not here, on any rank that
     * was started as this one was. */
    bool (*announce)(int rank, unsigned manner);
    /* Calls found for those of first..end-1 that are announced alike, this process included.
     * Finds nothing where this process cannot know. */
    void (*find)(int first, int end, void (*found)(int rank));
    /* Whether a rank is announced in another manner. */
    bool (*unlike)(int rank);
};

extern const struct presence_way hud_presence_by_lock, hud_presence_by_name;

/* presence_name.c: reads the job's secret, false: there is none; then, the name of a rank's socket
 * without the leading zero byte. */
enum { PRESENCE_NAME = 48 };
bool hud_presence_name_job(unsigned manner);
void hud_presence_name(int rank, char name[PRESENCE_NAME]);

#endif
