# SPDX-License-Identifier: BSD-3-Clause
"""Types that all commands share."""

from types import SimpleNamespace

# What was found on the command line, by the names of the options.
Options = SimpleNamespace
