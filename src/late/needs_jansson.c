/* SPDX-License-Identifier: BSD-3-Clause */
/* late/needs_jansson.c - libhuddle-jansson.so: nothing of its own, but it depends on jansson. */
typedef int hud_nothing;
