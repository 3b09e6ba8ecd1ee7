# SPDX-License-Identifier: BSD-3-Clause
"""
The command `huddle`.  It asks the library for JSON (src/tools/query.c) and holds no tables of its
own.
"""
