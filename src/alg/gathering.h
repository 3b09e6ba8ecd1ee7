/* SPDX-License-Identifier: BSD-3-Clause */
/* gathering.h - what algorithms in which groups gather at their leaders share: the parameter that
 * says how (shape/gathering.h). */
#ifndef HUD_ALG_GATHERING_H
#define HUD_ALG_GATHERING_H

#include "alg/alg.h"
#include "shape/gathering.h"

#define GATHERING_FLAT                                                                             \
    {                                                                                              \
        "flat", "1",                                                                               \
            "members of a group, at most, that gather at its leader in one step; more do in two",  \
            1, 64, 64, NULL, .tune = "16,64"                                                       \
    }

#endif
