/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * fiber.cpp - Boost.Context's jump between stacks, with a guard page.  Announces jumps to the
 * process's sanitizer, and stacks to Valgrind.
 *
 * Uses the raw jump and not boost::context::fiber, which unwinds an unfinished stack with an
 * exception: the frames here are C.
 */
#include "fiber/fiber.h"
#include "base/valgrind.h"
#include "fiber/sanitizers.h"

#include <boost/context/detail/fcontext.hpp>
#include <cstdint>
#include <sys/mman.h>
#include <unistd.h>

namespace context = boost::context::detail;

namespace
{

/* ---- announcing jumps to sanitizers ---- */

void announce_entry(fiber *f)
{
    if (__sanitizer_start_switch_fiber)
        __sanitizer_start_switch_fiber(&f->fake_outside, f->map + f->guard_bytes,
                                       f->map_bytes - f->guard_bytes);
    if (__tsan_switch_to_fiber) {
        f->tsan_outside = __tsan_get_current_fiber();
        __tsan_switch_to_fiber(f->tsan_inside, 0);
    }
}

void left_outside(fiber *f)
{
    if (__sanitizer_finish_switch_fiber)
        __sanitizer_finish_switch_fiber(f->fake_inside, &f->outside_stack, &f->outside_bytes);
}

/* Announces a jump out of the fiber.  If the fiber has returned, its fake frames are freed. */
void announce_exit(fiber *f, bool for_good)
{
    if (__sanitizer_start_switch_fiber)
        __sanitizer_start_switch_fiber(for_good ? nullptr : &f->fake_inside, f->outside_stack,
                                       f->outside_bytes);
    if (__tsan_switch_to_fiber)
        __tsan_switch_to_fiber(f->tsan_outside, 0);
}

void left_inside(fiber *f)
{
    if (__sanitizer_finish_switch_fiber)
        __sanitizer_finish_switch_fiber(f->fake_outside, nullptr, nullptr);
}

/* Announces the stack.  Memory that a suspended fiber holds must not be reported as a leak,
 * although the fiber may never be resumed. */
void announce_life(fiber *f)
{
    f->watched = hud_fiber_watched();
    if (__lsan_register_root_region)
        __lsan_register_root_region(f->map + f->guard_bytes, f->map_bytes - f->guard_bytes);
    if (__tsan_create_fiber)
        f->tsan_inside = __tsan_create_fiber(0);
    f->valgrind = valgrind_add_stack(f->map + f->guard_bytes, f->map_bytes - f->guard_bytes);
}

/* Withdraws the stack.  Frames that were never left are still poisoned, so the stack is
 * unpoisoned. */
void announce_death(fiber *f)
{
    valgrind_drop_stack(f->valgrind);
    if (__tsan_destroy_fiber)
        __tsan_destroy_fiber(f->tsan_inside);
    if (__lsan_unregister_root_region)
        __lsan_unregister_root_region(f->map + f->guard_bytes, f->map_bytes - f->guard_bytes);
    if (__asan_unpoison_memory_region)
        __asan_unpoison_memory_region(f->map, f->map_bytes);
}

/* ---- jumps ---- */

void leave_inside(fiber *f, bool for_good)
{
    if (f->watched)
        announce_exit(f, for_good);
    f->outside = context::jump_fcontext(f->outside, f).fctx;
    if (f->watched)
        left_outside(f);
}

void enter(context::transfer_t from)
{
    fiber *f = static_cast<fiber *>(from.data);

    if (f->watched)
        left_outside(f);
    f->outside = from.fctx;
    f->main(f->arg);
    f->returned = true;
    leave_inside(f, true);
}

} // namespace

bool hud_fiber_watched(void)
{
    return __sanitizer_start_switch_fiber || __tsan_switch_to_fiber;
}

bool hud_fiber_init(fiber *f, size_t stack_bytes, void (*main)(void *arg), void *arg)
{
    size_t page = static_cast<size_t>(getpagesize()); // cannot fail

    *f = fiber();
    f->guard_bytes = page;
    f->map_bytes = page + (stack_bytes + page - 1) / page * page;
    void *map = mmap(nullptr, f->map_bytes, PROT_READ | PROT_WRITE,
                     MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_STACK, -1, 0);
    if (map == MAP_FAILED || mprotect(map, page, PROT_NONE) != 0) {
        if (map != MAP_FAILED)
            munmap(map, f->map_bytes);
        return false;
    }
    f->map = static_cast<char *>(map);
    f->main = main;
    f->arg = arg;
    f->inside = context::make_fcontext(f->map + f->map_bytes, f->map_bytes - f->guard_bytes, enter);
    announce_life(f);
    return true;
}

void hud_fiber_destroy(fiber *f)
{
    announce_death(f);
    munmap(f->map, f->map_bytes);
}

bool hud_fiber_resume(fiber *f)
{
    if (f->returned)
        return false;
    if (f->watched)
        announce_entry(f);
    f->inside = context::jump_fcontext(f->inside, f).fctx;
    if (f->watched)
        left_inside(f);
    return !f->returned;
}

void hud_fiber_suspend(fiber *f)
{
    leave_inside(f, false);
}
