/* SPDX-License-Identifier: BSD-3-Clause */
/* side.h - one direction of a call, opened and closed; inlined where a call has one buffer. */
#ifndef HUD_OPENMPI_SIDE_H
#define HUD_OPENMPI_SIDE_H

#include "call.h"

#define ALWAYS_INLINE inline __attribute__((always_inline))

static ALWAYS_INLINE void begin_side(struct side *s)
{
    if (s->convertor != NULL)
        hud_convertor_open(s->convertor);
}

static ALWAYS_INLINE void end_side(struct side *s)
{
    if (s->convertor != NULL)
        hud_convertor_close(s->convertor);
}

static ALWAYS_INLINE void open_side(struct side *s, const void *base, size_t count,
                                    const TYPE *type, MODULE *module)
{
    begin_side(s);
    hud_view_open((void *)(uintptr_t)base, count, type, &s->state, s->convertor,
                  (struct hud_module *)module, &s->view);
}

static ALWAYS_INLINE int close_side(struct side *s, int status)
{
    status = hud_view_close(&s->view, status);
    end_side(s);
    return status;
}

/* A side that this rank may not have: then it is of no bytes, and arguments are not looked at. */
static ALWAYS_INLINE void open_side_or_none(bool has, struct side *s, const void *base,
                                            size_t count, const TYPE *type, MODULE *module)
{
    if (has) {
        open_side(s, base, count, type, module);
    } else {
        begin_side(s);
        s->view = (struct hud_view){ .bytes = 0 };
    }
}

#endif
