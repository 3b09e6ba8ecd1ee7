/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * look_up.S - the first targets of the entries, which call look_up.c.
 *
 * hud_targets    the target of each entry: its first target, until names.c knows the function
 * hud_firsts     the first targets: they look up the function and jump to it
 * hud_resolvers  functions called for symbols of type IFUNC (scope.c)
 * dlsym          like a first target, with its own number, because the address of its caller and
 *                the arguments must reach the C library's function unchanged
 */
#include "host/loader/sets.h"

#if defined(__x86_64__)

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

/* The number of names. */
    .set names, 0
#define ROW(name) .set names, names + 1;
#include "host/loader/names.def"
    .set entries, (1 + HUD_HANDED_SETS) * names

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
 * returned function with the original registers. */
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

/* hud_first_targets has the address of the first targets, from which names.c restores them. */
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
    .globl hud_first_targets
    .hidden hud_first_targets
    .type hud_first_targets, %object
hud_first_targets:
    .quad hud_firsts
    .size hud_first_targets, . - hud_first_targets

    .section .note.GNU-stack, "", %progbits
