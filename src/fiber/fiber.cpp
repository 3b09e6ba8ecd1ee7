/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * fiber.cpp - Boost.Context's jump between stacks, with a guard page; announces jumps to the
 * sanitizers.
 *
 * It uses the raw jump and not boost::context::fiber, which unwinds an unfinished stack with an
 * exception: the frames here are C.
 */
#include "fiber/fiber.h"

#include <boost/context/detail/fcontext.hpp>
#include <new>
#include <sys/mman.h>
#include <unistd.h>

#ifdef FIBER_ASAN
#include <sanitizer/asan_interface.h>
#include <sanitizer/common_interface_defs.h>
#include <sanitizer/lsan_interface.h>
#endif
#ifdef FIBER_TSAN
#include <sanitizer/tsan_interface.h>
#endif

namespace context = boost::context::detail;

struct fiber {
    char *map; /* guard page, then the stack */
    size_t map_bytes, guard_bytes;
    void (*main)(void *arg);
    void *arg;
    context::fcontext_t inside, outside; /* where to go on */
    bool returned;
#ifdef FIBER_ASAN
    const void *outside_stack;
    size_t outside_bytes;
    void *fake_inside, *fake_outside;
#endif
#ifdef FIBER_TSAN
    void *tsan_inside, *tsan_outside;
#endif
};

namespace
{

void left_outside(fiber *f)
{
#ifdef FIBER_ASAN
    __sanitizer_finish_switch_fiber(f->fake_inside, &f->outside_stack, &f->outside_bytes);
#else
    (void)f;
#endif
}

void leave_inside(fiber *f, bool for_good)
{
#ifdef FIBER_ASAN
    __sanitizer_start_switch_fiber(for_good ? nullptr : &f->fake_inside, f->outside_stack,
                                   f->outside_bytes);
#endif
#ifdef FIBER_TSAN
    __tsan_switch_to_fiber(f->tsan_outside, 0);
#endif
    (void)for_good;
    f->outside = context::jump_fcontext(f->outside, f).fctx;
    left_outside(f);
}

void enter(context::transfer_t from)
{
    fiber *f = static_cast<fiber *>(from.data);

    left_outside(f);
    f->outside = from.fctx;
    f->main(f->arg);
    f->returned = true;
    leave_inside(f, true);
}

} // namespace

fiber *hud_fiber_create(size_t stack_bytes, void (*main)(void *arg), void *arg)
{
    size_t page = static_cast<size_t>(getpagesize()); // cannot fail
    fiber *f = new (std::nothrow) fiber();

    if (!f)
        return nullptr;
    f->guard_bytes = page;
    f->map_bytes = page + (stack_bytes + page - 1) / page * page;
    void *map = mmap(nullptr, f->map_bytes, PROT_READ | PROT_WRITE,
                     MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_STACK, -1, 0);
    if (map == MAP_FAILED || mprotect(map, page, PROT_NONE) != 0) {
        if (map != MAP_FAILED)
            munmap(map, f->map_bytes);
        delete f;
        return nullptr;
    }
    f->map = static_cast<char *>(map);
    f->main = main;
    f->arg = arg;
    f->inside = context::make_fcontext(f->map + f->map_bytes, f->map_bytes - f->guard_bytes, enter);
#ifdef FIBER_ASAN
    // What a suspended fiber holds is no leak, though it may never be resumed.
    __lsan_register_root_region(f->map + f->guard_bytes, f->map_bytes - f->guard_bytes);
#endif
#ifdef FIBER_TSAN
    f->tsan_inside = __tsan_create_fiber(0);
#endif
    return f;
}

void hud_fiber_free(fiber *f)
{
    if (!f)
        return;
#ifdef FIBER_TSAN
    __tsan_destroy_fiber(f->tsan_inside);
#endif
#ifdef FIBER_ASAN
    __lsan_unregister_root_region(f->map + f->guard_bytes, f->map_bytes - f->guard_bytes);
    __asan_unpoison_memory_region(f->map, f->map_bytes); // frames that were never left
#endif
    munmap(f->map, f->map_bytes);
    delete f;
}

bool hud_fiber_resume(fiber *f)
{
    if (f->returned)
        return false;
#ifdef FIBER_ASAN
    __sanitizer_start_switch_fiber(&f->fake_outside, f->map + f->guard_bytes,
                                   f->map_bytes - f->guard_bytes);
#endif
#ifdef FIBER_TSAN
    f->tsan_outside = __tsan_get_current_fiber();
    __tsan_switch_to_fiber(f->tsan_inside, 0);
#endif
    f->inside = context::jump_fcontext(f->inside, f).fctx;
#ifdef FIBER_ASAN
    __sanitizer_finish_switch_fiber(f->fake_outside, nullptr, nullptr);
#endif
    return !f->returned;
}

void hud_fiber_suspend(fiber *f)
{
    leave_inside(f, false);
}
