# SPDX-License-Identifier: BSD-3-Clause
"""How well simulated times agree with measured ones: three numbers for a set of calls."""

from __future__ import annotations

import itertools
import statistics
from collections import namedtuple

# bias: geometric mean of simulated / measured.  error: geometric mean of the deviation, a factor of
# at least 1.  tau: Kendall's, of the order of algorithms at a size, mean over the sizes with two
# algorithms or more; None: there is no such size.  low, high: (simulated / measured,
# algorithm, bytes).
Agreement = namedtuple("Agreement", "figures bias error tau low high")


def kendall(pairs: list[tuple[float, float]]) -> float | None:
    """
    Returns Kendall's tau of (measured, simulated) pairs: 1 for the same order, -1 for the reverse.
    Returns None for fewer than two.
    """
    signs = [
        (a[0] - b[0]) * (a[1] - b[1]) for a, b in itertools.combinations(pairs, 2) if a[0] != b[0]
    ]
    if not signs:
        return None
    return sum((sign > 0) - (sign < 0) for sign in signs) / len(signs)


def agreement(
    measured: dict[tuple[str, int], float], simulated: dict[tuple[str, int], float]
) -> Agreement | None:
    """
    Compares {(algorithm, bytes): us} of calls that are in both.  Returns None if there are none.
    """
    both = {key: (us, simulated[key]) for key, us in measured.items() if key in simulated}
    if not both:
        return None
    ratios = {key: there / us for key, (us, there) in both.items()}
    sizes: dict[int, list[tuple[float, float]]] = {}
    for (_, size), pair in both.items():
        sizes.setdefault(size, []).append(pair)
    taus = [tau for tau in map(kendall, sizes.values()) if tau is not None]
    low, high = min(ratios, key=ratios.__getitem__), max(ratios, key=ratios.__getitem__)
    return Agreement(
        len(both),
        statistics.geometric_mean(ratios.values()),
        statistics.geometric_mean(max(ratio, 1 / ratio) for ratio in ratios.values()),
        statistics.mean(taus) if taus else None,
        (ratios[low], *low),
        (ratios[high], *high),
    )
