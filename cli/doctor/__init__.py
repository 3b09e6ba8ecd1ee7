# SPDX-License-Identifier: BSD-3-Clause
"""huddle doctor: can this machine, MPI, container and launcher use huddle, and what to change."""

from .command import COMMAND  # noqa: F401  (what main.py asks of a command)
