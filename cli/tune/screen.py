# SPDX-License-Identifier: BSD-3-Clause
"""
The first look at every cell (a collective, a team, a size), all candidates in turn, a few shots.

First all algorithms with their presets, everywhere; then the other values of parameters, of those
algorithms that came near the best at that size.  What this finds is kept as ratios to what serves
now; a contest decides (contest.py).
"""

from collections import namedtuple

from ..common.candidates import differs, settings_text
from . import grid
from .parameters import singles
from .state import Cell
from ..common.trials import Ended, Plan, Trials, times_of

OWN = 0  # the candidate that serves now; it is in every comparison
CONTEXTS = 64  # of one launch
CALLS = 2  # in a row, whose data a window may hold at once
FIRST, SECOND = (1, 5), (3, 12)  # shots of each
PART, KEEP = 3, 6  # of the candidates that go on; at least so many
NEAR = 1.6  # times the best: other parameters may make it the best
NEIGHBOUR = 1.3  # times the best at a neighbour: worth trying
ALGORITHMS = 0.45  # of the time, for the presets


def early(times):
    """Of sorted times one below the median: with few shots, other work spoils it less."""
    return times[len(times) // 3]


def ratios_of(answer):
    """{candidate's number: ratio to what serves now}, without it; None: it was not measured."""
    times = times_of(answer)
    own = times.pop(OWN, None)
    return {number: early(ns) / early(own) for number, ns in times.items()} if own else None


class Group:
    """A team and a collective: its candidates, and which numbers they have in a launch."""

    def __init__(self, campaign, team, collective):
        self.campaign, self.team, self.collective = campaign, team, collective.name
        self.sizes = campaign.sizes(team, collective)
        self.bounds = campaign.bounds(team, collective)
        self.blocks = collective.blocks
        self.candidates = singles(
            campaign.algorithms,
            collective.name,
            team.ranks,
            campaign.options.baselines,
            campaign.built_in[collective.name][team],
            campaign.lease,
        )

    def cell(self, size):
        return Cell(self.collective, self.team, size)

    def ratios(self, size):
        return self.campaign.state.ratios(self.cell(size))

    # ---- what to measure: numbers of candidates ----

    def presets(self, _size):
        return [n for n, c in enumerate(self.candidates) if not c.values]

    def window(self, size):
        """Up to so many bytes of a rank's window make a difference: the data of two calls."""
        return CALLS * grid.bytes_of_rank(self.team, size, self.blocks)

    def differs(self, candidate, size):
        return differs(candidate, size, self.candidates, {"budget": self.window(size)})

    def near(self, size):
        """Algorithms."""
        ratios = self.ratios(size)
        best = min(ratios.values(), default=0)
        return {
            c.algorithm
            for c in self.candidates
            if not c.values and ratios.get(settings_text(c), best) <= NEAR * best
        }

    def variants(self, size):
        """Between two sizes that have been measured, only what is good at one of them."""
        near = self.near(size) if self.ratios(size) else set()
        found = [
            n
            for n, c in enumerate(self.candidates)
            if c.values and c.algorithm in near and self.differs(c, size)
        ]
        at = self.sizes.index(size)
        around = [s for s in self.sizes[max(0, at - 1) : at + 2] if s != size]
        if at % 2 == 0 or not all(self.looked(other, VARIANTS) for other in around):
            return found
        good = set().union(*(self.best_at(other) for other in around))
        return [n for n in found if settings_text(self.candidates[n]) in good]

    def best_at(self, size):
        ratios = self.ratios(size)
        best = min(ratios.values(), default=0)
        return {label for label, ratio in ratios.items() if ratio <= NEIGHBOUR * best}

    def looked(self, size, look):
        return self.campaign.state.looked(self.cell(size), look.name)

    def used(self, look):
        """Candidates of any size."""
        return sorted(set().union(*(look.numbers(self, size) for size in self.sizes)))

    def weight(self, size, look):
        return (1 + len(look.numbers(self, size))) * self.campaign.weight(self.cell(size))

    # ---- measuring ----

    def measure(self, trials, size, seconds, look, places):
        """places: of candidates, by number, in the launch."""
        numbers = [places[self.collective, n] for n in look.numbers(self, size)]
        result, line = self.halve(trials, size, seconds, numbers) if numbers else ((None, {}), [])
        if result is None:
            return
        labels = {
            place: settings_text(self.candidates[n])
            for (c, n), place in places.items()
            if c == self.collective
        }
        own_ns, ratios = result
        self.campaign.state.put(
            self.cell(size), look.name, own_ns, {labels[n]: r for n, r in ratios.items()}, line
        )

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


# numbers: of a group's candidates at a size.
Look = namedtuple("Look", "name numbers words")
PRESETS = Look("presets", Group.presets, "algorithms")
VARIANTS = Look("variants", Group.variants, "parameters")


def orders(groups, look):
    """(size, group) of a launch, coarse sizes first."""
    work = [
        (size, group)
        for group in groups
        for size in group.sizes
        if not group.looked(size, look)
        and (look is PRESETS or group.campaign.state.has(group.cell(size)))
    ]
    place = {
        (group.collective, size): i
        for group in groups
        for i, size in enumerate(grid.coarse_first(group.sizes))
    }
    return sorted(work, key=lambda pair: place[pair[1].collective, pair[0]])


def batches(groups, look):
    """Groups whose candidates are set up in one launch."""
    found, count = [], CONTEXTS
    for group in groups:
        some = len(group.used(look))
        if count + some > CONTEXTS:
            found.append([])
            count = 0
        found[-1].append(group)
        count += some
    return found


def measure_batch(campaign, groups, look, share, progress):
    """One launch.  share: of the time left to this look."""
    work, budget, texts, places = orders(groups, look), campaign.budget, [campaign.before], {}
    for group in groups:
        for n in group.used(look):
            places[group.collective, n] = len(texts)
            texts.append(f"{campaign.before}\n{settings_text(group.candidates[n])}")
    try:
        with Trials(
            campaign.layout, groups[0].team, texts, lambda: budget.left("screen")
        ) as trials:
            end = budget.now() + share * budget.left("screen")
            weights = [group.weight(size, look) for size, group in work]
            ahead = sum(weights)
            for (size, group), weight in zip(work, weights):
                left = end - budget.now()
                if left <= 0:
                    break
                group.measure(trials, size, left * min(1, weight / ahead), look, places)
                ahead -= weight
                campaign.state.save_sometimes()
                progress.step()
    except Ended as trouble:
        campaign.failed("screen", groups[0].team, trouble)
    campaign.state.save()


def take_look(campaign, look, part, progress):
    """part: of the time left that this look may use."""
    found, begin_s = [], campaign.budget.left("screen")
    for team in campaign.teams:
        mine = [g for g in campaign.groups() if g.team == team and orders([g], look)]
        mine = [g for g in mine if g.used(look)]
        found += batches(mine, look)
    weights = [sum(group.weight(s, look) for s, group in orders(batch, look)) for batch in found]
    for i, batch in enumerate(found):
        left = campaign.budget.left("screen")
        mine = left - (1 - part) * begin_s  # of this look
        if mine <= 0:
            break
        names = ", ".join(group.collective for group in batch)
        progress.stage(f"first look, {look.words}: {names}; {batch[0].team.ranks} ranks")
        share = mine / left * weights[i] / sum(weights[i:])
        measure_batch(campaign, batch, look, share, progress)


def screen(campaign, progress):
    """
    Measures what was not measured yet, as long as there is time.  What a busy machine left out of
    the first turn has a second one.
    """
    for _ in range(2):
        take_look(campaign, PRESETS, ALGORITHMS, progress)
    take_look(campaign, VARIANTS, 1, progress)
