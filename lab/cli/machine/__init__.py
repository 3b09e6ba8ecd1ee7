# SPDX-License-Identifier: BSD-3-Clause
"""huddle lab machine: a description of this machine, for the simulator."""

from .command import COMMAND  # noqa: F401  (what main.py asks of a command)
