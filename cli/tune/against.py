# SPDX-License-Identifier: BSD-3-Clause
"""
The MPIs of this machine as they are, and huddle before and after, launch by launch in turn, in the
programs of huddle bench.
"""

import json
import statistics
from collections import defaultdict

from ..bench import variants
from ..common import jobs, launching, peers
from ..common.layout import Trouble
from .grid import coarse_first
from .state import Cell

BEFORE, AFTER, ALL = "before", "after", "all"
FIGURE = ("--figure-ms", "8", "--min", "5", "--max", "200", "--unlabelled")
SMALL = 8  # sizes of one launch
LEAST_S = 3  # a launch with less time is not begun


class Against:
    """figures: (cell, variant's name) -> medians of launches."""

    def __init__(self, campaign):
        self.campaign, self.layout = campaign, campaign.layout
        self.figures, self.lost = defaultdict(list), set()
        self.variants = self.chosen(campaign.options.against)

    def chosen(self, text):
        launching.check_launcher(self.layout)
        found = peers.find(self.layout, [], f"{self.layout.prefix}/peers")
        if not found:
            raise Trouble(f"--against {text}: no MPI found (no mpirun or mpiexec on PATH)")
        names = list(found) if text == ALL else text.split(",")
        some = [variants.peer_of(name, found) for name in names]
        for name, variant in zip(names, some):
            if isinstance(variant, str):
                raise Trouble(f"--against {variant}", 2)
            variants.program(self.layout, variant)
        host = found.get(names[0].partition("-")[0]) or next(iter(found.values()))
        for name in (BEFORE, AFTER):
            some.append(variants.Variant(name, "huddle", host, {}, {}, None))
        return some

    def peers(self):
        return [v.name for v in self.variants if v.kind == "peer"]

    def words(self, team, sizes):
        names = [c.name for c in self.campaign.collectives]
        return ["--coll", ",".join(names), "--bytes", ",".join(map(str, sizes)), *FIGURE]

    def settings(self, variant, after):
        if variant.name == BEFORE:
            return {"HUDDLE_TUNING": self.campaign.base or "off"}
        return {"HUDDLE_TUNING": after} if variant.name == AFTER else {}

    def launch(self, team, variant, sizes, after):
        left = self.campaign.budget.left("peers")
        variant = variant._replace(settings=self.settings(variant, after))
        command, env = variants.command_of(
            self.layout, variant, team.ranks, team.bind == "core", self.words(team, sizes)
        )
        try:
            output = jobs.run(command, env, limit_s=left)
            answer = json.loads(output[output.index('{"program"') : output.rindex("}") + 1])
        except (jobs.JobFailed, ValueError) as failure:
            if self.campaign.budget.left("peers") > LEAST_S:
                self.lost.add((team, variant.name))
                self.campaign.notes.append(
                    f"{variant.name}, {team.ranks} ranks: {str(failure).splitlines()[0]}"
                )
            return
        for figure in answer["figures"]:
            if figure["shots"] and not figure["wrong"]:
                cell = Cell(figure["collective"], team, figure["bytes"])
                self.figures[cell, variant.name].append(figure["median_ns"])

    def parts(self, team):
        """Sizes of launches in turn: the largest are those that every collective has."""
        shared = [set(group.sizes) for group in self.campaign.groups() if group.team == team]
        sizes = sorted(set.intersection(*[s for s in shared if s != {0}] or [{8}]))
        order = coarse_first(sizes)
        return [sorted(order[i : i + SMALL]) for i in range(0, len(order), SMALL)]

    def run(self, after, progress):
        """As many turns as there is time for.  after: the name of the new file."""
        turns = max(len(self.parts(team)) for team in self.campaign.teams)
        for turn in range(3 * turns):
            for team in self.campaign.teams:
                parts = self.parts(team)
                progress.stage(f"other MPIs, turn {turn + 1}: {team.ranks} ranks")
                for variant in self.variants:
                    if self.campaign.budget.left("peers") < LEAST_S:
                        return
                    if (team, variant.name) not in self.lost:
                        self.launch(team, variant, parts[turn % len(parts)], after)

    def median(self, cell, name):
        some = self.figures.get((cell, name))
        return statistics.median(some) if some else None

    def own(self, cell, changed):
        """
        (before, after); None: one is missing.  Where nothing changed, one median of both is both.
        """
        some = [self.figures.get((cell, name), []) for name in (BEFORE, AFTER)]
        if not all(some):
            return None
        if not changed:
            some = [some[0] + some[1]] * 2
        return tuple(map(statistics.median, some))

    def best(self, cell):
        """(name, ns); None: no peer was measured."""
        there = [(self.median(cell, name), name) for name in self.peers()]
        there = [pair for pair in there if pair[0]]
        return min(there) if there else None
