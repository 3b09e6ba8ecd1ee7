/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * sanitizers.h - functions of a sanitizer's runtime that huddle calls where the process has one.
 *
 * The program may be compiled with a sanitizer though huddle is not.  Weak references find its
 * runtime when the library is loaded; without one they are null, and nothing is called.
 */
#ifndef HUD_SANITIZERS_H
#define HUD_SANITIZERS_H

#include <stddef.h>

#ifdef __cplusplus
extern "C" {
#endif

#define RUNTIME __attribute__((weak, visibility("default")))

/* AddressSanitizer: the stack that the thread is on, and the fake frames that belong to it. */
RUNTIME void __sanitizer_start_switch_fiber(void **fake_stack, const void *bottom, size_t bytes);
RUNTIME void __sanitizer_finish_switch_fiber(void *fake_stack, const void **bottom, size_t *bytes);
RUNTIME void __asan_unpoison_memory_region(const void *at, size_t bytes);

/* LeakSanitizer: memory that it searches for pointers. */
RUNTIME void __lsan_register_root_region(const void *at, size_t bytes);
RUNTIME void __lsan_unregister_root_region(const void *at, size_t bytes);

/* ThreadSanitizer: a fiber has a clock of its own. */
RUNTIME void *__tsan_get_current_fiber(void);
RUNTIME void *__tsan_create_fiber(unsigned flags);
RUNTIME void __tsan_destroy_fiber(void *fiber);
RUNTIME void __tsan_switch_to_fiber(void *fiber, unsigned flags);

/* ThreadSanitizer: what this thread or fiber reads and writes in between is not looked at. */
RUNTIME void AnnotateIgnoreReadsBegin(const char *file, int line);
RUNTIME void AnnotateIgnoreReadsEnd(const char *file, int line);
RUNTIME void AnnotateIgnoreWritesBegin(const char *file, int line);
RUNTIME void AnnotateIgnoreWritesEnd(const char *file, int line);

#undef RUNTIME

static inline void sanitizer_look_away(void)
{
    if (AnnotateIgnoreReadsBegin && AnnotateIgnoreWritesBegin) {
        AnnotateIgnoreReadsBegin(__FILE__, __LINE__);
        AnnotateIgnoreWritesBegin(__FILE__, __LINE__);
    }
}

static inline void sanitizer_look_again(void)
{
    if (AnnotateIgnoreReadsEnd && AnnotateIgnoreWritesEnd) {
        AnnotateIgnoreWritesEnd(__FILE__, __LINE__);
        AnnotateIgnoreReadsEnd(__FILE__, __LINE__);
    }
}

#ifdef __cplusplus
}
#endif
#endif
