# SPDX-License-Identifier: BSD-3-Clause
"""huddle lab reproduce: compares the papers' results with those of formulas and simulation."""

from .command import COMMAND  # noqa: F401  (what main.py asks of a command)
