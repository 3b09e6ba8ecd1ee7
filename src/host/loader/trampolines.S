/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * trampolines.S - the functions that the loader exports under MPI's names.
 *
 * Interposition works only for symbols of the preloaded library itself, and before any MPI is
 * known.  So each name is a jump through hud_targets (loader.c).  All registers are passed on as
 * they are, whatever the function's type is.
 *
 * hud_names      one entry of 16 bytes for each name, in the order of names.def
 * hud_handed     further sets of them, which dlsym hands out: a set for each MPI that is opened
 * hud_firsts     the first target of each entry of both: has names.c look up where it leads to
 * hud_resolvers  what a symbol of type IFUNC calls (scope.c)
 * dlsym          like a first target, with a number of its own, as the address of its caller and
 *                the arguments must arrive unchanged at the C library's function
 */
#include "host/loader/sets.h"

#define INITIALISER(name) entry name;
#define ROW(name) entry name;

#if defined(__x86_64__)

.macro entry name
    .balign 16
    .globl \name
    .type \name, @function
\name:
    jmp *hud_targets + 8 * at(%rip)
    .size \name, . - \name
    .set at, at + 1
.endm

.macro second
    .balign 16
    jmp *hud_targets + 8 * at(%rip)
    .set at, at + 1
.endm

.macro numbered to
    .balign 16
    push $at
    jmp \to
    .set at, at + 1
.endm

.macro resolver
    .balign 16
    mov $at, %edi
    jmp hud_loader_resolve
    .set at, at + 1
.endm

#elif defined(__aarch64__)

.macro entry name
    .balign 16
    .globl \name
    .type \name, @function
\name:
    adrp x16, hud_targets + 8 * at
    ldr x16, [x16, :lo12:hud_targets + 8 * at]
    br x16
    .size \name, . - \name
    .set at, at + 1
.endm

.macro second
    .balign 16
    adrp x16, hud_targets + 8 * at
    ldr x16, [x16, :lo12:hud_targets + 8 * at]
    br x16
    .set at, at + 1
.endm

.macro numbered to
    .balign 16
    mov x17, #at
    b \to
    .set at, at + 1
.endm

.macro resolver
    .balign 16
    mov x0, #at
    b hud_loader_resolve
    .set at, at + 1
.endm

#else
#error "the loader knows x86-64 and aarch64"
#endif

    .globl hud_names, hud_handed, hud_handed_end
    .hidden hud_names, hud_handed, hud_handed_end
    .text
    .balign 16
hud_names:
    .set at, 0
#include "host/loader/names.def"
    .set names, at
    .balign 16
hud_handed:
    .rept HUD_HANDED_SETS * names
    second
    .endr
    .set entries, at
    .balign 16
hud_handed_end:

    .text
    .globl hud_firsts, hud_resolvers
    .hidden hud_firsts, hud_resolvers
    .balign 16
hud_firsts:
    .set at, 0
    .rept entries
    numbered look_up
    .endr

    .balign 16
    .globl dlsym
    .type dlsym, %function
dlsym:
    numbered look_up
    .size dlsym, . - dlsym

    .balign 16
hud_resolvers:
    .set at, 0
    .rept names
    resolver
    .endr

/* Calls hud_loader_look_up(number, caller, first argument, second argument) and jumps to the
 * function that it returns, with the registers as they came. */
    .balign 16
    .type look_up, %function
look_up:
    .cfi_startproc
#if defined(__x86_64__)
    .cfi_adjust_cfa_offset 8
    push %rdi
    push %rsi
    push %rdx
    push %rcx
    push %r8
    push %r9
    push %rax
    push %rbp
    .cfi_adjust_cfa_offset 64
    mov %rsi, %rcx
    mov %rdi, %rdx
    mov 64(%rsp), %rdi
    mov 72(%rsp), %rsi
    call hud_loader_look_up
    mov %rax, %r11
    pop %rbp
    pop %rax
    pop %r9
    pop %r8
    pop %rcx
    pop %rdx
    pop %rsi
    pop %rdi
    add $8, %rsp
    .cfi_adjust_cfa_offset -72
    jmp *%r11
#else
    stp x29, x30, [sp, #-96]!
    .cfi_adjust_cfa_offset 96
    .cfi_rel_offset x29, 0
    .cfi_rel_offset x30, 8
    mov x29, sp
    stp x0, x1, [sp, #16]
    stp x2, x3, [sp, #32]
    stp x4, x5, [sp, #48]
    stp x6, x7, [sp, #64]
    str x8, [sp, #80]
    mov x3, x1
    mov x2, x0
    mov x1, x30
    mov x0, x17
    bl hud_loader_look_up
    mov x16, x0
    ldp x0, x1, [sp, #16]
    ldp x2, x3, [sp, #32]
    ldp x4, x5, [sp, #48]
    ldp x6, x7, [sp, #64]
    ldr x8, [sp, #80]
    ldp x29, x30, [sp], #96
    .cfi_adjust_cfa_offset -96
    .cfi_restore x29
    .cfi_restore x30
    br x16
#endif
    .cfi_endproc
    .size look_up, . - look_up

/* What each name leads to. */
    .section .data.rel.local, "aw", %progbits
    .balign 8
    .globl hud_targets
    .hidden hud_targets
    .type hud_targets, %object
hud_targets:
    .set at, 0
    .rept entries
    .quad hud_firsts + 16 * at
    .set at, at + 1
    .endr
    .size hud_targets, . - hud_targets

    .section .note.GNU-stack, "", %progbits
