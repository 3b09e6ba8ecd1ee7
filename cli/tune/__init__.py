# SPDX-License-Identifier: BSD-3-Clause
"""huddle tune: measures this machine and writes a tuning file."""

from .command import add_arguments, main  # noqa: F401  (what main.py asks of a command)
