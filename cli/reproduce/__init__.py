# SPDX-License-Identifier: BSD-3-Clause
"""huddle reproduce: compares the papers' results with those of formulas and simulation."""

from .command import add_arguments, main  # noqa: F401  (used by main.py)
