# SPDX-License-Identifier: BSD-3-Clause
"""huddle profile: where a program's time in collectives goes."""

from .command import add_arguments, main  # noqa: F401  (what main.py asks of a command)
