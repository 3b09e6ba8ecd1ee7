/* SPDX-License-Identifier: BSD-3-Clause */
/* version_99.c - the version number of another library, for test_versions.py. */
#include "huddle/huddle.h"

#undef HUD_VERSION_PATCH
#define HUD_VERSION_PATCH 99
#include "base/version.c"
