# SPDX-License-Identifier: BSD-3-Clause
"""
One cell - a collective, a team, a size - by successive halving: all candidates in turn, a few
shots; then the better half of them, twice as many.
"""

import math
import time
from collections import namedtuple

from ..common.transfers import class_of
from .stats import best_half, figure_of

OWN = 0  # the candidate that is huddle's own choice; it stays to the end
FIRST_SHOTS, KEEP = 3, 3  # of each at first; how many are compared at length
LAST_MIN, LAST_MAX = 12, 150
RESTARTS = 2  # of what was spoiled

# figures: candidate's number -> Figure.  note: what went wrong, or "".
Cell = namedtuple("Cell", "line_ns figures note")


class Spoiled(Exception):
    """
    The line transfer changed its class, so that what was measured before and after is not to be
    compared; or nothing could be measured.
    """


def rungs(count):
    return 1 + max(0, math.ceil(math.log2(max(1, count) / KEEP)))


class Watch:
    """The class of the line transfer, which must not change."""

    def __init__(self):
        self.seen, self.ns = None, []

    def look(self, answer):
        measured = [ns for ns in (answer["line_before_ns"], answer["line_after_ns"]) if ns >= 0]
        self.ns += measured
        if not measured:
            return
        now = class_of(answer)
        if now is None or self.seen not in (None, now):
            raise Spoiled
        self.seen = now


def once(trials, collective, size, numbers, seconds, strict):
    watch, figures, alive = Watch(), {}, list(numbers)
    end = time.monotonic() + seconds
    for left in range(rungs(len(alive)), 0, -1):
        low, high = (FIRST_SHOTS, 5 * FIRST_SHOTS) if left > 1 else (LAST_MIN, LAST_MAX)
        share = max(0.001, (end - time.monotonic()) / left)
        answer = trials.compare(collective, size, share, low, high, [OWN, *alive])
        times = {
            f["candidate"]: f["took_ns"]
            for f in answer["figures"]
            if f["refused"] == 0 and f["took_ns"]
        }
        try:
            watch.look(answer)
        except Spoiled:
            if strict:
                raise
        own = times.pop(OWN, None)
        if own is None and answer["figures"][0]["refused"]:
            return Cell(None, {}, "not taken by huddle")
        if own is None and strict:
            raise Spoiled
        if own is None:
            return Cell(None, {}, "not measured, too busy a machine")
        figures.update({number: figure_of(ns, own) for number, ns in times.items()})
        alive = best_half(times, KEEP)
    return Cell(
        sum(watch.ns) / len(watch.ns) if watch.ns else None,
        figures,
        "" if strict else "the processors kept moving",
    )


def measure(trials, collective, size, numbers, seconds):
    """numbers: those of the candidates, without OWN."""
    for _ in range(RESTARTS):
        try:
            return once(trials, collective, size, numbers, seconds, strict=True)
        except Spoiled:
            continue
    return once(trials, collective, size, numbers, seconds, strict=False)
