# SPDX-License-Identifier: BSD-3-Clause
"""Classes of line transfer: figures are compared only within one of them."""

import math

# Name, and the upper limit of its line transfer in ns: threads of a core or a small shared cache,
# one L3, beyond.
CLASSES = (("nearest", 40), ("near", 150), ("far", math.inf))


def class_of(figure):
    """None: not measured, or the processors moved between before and after."""
    seen = {
        next(name for name, below in CLASSES if ns < below)
        for ns in (figure["line_before_ns"], figure["line_after_ns"])
        if ns >= 0
    }
    return seen.pop() if len(seen) == 1 else None


def usable(figure):
    return class_of(figure) is not None and figure["shots"] > 0 and figure["refused"] == 0
