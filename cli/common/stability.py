# SPDX-License-Identifier: BSD-3-Clause
"""
Whether measured figures can be trusted.  The same thing is measured several times.  Figures that do
not agree, or cannot be right, are reported.

Other work on a machine slows measurements down, but not all of them.  So the two best of several
values count, and they must agree.
"""

from __future__ import annotations

import os
import time
from collections.abc import Callable
from typing import Any

from . import transfers

AGREE = 1.25  # maximum ratio of two figures that agree
LOOK_S, BUSY, IDLE = 0.25, 0.25, slice(3, 5)  # idle, and waiting for a disk
# Maximum of median / minimum of a call; other work that takes the processor now and then exceeds
# it.
MAX_OF_MIN = 4
SLACK_NS = 30  # error of the clock, per call
MIN_RUNS, MAX_RUNS, PATIENCE_S = 2, 5, 30


def busy(before: str, after: str, cpus: Any) -> float:
    """Returns the busiest processor's share of busy time between two readings of /proc/stat."""

    def times(text: str) -> dict[str, list[int]]:
        return {
            name: list(map(int, counts))
            for name, *counts in map(str.split, text.splitlines())
            if name.startswith("cpu")
        }

    one, two, highest = times(before), times(after), 0.0
    for name in {f"cpu{cpu}" for cpu in cpus} & one.keys() & two.keys():
        spent = [b - a for a, b in zip(one[name], two[name])][:8]  # the rest is counted twice
        highest = max(highest, 1 - sum(spent[IDLE]) / sum(spent) if sum(spent) > 0 else 0)
    return highest


def others() -> str | None:
    """Returns a text that says how busy the machine is while this command is idle, or None."""

    def read() -> str:
        with open("/proc/stat", encoding="ascii") as file:
            return file.read()

    try:
        before = read()
        time.sleep(LOOK_S)
        share = busy(before, read(), os.sched_getaffinity(0))
    except OSError:
        return None
    return f"other work has {100 * share:.0f} % of a processor" if share > BUSY else None


def settled(
    values: list[float], more: bool = False, slack: int = 0, ratio: float = AGREE
) -> tuple[float, bool]:
    """
    Returns the mean of the two best values, and whether they agree within the ratio.  A single
    value does not agree.  With `more`, larger is better.  `slack` is a difference that does not
    matter.
    """
    if len(values) == 1:
        return values[0], False
    best, second = sorted(values, reverse=more)[:2]
    low, high = sorted((best, second))
    return (best + second) / 2, high <= max(low * ratio, low + slack)


def enough(runs: int, seconds: float, agree: bool, patience_s: float = PATIENCE_S) -> bool:
    """Returns whether to stop.  A run longer than patience_s is the only one."""
    return runs > 0 and (seconds > patience_s or (runs >= MIN_RUNS and (agree or runs >= MAX_RUNS)))


def usable(figure: dict[str, Any]) -> bool:
    """Returns whether the processors did not move and no other work used them."""
    return transfers.usable(figure) and figure["median_ns"] <= MAX_OF_MIN * max(
        figure["min_ns"], SLACK_NS
    )


def measured(
    launch: Callable[..., Any],
    step: Callable[..., Any],
    patience_s: float = PATIENCE_S,
    holds: Callable[..., Any] = usable,
) -> tuple[dict[Any, float], dict[Any, list[float]]]:
    """
    Runs launch() until its figures agree.  launch() returns pairs of a key and a figure of a
    measuring program; holds(figure): the figure counts.  Returns key -> ns, and key -> all values
    for keys whose values do not agree.
    """
    runs, begin = 0, time.monotonic()
    values: dict[Any, list[float]] = {}
    doubts: dict[Any, list[float]] = {}
    while not enough(runs, time.monotonic() - begin, not doubts, patience_s):
        for key, figure in launch():
            values.setdefault(key, []).extend([figure["median_ns"]] if holds(figure) else [])
        runs += 1
        times = {
            key: settled(some, slack=SLACK_NS) if some else (None, False)
            for key, some in values.items()
        }
        doubts = {key: values[key] for key, (_, agree) in times.items() if not agree}
        step()
    return {key: ns for key, (ns, _) in times.items() if ns is not None}, doubts


def falls(times: dict[Any, Any]) -> list[tuple[Any, Any]]:
    """
    Returns the pairs (smaller, larger) of neighbouring sizes where the larger one took less time,
    by more than figures may differ.  times: {size: ns}.
    """
    there = sorted(size for size, ns in times.items() if ns is not None)
    return [(a, b) for a, b in zip(there, there[1:]) if times[b] * AGREE < times[a]]


def range_text(values: list[float]) -> str:
    if len(values) < 2:
        return f"one figure only, {values[0] / 1000:.3g} us" if values else "no figure counts"
    return f"{min(values) / 1000:.3g} to {max(values) / 1000:.3g} us"
