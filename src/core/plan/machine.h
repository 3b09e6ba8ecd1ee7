/* SPDX-License-Identifier: BSD-3-Clause */
/* machine.h - what tells this machine from others for which other choices may be the fastest: the
 * line `machine` of files of rules. */
#ifndef HUD_MACHINE_H
#define HUD_MACHINE_H

#include "core/config/config.h"

enum { MACHINE_LINE = 2 * SET_TEXT };

struct machine {
    char cpu[SET_TEXT];  /* name of the processors, without quotation marks */
    char kernel[32];     /* "6.1", without the patch level */
    char hypervisor[16]; /* "none", "kvm", "hyperv", ..., "other"; "unknown" */
    long processors;     /* online */
    int numa_nodes;
};

/* Returns what is known about this machine, from /proc, /sys and the processor.  The first call of
 * a process reads them, which takes some 25 us. */
const struct machine *hud_machine(void);

/* Returns whether a value of the line is this machine's.  Returns true for a key that does not tell
 * machines apart. */
bool hud_machine_is(const struct machine *machine, const char *key, const char *value);

/* Writes the line, without the MPI and without a newline. */
void hud_machine_write(const struct machine *machine, char line[MACHINE_LINE]);

#endif
