# SPDX-License-Identifier: BSD-3-Clause
"""Medians, intervals and ratios from the figures of repeated launches.

Figures are compared only within one class of line transfer.  The processors of a virtual machine
may move; then it behaves like several machines, and a ratio across them means nothing.
"""

from __future__ import annotations

import random
import statistics
from collections import defaultdict, namedtuple
from typing import Any

from ..common.transfers import ANY, CLASSES, class_of, usable

DRAWS, PERCENT = 1000, 95
# Launches that an interval needs.  The true median is beyond the extremes of n values with a chance
# of 2^(1-n).  So an interval of 2, 3 or 4 launches covers 50, 75 or 87.5 % at most, one of 5 94 %.
MIN_LAUNCHES = 5
BARRIERS = "barrier", "ibarrier"  # collectives whose calls have no size
BARE = "bare"  # the variant that is neither huddle nor a peer: the limit

# One figure of a variant, over its launches.  low and high: None with fewer than MIN_LAUNCHES.
# turn: the variant's position.  min, mean, max: of the calls of all launches.
Cell = namedtuple(
    "Cell", "median_ns low_ns high_ns p99_ns min_ns mean_ns max_ns cpu_ns launches turn"
)
Ratio = namedtuple("Ratio", "value low high")
# A line of a table.  cells: variant -> Cell; best: the best peer's name, None without one; ratios:
# variant of huddle's -> Ratio to it.  line_ns: None: it could not be measured.
Row = namedtuple("Row", "ranks bind collective bytes line line_ns cells best ratios")


def interval(draw: Any) -> tuple[float | None, float | None]:
    """
    Returns the middle PERCENT of DRAWS values of draw().  Every call passes the same random
    numbers.
    """
    source = random.Random(1)
    values = sorted(draw(source) for _ in range(DRAWS))
    cut = int(DRAWS * (100 - PERCENT) / 200)
    return values[cut], values[-1 - cut]


def redraw(values: list[float], source: Any) -> float:
    return statistics.median(source.choices(values, k=len(values)))


def median_interval(values: list[float]) -> tuple[float | None, float | None]:
    """Returns the bootstrap interval over the launches, or (None, None) if there are too few."""
    if len(values) < MIN_LAUNCHES:
        return None, None
    return interval(lambda source: redraw(values, source))


def ratio_of(ours: list[float], theirs: list[float]) -> Ratio:
    value = statistics.median(ours) / statistics.median(theirs)
    if min(len(ours), len(theirs)) < MIN_LAUNCHES:
        return Ratio(value, None, None)
    return Ratio(value, *interval(lambda source: redraw(ours, source) / redraw(theirs, source)))


def cell_of(figures: list[dict[str, Any]], turn: int) -> Cell:
    medians = [f["median_ns"] for f in figures]
    return Cell(
        statistics.median(medians),
        *median_interval(medians),
        statistics.median(f["p99_ns"] for f in figures),
        min(f["min_ns"] for f in figures),
        statistics.fmean(f["mean_ns"] for f in figures),
        max(f["max_ns"] for f in figures),
        statistics.median(f["cpu_ns"] for f in figures),
        len(figures),
        turn,
    )


def best_ring(figures: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """
    Returns the bare ring's figures of the fragment and number of buffers that are fastest at this
    size.
    """
    rings = defaultdict(list)
    for figure in figures:
        rings[figure.get("ring")].append(figure)
    return min(rings.values(), key=lambda some: statistics.median(f["median_ns"] for f in some))


def grouped(samples: list[dict[str, Any]]) -> dict[Any, Any]:
    """Returns {(ranks, bind, collective, bytes, class): {variant: [figure]}}."""
    groups: defaultdict[Any, defaultdict[Any, list[Any]]] = defaultdict(lambda: defaultdict(list))
    for sample in samples:
        if usable(sample):
            groups[
                sample["ranks"],
                sample["bind"],
                sample["collective"],
                sample["bytes"],
                class_of(sample),
            ][sample["variant"]].append(sample)
    for variants in groups.values():
        variants.update({BARE: best_ring(variants[BARE])} if BARE in variants else {})
    return dict(groups)


def order(key: tuple[int, str, str, int, str]) -> tuple[int, str, str, int, int]:
    ranks, bind, collective, size, line = key
    return (ranks, bind, collective, [*(name for name, _ in CLASSES), ANY].index(line), size)


def row_of(
    key: tuple[int, str, str, int, str],
    variants: dict[str, list[dict[str, Any]]],
    turns: dict[str, int],
    ours: list[str],
    peers: list[Any],
) -> Row:
    """
    Returns the row of a group.  `turns` has every variant's place; `ours` and `peers` are names of
    variants.
    """
    medians = {name: [f["median_ns"] for f in figures] for name, figures in variants.items()}
    here = [name for name in peers if name in medians]
    best = min(here, key=lambda name: statistics.median(medians[name])) if here else None
    lines = [
        ns
        for figures in variants.values()
        for f in figures
        for ns in (f["line_before_ns"], f["line_after_ns"])
        if ns >= 0
    ]
    return Row(
        *key,
        statistics.median(lines) if lines else None,
        {
            name: cell_of(variants[name], turns[name])
            for name in sorted(variants, key=turns.__getitem__)
        },
        best,
        {name: ratio_of(medians[name], medians[best]) for name in ours if best and name in medians},
    )


def rows_of(
    samples: list[dict[str, Any]], ours: list[str], peers: list[Any]
) -> tuple[list[Row], int]:
    """
    Returns the rows of samples, and the number of samples without a class.  A sample is a figure of
    the measuring program with ranks, bind and variant.
    """
    groups, turns = (
        grouped(samples),
        {name: i for i, name in enumerate(dict.fromkeys(s["variant"] for s in samples))},
    )
    rows = [row_of(key, groups[key], turns, ours, peers) for key in sorted(groups, key=order)]
    return rows, sum(class_of(s) is None for s in samples)


def panels(rows: list[Row]) -> list[tuple[tuple[int, str, str], list[Row]]]:
    """Returns [((ranks, bind, line), rows)] in order."""
    found = defaultdict(list)
    for row in rows:
        found[row.ranks, row.bind, row.line].append(row)
    return list(found.items())


def summaries(rows: list[Row]) -> list[Any]:
    """
    Returns (ranks, bind, collective, class, variant, mean, sizes) of collectives with several
    sizes.  The mean is geometric, of the ratios to each size's best peer.
    """
    found = defaultdict(list)
    for row in rows:
        for name, ratio in row.ratios.items():
            found[row.ranks, row.bind, row.collective, row.line, name].append(ratio.value)
    return [
        (*key, statistics.geometric_mean(values), len(values))
        for key, values in found.items()
        if len(values) > 1
    ]
