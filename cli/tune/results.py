# SPDX-License-Identifier: BSD-3-Clause
"""What a run found, a row for each collective, team and size: before, after, best peer."""

from collections import defaultdict, namedtuple

from ..bench.stats import geometric_mean
from .contest import own_median
from .stats import lost

# Times in ns.  ratio: of after to before, over single shots and calls back to back; loop: of these
# alone, or None.  ruled: a rule serves it.  peer, peer_ns: the best; None: none was measured.
Result = namedtuple("Result", "cell before after ratio loop ruled peer peer_ns")


def served(rules):
    """{(collective, team, size): rule}."""
    return {(rule.collective, rule.team, size): rule for rule in rules for size in rule.figures}


def result_of(campaign, cell, rule, figure, against):
    own = own_median(campaign.state.launches(cell)) or campaign.state.own_ns(cell)
    if rule:
        figure = rule.figures[cell.size]
    elif figure and not lost(figure):
        figure = None  # nothing but noise
    before, after, ratio, loop = own, own, 1.0, None
    if figure:
        before, after, ratio = figure.own_ns, figure.ns, figure.ratio
        loop = figure.loop_ns and figure.loop_ns / figure.own_loop_ns
    best = against.best(cell) if against else None
    if best:
        before, after = against.own(cell, bool(figure)) or (before, after)
    peer_ns, peer = best or (None, None)
    return Result(cell, before, after, ratio, loop, bool(rule), peer, peer_ns)


def results(campaign, rules, figures, against=None):
    """Of all cells that were measured, in order.  figures: of the file, where it was measured."""
    by = served(rules)
    return [
        result_of(
            campaign, cell, by.get(tuple(cell)), figures.get(cell) if rules else None, against
        )
        for cell in campaign.cells()
        if campaign.state.has(cell)
    ]


def grouped(found):
    """{(team, collective): results}, in order."""
    groups = defaultdict(list)
    for result in found:
        groups[result.cell.team, result.cell.collective].append(result)
    return groups


def means(some):
    """(after to before, after to the best peer or None): geometric means over sizes."""
    peers = [r.after / r.peer_ns for r in some if r.peer_ns]
    return geometric_mean([r.ratio for r in some]), geometric_mean(peers) if peers else None
