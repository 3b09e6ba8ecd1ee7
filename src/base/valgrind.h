/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * valgrind.h - requests to Valgrind, for a process that runs on it.
 *
 * A request is a sequence of instructions without effect that Valgrind recognises.  The sequences
 * and the numbers are those of valgrind/valgrind.h, which keeps them for programs that are compiled
 * already.  They are repeated here so that neither the build nor a package depends on Valgrind.
 */
#ifndef HUD_VALGRIND_H
#define HUD_VALGRIND_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum {
    VALGRIND_RUNNING = 0x1001,
    VALGRIND_STACK_REGISTER = 0x1501,
    VALGRIND_STACK_DEREGISTER = 0x1502
};

/* Makes a request.  Returns 0 if the process does not run on Valgrind. */
static inline uintptr_t valgrind_ask(uintptr_t request, uintptr_t first, uintptr_t second)
{
    const uintptr_t words[] = { request, first, second, 0, 0, 0 };
    uintptr_t answer = 0;

#if defined(__x86_64__)
    __asm__ volatile("rolq $3, %%rdi; rolq $13, %%rdi; rolq $61, %%rdi; rolq $51, %%rdi\n\t"
                     "xchgq %%rbx, %%rbx"
                     : "+d"(answer)
                     : "a"(&words[0])
                     : "cc", "memory");
#elif defined(__aarch64__)
    register uintptr_t result __asm__("x3") = answer;
    register const uintptr_t *at __asm__("x4") = words;
    __asm__ volatile("ror x12, x12, #3; ror x12, x12, #13; ror x12, x12, #51; ror x12, x12, #61\n\t"
                     "orr x10, x10, x10"
                     : "+r"(result)
                     : "r"(at)
                     : "cc", "memory");
    answer = result;
#else
    (void)words;
#endif
    return answer;
}

static inline bool valgrind_is_running(void)
{
    return valgrind_ask(VALGRIND_RUNNING, 0, 0) != 0;
}

/* Registers a range of memory as a stack.  Returns a number for valgrind_drop_stack(). */
static inline uintptr_t valgrind_add_stack(const char *lowest, size_t bytes)
{
    return valgrind_ask(VALGRIND_STACK_REGISTER, (uintptr_t)lowest, (uintptr_t)lowest + bytes);
}

static inline void valgrind_drop_stack(uintptr_t number)
{
    (void)valgrind_ask(VALGRIND_STACK_DEREGISTER, number, 0);
}

#endif
