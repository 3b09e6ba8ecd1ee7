/* SPDX-License-Identifier: BSD-3-Clause */
/* mark.c - the mark of an arena, by which programs of any version recognise it. */
#include "base/hash.h"
#include "core/arena/arena.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

uint64_t hud_arena_layout(void)
{
    static const size_t sizes[] = { sizeof(struct arena_head),
                                    sizeof(struct wait_note),
                                    offsetof(struct arena_head, stats),
                                    offsetof(struct arena_head, note),
                                    MEM_NOTE_WORDS,
                                    COLL_KINDS,
                                    REASON_COUNT };
    uint64_t h = hash_text(HASH_START, hud_version());

    for (size_t i = 0; i < sizeof sizes / sizeof sizes[0]; i++)
        h = hash_number(h, sizes[i]);
    return h;
}

void hud_arena_sign(struct arena_head *head)
{
    struct arena_mark *mark = &head->mark;

    mark->layout = hud_arena_layout();
    mark->pid = (int32_t)getpid();
    mark->world_rank = -1;
    snprintf(mark->version, sizeof mark->version, "%s", hud_version());
    memcpy(mark->magic, ARENA_MAGIC, sizeof mark->magic);
}
