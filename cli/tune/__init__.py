# SPDX-License-Identifier: BSD-3-Clause
"""huddle tune: learns what serves calls best on this machine."""

from .command import COMMAND  # noqa: F401  (what main.py asks of a command)
