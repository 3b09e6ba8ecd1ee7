# SPDX-License-Identifier: BSD-3-Clause
"""huddle model: what time models say."""

from .command import add_arguments, main  # noqa: F401  (what main.py asks of a command)
