# SPDX-License-Identifier: BSD-3-Clause
"""
The ratio of two times from pairs of runs, with its interval.  The runs of a pair follow each other,
so a slow change of the machine is in both.
"""

from __future__ import annotations

import math
import statistics
from collections import namedtuple

from ..common.text import gain_interval_text

PERCENT = 95
MIN_PAIRS = 6  # the range of 5 pairs contains the median with 93.75 % only

Ratio = namedtuple("Ratio", "value low high")


def outside(pairs: int) -> int | None:
    """
    Returns how many of the sorted ratios lie outside the interval on each side, or None for too few
    pairs.  The median is below the k-th of n with the probability that fewer than k of n coins show
    heads (the sign test), for every distribution.
    """
    most, tail, k = (100 - PERCENT) / 200, 0.0, 0
    while tail + math.comb(pairs, k) / 2**pairs <= most:
        tail += math.comb(pairs, k) / 2**pairs
        k += 1
    return k - 1 if k else None


def of_pairs(pairs: list[tuple[float, float]]) -> Ratio | None:
    """
    Returns the median of with / without over (without, with) pairs, and its interval by the sign
    test.
    """
    found = sorted(b / a for a, b in pairs if a > 0 and b > 0)
    if not found:
        return None
    value = math.exp(statistics.median(map(math.log, found)))
    cut = outside(len(found))
    if cut is None:
        return Ratio(value, None, None)
    return Ratio(value, found[cut], found[-1 - cut])


def verdict(ratio: Ratio) -> str | None:
    """Returns "faster", "slower", or None if the difference is noise or there are too few pairs."""
    if ratio is None or ratio.low is None:
        return None
    if ratio.high < 1:
        return "faster"
    return "slower" if ratio.low > 1 else None


def text(ratio: Ratio | None) -> str:
    return "-" if ratio is None else gain_interval_text(*ratio)
