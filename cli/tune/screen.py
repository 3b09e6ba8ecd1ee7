# SPDX-License-Identifier: BSD-3-Clause
"""
The first look at every cell (a collective, a team, a size): all candidates in turn, a few shots;
then the better third of them, more shots.

Every second size sees all candidates.  The sizes between see those that came near the best at a
neighbour.  What this finds is kept as ratios to what serves now; a contest decides (contest.py).
"""

from ..common.candidates import HOPELESS, HOPELESS_BYTES, differs, settings_text
from . import grid
from .parameters import singles
from .state import Cell
from .trials import Ended, Plan, Trials, times_of

OWN = 0  # the candidate that serves now; it is in every comparison
CONTEXTS = 64  # of one launch
FIRST, SECOND = (1, 5), (3, 12)  # shots of each
PART, KEEP = 3, 6  # of the candidates that go on; at least so many
NEAR = 1.4  # of the best at a neighbour: worth trying


def early(times):
    """Of sorted times one below the median: with few shots, other work spoils it less."""
    return times[len(times) // 3]


def ratios_of(answer):
    """{candidate's number: ratio to what serves now}, without it; None: it was not measured."""
    times = times_of(answer)
    own = times.pop(OWN, None)
    return {number: early(ns) / early(own) for number, ns in times.items()} if own else None


def batches(candidates):
    """Collectives whose candidates are set up together.  candidates: collective -> list."""
    found, count = [], CONTEXTS
    for collective, some in candidates.items():
        if count + len(some) > CONTEXTS:
            found.append([])
            count = 0
        found[-1].append(collective)
        count += len(some)
    return found


class Group:
    """A team and a collective: its candidates, and which numbers they have in a launch."""

    def __init__(self, campaign, team, collective):
        self.campaign, self.team, self.collective = campaign, team, collective.name
        self.sizes = campaign.sizes(team, collective)
        self.bounds = campaign.bounds(team, collective)
        self.candidates = singles(
            campaign.layout, collective.name, team.ranks, campaign.options.baselines
        )
        self.first = None

    def cell(self, size):
        return Cell(self.collective, self.team, size)

    def ratios(self, size):
        return self.campaign.state.ratios(self.cell(size))

    def weight(self, size):
        numbers = self.numbers(size, all_if_unknown=True)
        return (1 + len(numbers)) * self.campaign.weight(self.cell(size))

    def coarse(self, size):
        return self.sizes.index(size) % 2 == 0

    def near_best(self, size):
        ratios = self.ratios(size)
        best = min(ratios.values(), default=0)
        return {label for label, ratio in ratios.items() if ratio <= NEAR * best}

    def numbers(self, size, all_if_unknown=False):
        """Which candidates (1, 2, ...) to measure at a size."""
        at = self.sizes.index(size)
        if not self.coarse(size):
            neighbours = [self.sizes[i] for i in (at - 1, at + 1) if 0 <= i < len(self.sizes)]
            labels = set().union(*(self.near_best(other) for other in neighbours))
            known = [n for n, c in enumerate(self.candidates, 1) if settings_text(c) in labels]
            if known:
                return known
            if all_if_unknown:
                return range(8)
        before = max((s for s in self.sizes if s < size and self.coarse(s)), default=0)
        return [
            number
            for number, candidate in enumerate(self.candidates, 1)
            if differs(candidate, size, self.candidates) and not self.hopeless(candidate, before)
        ]

    def hopeless(self, candidate, before):
        """From 64K on, what was half as fast as the best at the size before is left out."""
        ratios = self.ratios(before)
        if before < HOPELESS_BYTES or settings_text(candidate) not in ratios:
            return False
        return ratios[settings_text(candidate)] > HOPELESS * min(ratios.values())

    # ---- measuring ----

    def measure(self, trials, size, seconds):
        """Returns whether it was measured."""
        numbers = [self.first + number - 1 for number in self.numbers(size)]
        ratios, line = self.halve(trials, size, seconds, numbers)
        if ratios is None:
            return False
        own_ns, ratios = ratios
        labels = {
            settings_text(self.candidates[number - self.first]): ratio
            for number, ratio in ratios.items()
        }
        self.campaign.state.put(self.cell(size), own_ns, labels, line)
        return True

    def halve(self, trials, size, seconds, numbers):
        """((time of what serves now, ratios) or None, line transfers)."""
        found, line, own_ns = {}, [], None
        for (low, high), labelled in ((FIRST, False), (SECOND, True)):
            plan = Plan(seconds / 2, low, high, 0, labelled)
            answer = trials.compare(self.collective, size, plan, [OWN, *numbers])
            ratios = ratios_of(answer)
            if ratios is None:
                break
            own_ns = early(times_of(answer)[OWN])
            line += [answer[key] for key in ("line_before_ns", "line_after_ns") if answer[key] >= 0]
            found.update(ratios)
            order = sorted(ratios, key=ratios.get)
            numbers = order[: max(KEEP, len(order) // PART)]
        if own_ns is None:
            return None, line
        return (own_ns, found), line


def orders(groups):
    """(group, size) of a launch, coarse sizes first."""
    work = [
        (size, group)
        for group in groups
        for size in group.sizes
        if not group.campaign.state.has(group.cell(size))
    ]
    place = {
        (group.collective, size): i
        for group in groups
        for i, size in enumerate(grid.coarse_first(group.sizes))
    }
    return sorted(work, key=lambda pair: place[pair[1].collective, pair[0]])


def measure_batch(campaign, groups, rest, progress):
    """One launch.  rest: the weight of what is screened after it."""
    work, budget = orders(groups), campaign.budget
    mine = sum(group.weight(size) for size, group in work)
    texts = [campaign.before]
    for group in groups:
        group.first = len(texts)
        texts += [f"{campaign.before}\n{settings_text(c)}" for c in group.candidates]
    try:
        with Trials(
            campaign.layout, groups[0].team, texts, lambda: budget.left("screen")
        ) as trials:
            end = budget.now() + budget.left("screen") * mine / (mine + rest)
            for size, group in work:
                left, weight = end - budget.now(), group.weight(size)
                if left <= 0:
                    break
                group.measure(trials, size, min(left, left * weight / max(weight, mine)))
                mine -= weight
                campaign.state.save_sometimes()
                progress.step()
    except Ended as trouble:
        campaign.failed("screen", groups[0].team, trouble)
    campaign.state.save()


def screen(campaign, progress):
    """Measures what was not measured yet, as long as there is time."""
    found = []
    for team in campaign.teams:
        groups = {
            group.collective: group
            for group in campaign.groups()
            if group.team == team and orders([group])
        }
        for batch in batches({name: group.candidates for name, group in groups.items()}):
            found.append([groups[name] for name in batch])
    weights = [sum(group.weight(size) for size, group in orders(batch)) for batch in found]
    for i, batch in enumerate(found):
        if campaign.budget.left("screen") <= 0:
            break
        names = ", ".join(group.collective for group in batch)
        progress.stage(f"first look: {names}; {batch[0].team.ranks} ranks")
        measure_batch(campaign, batch, sum(weights[i + 1 :]), progress)
