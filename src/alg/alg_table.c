/* SPDX-License-Identifier: BSD-3-Clause */
/* alg_table.c - alg.def and spans.def as NULL-terminated arrays.  The core, front ends, the CLI,
 * documents and tests all iterate over them. */
#include "alg/alg.h"

#define ALG(c, n) extern const struct alg HUD_BACKEND(alg_##c##_##n);
#include "alg/alg.def"
#undef ALG

const struct alg *const HUD_BACKEND(algs)[] = {
#define ALG(c, n) &HUD_BACKEND(alg_##c##_##n),
#include "alg/alg.def"
#undef ALG
    NULL,
};

#define SPAN_ALG(tag, ID, c, n) extern const struct alg HUD_BACKEND(alg_##c##_##n);
#include "alg/spans.def"
#undef SPAN_ALG

const struct alg *const HUD_BACKEND(nodes_algs)[NET_TAGS + 1] = {
#define SPAN_ALG(tag, ID, c, n) [NET_##tag] = &HUD_BACKEND(alg_##c##_##n),
#include "alg/spans.def"
#undef SPAN_ALG
};
