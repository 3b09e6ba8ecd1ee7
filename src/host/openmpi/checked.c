/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * checked.c - with HUDDLE_CHECK: the collectives that huddle does not handle.  Each announces its
 * call, calls the module below, and announces its return.  If the module below calls other
 * collectives of the same communicator meanwhile, these are not checked.
 */
#include "module.h"

#define OP_NAME hud_reduction_name
#define CHECKED(Name, name, root, bytes, detail, ...)                                              \
    static int checked_##name(MAP(PARAM_, __VA_ARGS__))                                            \
    {                                                                                              \
        hud_module *m = (hud_module *)module;                                                      \
        hud_module_enter(m, #name, root, bytes, detail);                                           \
        return hud_module_leave(m, m->below.name(__VA_ARGS__, m->below.name##_module));            \
    }
#define CHECKED_ARRAYS CHECKED
#include "host/signatures.def"

void hud_checked_install(hud_module *m)
{
    (void)m; /* where signatures.def has none */
#define CHECKED(Name, name, ...)                                                                   \
    if (m->below.name != NULL)                                                                     \
        m->super.coll_##name = checked_##name;
#define CHECKED_ARRAYS CHECKED
#include "host/signatures.def"
}
