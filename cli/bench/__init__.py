# SPDX-License-Identifier: BSD-3-Clause
"""huddle bench: how long collectives take."""

from .command import COMMAND  # noqa: F401  (what main.py asks of a command)
