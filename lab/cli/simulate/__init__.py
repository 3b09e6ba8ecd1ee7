# SPDX-License-Identifier: BSD-3-Clause
"""huddle lab simulate: collectives in simulated time."""

from .command import COMMAND  # noqa: F401  (what main.py asks of a command)
