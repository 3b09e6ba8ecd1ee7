/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * checked.c - with HUDDLE_CHECK: the collectives that huddle does not serve.  Each says what it is
 * about to do, calls the module below, and says that it is back.  What the module below does
 * meanwhile with other collectives of the same communicator is its own affair.
 */
#include "module.h"

#define OPEN(...) __VA_ARGS__,
#define CHECKED(name, parameters, arguments, root, bytes, detail)                                  \
    static int checked_##name parameters                                                           \
    {                                                                                              \
        hud_module *m = (hud_module *)module;                                                      \
        hud_module_enter(m, #name, root, bytes, detail);                                           \
        return hud_module_leave(m, m->below.name(OPEN arguments m->below.name##_module));          \
    }
#include "collectives.def"

void hud_checked_install(hud_module *m)
{
#define CHECKED(name, ...)                                                                         \
    if (m->below.name != NULL)                                                                     \
        m->super.coll_##name = checked_##name;
#include "collectives.def"
}
