# SPDX-License-Identifier: BSD-3-Clause
"""
Choices from times: which candidate is better than what serves now, and which ranges of sizes share
a candidate.

A launch is {"one": {label: times}, "loop": {label: times}} of one start of the processes: single
shots, and calls back to back.  The label OWN is what serves now, measured in turn with the others.
Launches differ more than turns within one, so only ratios within a launch count, and a candidate
must be better in nearly all of them.

A chance here is that of the shots, as if all of them were independent.  Those of a launch are not,
so the real chance of a wrong choice is larger: docs/tuning.md has it.  There is time for few
launches, and few allow no sharper test: a candidate that is as fast wins both of two once in four
times.
"""

import math
import statistics
from collections import namedtuple

OWN = ""
# better: at most MARGIN of the other, with a chance of at most SIGNIFICANCE in one of the two ways
# of measuring, and in neither of them worse than WORSE.  level: not worse.
MARGIN, SIGNIFICANCE, LEVEL, WORSE = 0.95, 0.01, 1.02, 1.05
SWITCH = -math.log(0.95)  # what another choice must gain at least, over the sizes that it serves
PARAMETER = 0.01  # what a parameter that is not the preset must gain
LAUNCHES = 2  # that a choice needs at least
RARE = 1e-4  # the chance, by its shots, of a size that is said to have lost
DOUBT = 0.05  # the same of a candidate that is given up, and of a size that is taken out of a rule
ENOUGH = 6  # launches after which a candidate that is not better yet is given up

# Of a candidate at one size: its time and that of what serves now, which is a median over
# launches; the same back to back, or None; the ratio over both (median, minimum and maximum over
# launches); launches; whether it is better; the
# chance that it only seems to be slower.
Figure = namedtuple("Figure", "ns own_ns loop_ns own_loop_ns ratio low high launches better chance")
# Sizes number first..last share a choice; label None: what serves now.
Piece = namedtuple("Piece", "label first last")


def chance(low, high):
    """
    The probability that `low` has by chance as many pairs below `high`, if all of them are
    independent (the rank-sum test of Mann, Whitney and Wilcoxon, normal approximation).
    """
    pairs = len(low) * len(high)
    below = sum(a < b for a in low for b in high) + sum(a == b for a in low for b in high) / 2
    spread = math.sqrt(pairs * (len(low) + len(high) + 1) / 12)
    return math.erfc((below - pairs / 2) / spread / math.sqrt(2)) / 2 if spread else 1.0


def ratio_within(launch, way, label):
    """Of medians; None: one of the two was not measured."""
    times = launch[way]
    if not times.get(label) or not times.get(OWN):
        return None
    return statistics.median(times[label]) / statistics.median(times[OWN])


def ratio_of(launch, label):
    """Over both ways, or the one there is; None: neither."""
    ratios = [r for r in (ratio_within(launch, way, label) for way in ("one", "loop")) if r]
    return math.exp(statistics.fmean(map(math.log, ratios))) if ratios else None


def median_over(launches, way, label):
    medians = [statistics.median(l[way][label]) for l in launches if l[way].get(label)]
    return statistics.median(medians) if medians else None


def scaled(launches, way, label):
    """Times of all launches, each as a multiple of the median of what serves now."""
    return [
        ns / statistics.median(launch[way][OWN])
        for launch in launches
        if launch[way].get(OWN)
        for ns in launch[way].get(label, ())
    ]


def unlikely_by_chance(launches, label):
    """The shots scatter too little for it.  That launches differ is not counted."""
    for way in ("one", "loop"):
        ours, own = scaled(launches, way, label), scaled(launches, way, OWN)
        if ours and own and chance(ours, own) <= SIGNIFICANCE:
            return True
    return False


def agree(ratios):
    """Below 1 in all launches; of five and more, in all but a fifth."""
    return sum(ratio >= 1 for ratio in ratios) <= len(ratios) // 5


