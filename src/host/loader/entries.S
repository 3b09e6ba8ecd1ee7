/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * entries.S - the functions that the loader exports under MPI's names.
 *
 * Interposition works only for symbols of the preloaded library itself, and before any MPI is
 * known.  So each name is a jump through hud_targets (look_up.S).  All registers are passed on
 * unchanged, whatever the function's type.
 *
 * hud_names      one entry of 16 bytes for each name, in the order of names.def
 * hud_handed     further sets of entries, returned by dlsym: a set for each MPI that is opened
 */
#include "host/loader/sets.h"

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

#else
#error "the loader knows x86-64 and aarch64"
#endif

    .globl hud_names, hud_handed, hud_handed_end
    .hidden hud_names, hud_handed, hud_handed_end, hud_targets
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
    .balign 16
hud_handed_end:

    .section .note.GNU-stack, "", %progbits
