# SPDX-License-Identifier: BSD-3-Clause
"""huddle reproduce: what the papers print, beside what the same thing gives here."""

from .command import add_arguments, main  # noqa: F401  (what main.py asks of a command)
