# SPDX-License-Identifier: BSD-3-Clause
"""huddle explain: which algorithm serves which calls, and why."""

from .command import COMMAND  # noqa: F401  (what main.py asks of a command)
