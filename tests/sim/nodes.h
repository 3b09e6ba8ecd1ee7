/* SPDX-License-Identifier: BSD-3-Clause */
/* nodes.h - tests random sequences of collectives of a span under the checker. */
#ifndef HUD_NODES_TEST_H
#define HUD_NODES_TEST_H

#include "alg/nodes/nodes.h"
#include "sequence.h"

/* Runs a sequence. options->only is one of hud_sim_nodes_algs, or NULL to mix all of them. */
bool nodes_run(const struct sequence_options *options, struct sequence_sums *sums, FILE *to);

#endif
