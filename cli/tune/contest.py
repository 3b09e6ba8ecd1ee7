# SPDX-License-Identifier: BSD-3-Clause
"""
Contests: in each cell the candidates that looked best against what serves now, in several launches,
single shots and back to back.

After a launch those that are clearly behind are left out, and cells that are decided.  So the time
goes to those that are close.  What the first look promises most comes first.
"""

import statistics

from ..common.candidates import settings_text
from . import stats
from .parameters import combinations
from ..common.trials import Ended, Plan, Trials, times_of

ENTRIES, MORE, CONTEXTS = 4, 2, 64  # in a cell: of the first look, from elsewhere; in a launch
PROMISE, BEHIND = 0.96, 1.15  # a ratio that is worth a contest; times the best: not worth one
AGREEABLE = 1.1  # at a neighbour's best choice: it may serve both
ROUNDS = 5  # as many launches as time is planned for
ONE, LOOP = (8, 60), (3, 15)  # shots, samples
ONE_PART = 0.6  # of a cell's time, for single shots
LOOP_NS, LOOP_MIN, LOOP_MAX = 1e6, 4, 64  # of a sample; calls of it
CELL_S = 3  # at most, in one launch


def calls_of(own_ns):
    return int(min(LOOP_MAX, max(LOOP_MIN, LOOP_NS / own_ns)))


def one_launch(trials, cell, numbers, seconds, own_ns):
    """(times of single shots, times back to back, line transfers) of candidates by number."""
    answer = trials.compare(
        cell.collective, cell.size, Plan(ONE_PART * seconds, *ONE, 0, True), numbers
    )
    one, loop = times_of(answer), {}
    line = [answer[key] for key in ("line_before_ns", "line_after_ns") if answer[key] >= 0]
    if len(one) > 1 or len(numbers) == 1:
        plan = Plan((1 - ONE_PART) * seconds, *LOOP, calls_of(own_ns), False)
        loop = times_of(trials.compare(cell.collective, cell.size, plan, numbers))
    return one, loop, line


class Contest:
    """A cell, and the labels that are still tried in it."""

    def __init__(self, state, cell, labels):
        self.state, self.cell, self.labels = state, cell, labels
        self.narrow()

    def figures(self):
        return {label: self.state.figure(self.cell, label) for label in self.labels}

    def promise(self):
        """The ratio that it may come to; the smaller, the earlier its turn."""
        ratios = [f.ratio for f in self.figures().values() if f]
        known = self.state.ratios(self.cell)
        return min(ratios or [known[label] for label in self.labels if label in known] or [1.0])

    def order(self):
        return (len(self.state.launches(self.cell)), self.promise())

    def open(self):
        return bool(self.labels) and not stats.decided(list(self.figures().values()))

    def narrow(self):
        """Leaves out those that are behind."""
        launches = self.state.launches(self.cell)
        figures = {label: f for label, f in self.figures().items() if f}
        best = min(figures, key=lambda label: figures[label].ratio, default=None)
        self.labels = [
            label
            for label in self.labels
            if label not in figures
            or not (
                stats.surely_no_better(launches, label)
                or (
                    figures[label].ratio > BEHIND * figures[best].ratio
                    and stats.surely_slower(launches, label, best)
                )
            )
        ]

    def promises(self):
        """It may still come to something."""
        return self.open() and self.promise() <= stats.MARGIN


def entries(group, size, candidates):
    """Labels that enter the contest of a size, the best of the first look first."""
    ratios = group.ratios(size)
    order = sorted(ratios, key=ratios.get)
    if not order:
        return []
    found = [
        label
        for label in order[:ENTRIES]
        if ratios[label] <= PROMISE and ratios[label] <= BEHIND * ratios[order[0]]
    ]
    pairs = combinations([candidates[label] for label in found])[:MORE]
    candidates.update({settings_text(c): c for c in pairs})
    at = group.sizes.index(size)
    for other in (group.sizes[i] for i in (at - 1, at + 1) if 0 <= i < len(group.sizes)):
        theirs = group.ratios(other)
        best = min(theirs, key=theirs.get, default=None)
        if best and theirs[best] <= PROMISE and ratios.get(best, AGREEABLE + 1) <= AGREEABLE:
            found.append(best)
    return list(dict.fromkeys([*found, *map(settings_text, pairs)]))


def prepare(campaign):
    """All contests."""
    found = []
    for group in campaign.groups():
        known = campaign.candidates[group.team, group.collective]
        known.update({settings_text(c): c for c in group.candidates})
        for size in group.sizes:
            if campaign.state.has(group.cell(size)):
                labels = entries(group, size, known)
                found.append(Contest(campaign.state, group.cell(size), labels))
    return [contest for contest in found if contest.labels]


def fitting(contests):
    """Those of a team that one launch can hold, by order; and their labels."""
    chosen, labels = [], {}
    for contest in sorted(contests, key=Contest.order):
        more = [label for label in contest.labels if label not in labels]
        if len(labels) + len(more) < CONTEXTS:
            chosen.append(contest)
            labels.update({label: len(labels) + 1 + i for i, label in enumerate(more)})
    return chosen, labels


def launch(campaign, team, contests, share):
    """share: of what is left of the time."""
    budget, state = campaign.budget, campaign.state
    chosen, numbers = fitting(contests)
    texts = [campaign.before, *(f"{campaign.before}\n{label}" for label in numbers)]
    weights = [campaign.weight(c.cell) * (1 + len(c.labels)) for c in chosen]
    try:
        with Trials(campaign.layout, team, texts, lambda: budget.left("contest")) as trials:
            end = budget.now() + share * budget.left("contest")  # after the start, which takes long
            for i, contest in enumerate(chosen):
                left = end - budget.now()
                if left <= 0:
                    break
                seconds = min(CELL_S, left * weights[i] / sum(weights[i:]))
                which = {0: stats.OWN, **{numbers[label]: label for label in contest.labels}}
                own_ns = state.own_ns(contest.cell)
                one, loop, line = one_launch(trials, contest.cell, list(which), seconds, own_ns)
                state.add(
                    contest.cell,
                    *({which[n]: ns for n, ns in way.items()} for way in (one, loop)),
                    line,
                )
                contest.narrow()
                state.save_sometimes()
    except Ended as trouble:
        campaign.failed("contest", team, trouble)
    state.save()


def contest(campaign, progress):
    """Returns the contests that the time did not decide."""
    everything = prepare(campaign)
    for turn in range(2 * ROUNDS):
        still = [c for c in everything if c.open()]
        teams = [team for team in campaign.teams if any(c.cell.team == team for c in still)]
        for i, team in enumerate(teams):
            if campaign.budget.left("contest") <= 0:
                break
            mine = [c for c in still if c.cell.team == team]
            progress.stage(f"contests, launch {turn + 1}: {len(mine)} sizes; {team.ranks} ranks")
            rest = len(teams) - i + len(teams) * max(0, ROUNDS - turn - 1)
            launch(campaign, team, mine, 1 / rest)
        if not teams or campaign.budget.left("contest") <= 0:
            break
    return [c for c in everything if c.promises()]


def own_median(launches):
    medians = [
        statistics.median(one["one"][stats.OWN]) for one in launches if one["one"].get(stats.OWN)
    ]
    return statistics.median(medians) if medians else None
