# SPDX-License-Identifier: BSD-3-Clause
"""huddle simulate: collectives in simulated time."""

from .command import add_arguments, main  # noqa: F401  (what main.py asks of a command)
