# SPDX-License-Identifier: BSD-3-Clause
"""huddle profile: where a program's time in collectives goes."""

from .command import COMMAND  # noqa: F401  (what main.py asks of a command)
