# SPDX-License-Identifier: BSD-3-Clause
"""
Choices from times: which candidate is better than huddle's own choice, and which ranges of sizes
share a candidate.
"""

import math
import statistics
from collections import namedtuple

MARGIN, SIGNIFICANCE, LEVEL = (
    0.95,
    0.01,
    1.02,
)  # better: below MARGIN of the other, and by chance seldom; level: not worse
SWITCH = -math.log(0.97)  # what another choice must gain at least, over the sizes that it serves

# Of a candidate at one size: its median, that of huddle's own choice measured in turn with it,
# shots of it, whether it is better.
Figure = namedtuple("Figure", "ns own_ns shots better")
# Sizes number first..last share a choice; label None: huddle's own.
Piece = namedtuple("Piece", "label first last")


def chance(low, high):
    """
    The probability that `low` has by chance as many pairs below `high` (the rank-sum test of Mann,
    Whitney and Wilcoxon, normal approximation).
    """
    pairs = len(low) * len(high)
    below = sum(a < b for a in low for b in high) + sum(a == b for a in low for b in high) / 2
    spread = math.sqrt(pairs * (len(low) + len(high) + 1) / 12)
    return math.erfc((below - pairs / 2) / spread / math.sqrt(2)) / 2 if spread else 1.0


def figure_of(times, own):
    ns, own_ns = statistics.median(times), statistics.median(own)
    return Figure(
        ns, own_ns, len(times), ns <= MARGIN * own_ns and chance(times, own) <= SIGNIFICANCE
    )


def best_half(times, keep):
    """The labels of the lower medians, at least `keep` of them.  times: label -> times."""
    order = sorted(times, key=lambda label: statistics.median(times[label]))
    return order[: max(keep, (len(order) + 1) // 2)]


def cost(figure):
    """
    The logarithm of the ratio of a choice's time to that of huddle's own choice; infinite if it is
    worse, or was not measured.
    """
    if figure is None or figure.ns > LEVEL * figure.own_ns:
        return math.inf
    return math.log(figure.ns / figure.own_ns) if figure.better else 0.0


def choose(figures):
    """
    The list of Piece of minimum cost over the sizes; each switch has a cost.  figures: for each
    size, in order, label -> Figure.
    """
    labels = [None, *sorted({label for size in figures for label in size})]
    best = {None: (0.0, [])}
    for size in figures:
        step = {}
        for label in labels:
            paid, way = min(
                ((paid + SWITCH * (before != label), way) for before, (paid, way) in best.items()),
                key=lambda pair: pair[0],
            )
            step[label] = (paid + (0.0 if label is None else cost(size.get(label))), [*way, label])
        best = step
    path = min(best.values(), key=lambda pair: pair[0])[1]
    return pieces(path)


def pieces(path):
    """[a, a, b] -> [Piece(a, 0, 1), Piece(b, 2, 2)]"""
    found = []
    for i, label in enumerate(path):
        if found and found[-1].label == label:
            found[-1] = found[-1]._replace(last=i)
        else:
            found.append(Piece(label, i, i))
    return found


def gain(figures):
    """Geometric mean of the ratios to huddle's own choice."""
    return math.exp(statistics.fmean(math.log(figure.ns / figure.own_ns) for figure in figures))


def holds(figures):
    """
    Whether a choice that was measured again, as the file has it, is worth its rule: better on the
    whole, and worse nowhere.
    """
    return (
        gain(figures) <= MARGIN
        and 2 * sum(f.better for f in figures) >= len(figures)
        and all(MARGIN * f.ns <= f.own_ns for f in figures)
    )
