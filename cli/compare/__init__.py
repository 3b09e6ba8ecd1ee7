# SPDX-License-Identifier: BSD-3-Clause
"""huddle compare: a program without and with huddle."""

from .command import COMMAND  # noqa: F401  (what main.py asks of a command)
