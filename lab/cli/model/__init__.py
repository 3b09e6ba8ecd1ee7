# SPDX-License-Identifier: BSD-3-Clause
"""huddle lab model: what time models say."""

from .command import COMMAND  # noqa: F401  (what main.py asks of a command)
