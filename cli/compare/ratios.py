# SPDX-License-Identifier: BSD-3-Clause
"""
The ratio of two times from pairs of runs, with its interval.  The runs of a pair follow each other,
so a slow change of the machine is in both.
"""

import math
import random
import statistics
from collections import namedtuple

DRAWS, PERCENT = 2000, 95
MIN_PAIRS = 5  # of fewer, the interval of a median of pairs says little

Ratio = namedtuple("Ratio", "value low high")


def of_pairs(pairs):
    """pairs: (without, with).  with / without, and its interval by bootstrap over the pairs."""
    logs = [math.log(b / a) for a, b in pairs if a > 0 and b > 0]
    if not logs:
        return None
    value = math.exp(statistics.median(logs))
    if len(logs) < 2:
        return Ratio(value, None, None)
    source = random.Random(1)
    drawn = sorted(statistics.median(source.choices(logs, k=len(logs))) for _ in range(DRAWS))
    cut = int(DRAWS * (100 - PERCENT) / 200)
    return Ratio(value, math.exp(drawn[cut]), math.exp(drawn[-1 - cut]))


def verdict(ratio, pairs):
    """ "faster", "slower", or None: the difference is noise."""
    if ratio is None or ratio.low is None or pairs < MIN_PAIRS:
        return None
    if ratio.high < 1:
        return "faster"
    return "slower" if ratio.low > 1 else None


def text(ratio):
    if ratio is None:
        return "-"
    if ratio.low is None:
        return f"{ratio.value:.3f}"
    return f"{ratio.value:.3f} ({ratio.low:.3f} to {ratio.high:.3f})"
