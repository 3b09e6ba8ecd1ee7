/* SPDX-License-Identifier: BSD-3-Clause */
/* version_99.c - the version of a library that is not this one, for test_versions.py. */
#include "huddle/huddle.h"

#undef HUD_VERSION_PATCH
#define HUD_VERSION_PATCH 99
#include "core/version.c"
