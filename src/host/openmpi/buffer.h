/* SPDX-License-Identifier: BSD-3-Clause */
/* buffer.h - one buffer of a call, as a view. */
#ifndef HUD_OPENMPI_BUFFER_H
#define HUD_OPENMPI_BUFFER_H

#include "module.h"

struct buffer {
    struct hud_view view;
    struct view_state state;
    struct view_convertor convertor;
};

static inline void open_buffer(struct buffer *b, const void *base, size_t count, const TYPE *type)
{
    hud_convertor_open(&b->convertor);
    hud_view_open((void *)(uintptr_t)base, count, type, &b->state, &b->convertor, &b->view);
}

static inline void open_nothing(struct buffer *b)
{
    hud_convertor_open(&b->convertor);
    b->view = (struct hud_view){ .bytes = 0 };
}

static inline int close_buffer(struct buffer *b, int status)
{
    bool complete = hud_view_close(&b->view);

    hud_convertor_close(&b->convertor);
    return complete ? status : HUD_ERR_MEMORY;
}

#endif
