# SPDX-License-Identifier: BSD-3-Clause
"""huddle wisdom: what huddle has learned on this machine."""

from .command import COMMAND  # noqa: F401  (what main.py asks of a command)
