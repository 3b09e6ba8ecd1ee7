/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * sanitizers.h - functions of a sanitizer's runtime that huddle calls if the process has one.
 *
 * The program may be compiled with a sanitizer although huddle is not.  Weak references find the
 * runtime when the library is loaded.  Without a runtime they are null, and nothing is called.
 */
#ifndef HUD_SANITIZERS_H
#define HUD_SANITIZERS_H

#include <stddef.h>

#ifdef __cplusplus
extern "C" {
#endif

#define RUNTIME __attribute__((weak, visibility("default")))

/* Tells AddressSanitizer which stack the thread is on, and which fake frames belong to this
 * stack. */
RUNTIME void __sanitizer_start_switch_fiber(void **fake_stack, const void *bottom, size_t bytes);
RUNTIME void __sanitizer_finish_switch_fiber(void *fake_stack, const void **bottom, size_t *bytes);
RUNTIME void __asan_unpoison_memory_region(const void *at, size_t bytes);

/* Tells LeakSanitizer which memory to search for pointers. */
RUNTIME void __lsan_register_root_region(const void *at, size_t bytes);
RUNTIME void __lsan_unregister_root_region(const void *at, size_t bytes);

/* Tells ThreadSanitizer that a fiber has its own clock. */
RUNTIME void *__tsan_get_current_fiber(void);
RUNTIME void *__tsan_create_fiber(unsigned flags);
RUNTIME void __tsan_destroy_fiber(void *fiber);
RUNTIME void __tsan_switch_to_fiber(void *fiber, unsigned flags);

/* Tells ThreadSanitizer to ignore the accesses of this thread or fiber between begin and end. */
RUNTIME void AnnotateIgnoreReadsBegin(const char *file, int line);
RUNTIME void AnnotateIgnoreReadsEnd(const char *file, int line);
RUNTIME void AnnotateIgnoreWritesBegin(const char *file, int line);
RUNTIME void AnnotateIgnoreWritesEnd(const char *file, int line);

#undef RUNTIME

static inline void sanitizer_ignore_begin(void)
{
    if (AnnotateIgnoreReadsBegin && AnnotateIgnoreWritesBegin) {
        AnnotateIgnoreReadsBegin(__FILE__, __LINE__);
        AnnotateIgnoreWritesBegin(__FILE__, __LINE__);
    }
}

static inline void sanitizer_ignore_end(void)
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
