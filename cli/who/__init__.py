# SPDX-License-Identifier: BSD-3-Clause
"""huddle who: who waits for whom."""

from .command import COMMAND  # noqa: F401  (what main.py asks of a command)
