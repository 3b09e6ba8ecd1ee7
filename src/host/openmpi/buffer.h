/* SPDX-License-Identifier: BSD-3-Clause */
/* buffer.h - opens and closes a direction of a call; inlined if a call has one buffer. */
#ifndef HUD_OPENMPI_BUFFER_H
#define HUD_OPENMPI_BUFFER_H

#include "call.h"

#define ALWAYS_INLINE inline __attribute__((always_inline))

static ALWAYS_INLINE void begin_buffer(struct buffer *s)
{
    if (s->convertor != NULL)
        hud_convertor_open(s->convertor);
}

static ALWAYS_INLINE void end_buffer(struct buffer *s)
{
    if (s->convertor != NULL)
        hud_convertor_close(s->convertor);
}

static ALWAYS_INLINE void open_buffer(struct buffer *s, const void *base, size_t count,
                                      const TYPE *type, MODULE *module)
{
    begin_buffer(s);
    hud_view_open((void *)(uintptr_t)base, count, type, &s->state, s->convertor,
                  (struct hud_module *)module, &s->view);
}

static ALWAYS_INLINE int close_buffer(struct buffer *s, int status)
{
    status = hud_view_close(&s->view, status);
    end_buffer(s);
    return status;
}

/* Opens a buffer that this rank may not have.  Without a buffer the view has no bytes, and the
 * arguments are not used. */
static ALWAYS_INLINE void open_buffer_or_none(bool has, struct buffer *s, const void *base,
                                              size_t count, const TYPE *type, MODULE *module)
{
    if (has) {
        open_buffer(s, base, count, type, module);
    } else {
        begin_buffer(s);
        s->view = (struct hud_view){ .bytes = 0 };
    }
}

#endif
