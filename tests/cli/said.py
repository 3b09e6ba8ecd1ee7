# SPDX-License-Identifier: BSD-3-Clause
"""What a command has said, as tests look at it."""

import re


def without_progress(said):
    """
    Of standard error, not the lines that say every ten seconds how far it is: how many there are
    depends on the machine.
    """
    said.stderr = re.sub(r"(?m)^\[\d+/\d+\] .*\n", "", said.stderr)
    return said