def figure_of(launches, label):
    """None: no launch has both."""
    launches = [launch for launch in launches if ratio_of(launch, label)]
    ratios = [ratio_of(launch, label) for launch in launches]
    if not ratios:
        return None
    ratio = statistics.median(ratios)
    ways = [
        [r for r in (ratio_within(launch, way, label) for launch in launches) if r]
        for way in ("one", "loop")
    ]
    better = (
        len(ratios) >= LAUNCHES
        and ratio <= MARGIN
        and agree(ratios)
        and all(statistics.median(way) <= WORSE for way in ways if way)
        and unlikely_by_chance(launches, label)
    )
    own = [median_over(launches, way, OWN) for way in ("one", "loop")]
    ours = [ns * statistics.median(way) if way else None for ns, way in zip(own, ways)]
    return Figure(
        ours[0],
        own[0],
        ours[1],
        own[1] if ours[1] else None,
        ratio,
        min(ratios),
        max(ratios),
        len(ratios),
        better,
        chance(scaled(launches, "one", OWN), scaled(launches, "one", label)),
    )


def surely_no_better(launches, label):
    """Whether more launches would hardly make it better: the times tell, few as they may be."""
    figure = figure_of(launches, label)
    return bool(figure) and figure.ratio >= 1 and surely_slower(launches, label, OWN, MARGIN)


def surely_slower(launches, label, other, part=1):
    """Than so much of the other's time."""
    theirs = [part * ns for ns in scaled(launches, "one", other)]
    return chance(theirs, scaled(launches, "one", label)) <= DOUBT


def hopeless(figure):
    """Whether so many launches have decided that it is not better."""
    return figure is not None and figure.launches >= ENOUGH


def decided(figures):
    """Of a size: one is better, or none will be.  figures: of all candidates that are tried."""
    measured = [figure for figure in figures if figure]
    return len(measured) == len(figures) and (
        any(figure.better for figure in measured) or all(map(hopeless, measured))
    )


def cost(label, figure):
    """
    The logarithm of the ratio of a choice's time to that of what serves now, and a little for each
    parameter; infinite if it is worse, or was not measured.
    """
    if figure is None or figure.ratio > LEVEL:
        return math.inf
    return PARAMETER * label.count("\n") + (math.log(figure.ratio) if figure.better else 0.0)


def choose(figures, wide=False):
    """
    The list of Piece of minimum cost over the sizes; each switch has a cost.  figures: for each
    size, in order, label -> Figure.  wide: of equal costs, the pieces that serve the most sizes.
    """
    labels = [None, *sorted({label for size in figures for label in size})]
    stay = 1.1 * PARAMETER if wide else 0.0
    best = {None: (0.0, [])}
    for size in figures:
        step = {}
        for label in labels:
            paid, way = min(
                ((paid + SWITCH * (before != label), way) for before, (paid, way) in best.items()),
                key=lambda pair: pair[0],
            )
            step[label] = (
                paid + (stay if label is None else cost(label, size.get(label))),
                [*way, label],
            )
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


def mean_ratio(figures):
    """Geometric mean of the ratios to what serves now."""
    return math.exp(statistics.fmean(math.log(figure.ratio) for figure in figures))


def worse(figure):
    """In one of the two ways of calling, by more than a choice may be."""
    ways = ((figure.ns, figure.own_ns), (figure.loop_ns, figure.own_loop_ns))
    return any(ns > WORSE * own for ns, own in ways if ns and own)


def enough(figure):
    """Whether so many launches have it that it can be judged."""
    return bool(figure and figure.ns) and figure.launches >= LAUNCHES


def harmed(figure):
    """Worse, in all launches, and hardly by the scatter of shots."""
    return enough(figure) and worse(figure) and figure.low > 1 and figure.chance <= DOUBT


def holds(figure):
    """Whether a rule may serve the size, be it better there or only as good."""
    return enough(figure) and not worse(figure)


def lost(figure):
    """Of many sizes that are looked at, chance makes some seem harmed: this one is."""
    return figure.launches >= LAUNCHES and figure.low >= WORSE and figure.chance <= RARE


def pays(figures):
    """
    Whether a rule that was measured again, as the file has it, is better on the whole, and worse
    nowhere.  A size that only seems to be better counts as one where nothing changes.
    """
    some = list(figures)
    if not some or not all(map(holds, some)):
        return False
    return (
        mean_ratio(f if f.better else f._replace(ratio=max(1.0, f.ratio)) for f in some) <= MARGIN
    )
