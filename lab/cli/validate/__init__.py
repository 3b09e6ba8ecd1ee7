# SPDX-License-Identifier: BSD-3-Clause
"""huddle lab validate: how far simulated times can be trusted."""

from .command import COMMAND  # noqa: F401  (what main.py asks of a command)
