/* SPDX-License-Identifier: BSD-3-Clause */
/* guard.cpp - leaves an algorithm by an exception: the only way through C frames that costs nothing
 * until it is used. */
#include "core/watch/guard.h"

namespace
{
struct left {
    int status;
};
} // namespace

extern "C" int hud_guard_run(void (*run)(struct mem *m, const struct coll *call), struct mem *m,
                             const struct coll *call)
{
    try {
        run(m, call);
    } catch (const left &l) {
        return l.status;
    }
    return 0;
}

extern "C" int hud_guard_call(void (*call)(void *arg), void *arg)
{
    try {
        call(arg);
    } catch (const left &l) {
        return l.status;
    }
    return 0;
}

extern "C" void hud_guard_leave(int status)
{
    throw left{ status };
}
