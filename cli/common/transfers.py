# SPDX-License-Identifier: BSD-3-Clause
"""
Classes of line transfer: figures are compared only within one of them, or with a description.
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from typing import Any

FACTOR = 1.5  # maximum ratio to a described line transfer

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


def described_hops(machine: dict[str, Any]) -> Iterable[Any]:
    """
    Returns a described machine's line transfers as figures measure them: two processes poll one
    word and store to it in turn.  Such a store also revokes the reader's copy, which some machines
    do concurrently.
    """
    lines = machine["lines"]
    return lines.get("hop_ns", lines["transfer_ns"]).values()


def as_described(ns: float, described: Iterable[Any]) -> bool:
    """
    Returns whether a line transfer is about as long as a described one.  Only then was the figure
    measured on the described machine, since the processors of a virtual machine may move.
    """
    return any(1 / FACTOR <= ns / hop_ns <= FACTOR for hop_ns in described)


def moved_text(far: list[float]) -> str:
    """Returns a text about the figures that do not count.  `far` has their line transfers in ns."""
    return (
        f"{len(far)} figures do not count, since the processors had moved: a line transfer took"
        f" {min(far):.0f} to {max(far):.0f} ns"
    )
