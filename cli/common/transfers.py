# SPDX-License-Identifier: BSD-3-Clause
"""
Classes of line transfer: figures are compared only within one of them.
"""

from __future__ import annotations

import math
from typing import Any

# Name, and the upper limit of its line transfer in ns: threads of a core or a small shared cache,
# one L3, beyond.
CLASSES = (("nearest", 40), ("near", 150), ("far", math.inf))
# The class of ranks that are not bound, but have enough cores, or that share one processor: their
# line transfers are not between two known processors.  Ranks that share several processors use all
# classes.
ANY = "any"


def class_of(figure: dict[str, Any]) -> str | None:
    """
    Returns the class of a figure, or None if it was not measured or the processors moved meanwhile.
    """
    if figure.get("bind") == "none":
        return ANY
    seen = {
        next(name for name, below in CLASSES if ns < below)
        for ns in (figure["line_before_ns"], figure["line_after_ns"])
        if ns >= 0
    }
    return seen.pop() if len(seen) == 1 else None


def usable(figure: dict[str, Any]) -> bool:
    return class_of(figure) is not None and figure["shots"] > 0 and figure["refused"] == 0
