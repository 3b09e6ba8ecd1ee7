# SPDX-License-Identifier: BSD-3-Clause
"""huddle validate: how far simulated times can be trusted."""

from .command import add_arguments, main  # noqa: F401  (what main.py asks of a command)
