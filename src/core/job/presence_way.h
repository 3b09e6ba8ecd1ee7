/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * presence_way.h - a way to publish the presence of ranks and to find them; presence.c chooses one.
 */
#ifndef HUD_PRESENCE_WAY_H
#define HUD_PRESENCE_WAY_H

#include <stdbool.h>

struct presence_way {
    /* Announces this process as a rank.  Returns false if a requirement of this way is missing, as
     * for all ranks that were started alike. */
    bool (*announce)(int rank, unsigned manner);
    /* Calls found for the ranks from first to end - 1 that are announced in the same manner,
     * including this process.  Finds nothing if this process cannot find out. */
    void (*find)(int first, int end, void (*found)(int rank));
    /* Returns whether a rank is announced in another manner. */
    bool (*unlike)(int rank);
};

extern const struct presence_way hud_presence_by_lock, hud_presence_by_name;

/* presence_name.c */
enum { PRESENCE_NAME = 48 };
/* Reads the job's secret.  Returns false if there is none. */
bool hud_presence_name_job(unsigned manner);
/* Writes the name of a rank's socket, without the leading zero byte. */
void hud_presence_name(int rank, char name[PRESENCE_NAME]);

#endif
