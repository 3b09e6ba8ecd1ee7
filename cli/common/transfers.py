# SPDX-License-Identifier: BSD-3-Clause
"""
Classes of line transfer: figures are compared only within one of them, or with a description.
"""

import math

FACTOR = 1.5  # maximum ratio to a described line transfer

# Name, and the upper limit of its line transfer in ns: threads of a core or a small shared cache,
# one L3, beyond.
CLASSES = (("nearest", 40), ("near", 150), ("far", math.inf))
# Of ranks that are not bound, but have enough cores, or that share one processor: no two
# processors' line is theirs.  Ranks that share several processors use all of these.
ANY = "any"


def class_of(figure):
    """None: not measured, or the processors moved between before and after."""
    if figure.get("bind") == "none":
        return ANY
    seen = {
        next(name for name, below in CLASSES if ns < below)
        for ns in (figure["line_before_ns"], figure["line_after_ns"])
        if ns >= 0
    }
    return seen.pop() if len(seen) == 1 else None


def usable(figure):
    return class_of(figure) is not None and figure["shots"] > 0 and figure["refused"] == 0


def described_hops(machine):
    """
    What a described machine's line transfers are as they are measured with figures: of a word that
    two processes poll and store to in turn.  A reader's copy has to be revoked, too, which some
    machines do meanwhile.
    """
    lines = machine["lines"]
    return lines.get("hop_ns", lines["transfer_ns"]).values()


def as_described(ns, described):
    """
    The processors of a virtual machine may move.  A figure counts only if the line transfer was
    about one of those described, since only then it is the described machine.
    """
    return any(1 / FACTOR <= ns / hop_ns <= FACTOR for hop_ns in described)


def moved_text(far):
    """far: ns of the transfers of the figures that do not count."""
    return (
        f"{len(far)} figures do not count, since the processors had moved: a line transfer took"
        f" {min(far):.0f} to {max(far):.0f} ns"
    )
