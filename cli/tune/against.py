# SPDX-License-Identifier: BSD-3-Clause
"""
The MPIs of this machine as they are, and huddle before and after, launch by launch in turn, in the
programs of huddle bench.  huddle is measured before and after with the first MPI that it has a
front end for, and after with each other such one.  Each MPI's time next to huddle's with it is kept
in a file (common/times.py).
"""

import json
import statistics
import time
from collections import defaultdict

from ..bench import handled, variants
from ..common import jobs, launching, peers, places, records, refused, steady, times
from ..common.layout import Trouble
from . import needed, tuning_file
from .grid import coarse_first
from .state import Cell

BEFORE, AFTER, ALL = "before", "after", "all"
FIGURE = ("--figure-ms", "8", "--min", "5", "--max", "200", "--unlabelled")
SMALL = 8  # sizes of one launch
LEAST_S = 3  # a launch with less time is not begun


def is_calm(team, figure):
    """Other work has not disturbed a figure.  Oversubscribed ranks disturb each other anyway."""
    calm = figure["median_ns"] <= steady.MAX_OF_MIN * figure["min_ns"]
    return calm or team.oversubscribed


class Against:
    """
    figures: (cell, variant's name) -> medians of launches; calm: those that other work did not
    disturb.  versions: variant's name -> its MPI.
    pairs: {a peer: huddle with its MPI}.  doubt: why the figures are not reliable, or None.
    given_s: the time for launches; launch_s: of each.
    handled: (team, variant of huddle) -> the collectives of which huddle handles calls.
    """

    def __init__(self, campaign):
        self.campaign, self.layout = campaign, campaign.layout
        self.figures, self.calm, self.lost = defaultdict(list), defaultdict(list), set()
        self.versions, self.pairs, self.handled = {}, {}, {}
        self.given_s, self.launch_s = 0, []
        self.variants, self.doubt = self.chosen(campaign.options.against), None
        self.place = times.place(campaign.output)
        tuning_file.check_place(self.place, campaign.options.force)

    def chosen(self, text):
        launching.check_launcher(self.layout)
        found = peers.find(self.layout, [], f"{self.layout.prefix}/peers")
        if not found:
            raise Trouble(
                f"--against {refused.shown(text)}: no MPI found (no mpirun or mpiexec on PATH)"
            )
        names = list(found) if text == ALL else text.split(",")
        some = [variants.peer_of(name, found) for name in names]
        for name, variant in zip(names, some):
            if isinstance(variant, str):
                raise Trouble(f"--against {variant}", 2)
            variants.program(self.layout, variant)
        host = self.host(text, [peer.mpi for peer in some], found)
        own = [variants.Variant(name, "huddle", host, {}, {}, None) for name in (BEFORE, AFTER)]
        for peer in some:
            if peer.parameters or not variants.has_front_end(self.layout, peer.mpi):
                continue
            self.pairs[peer.name] = AFTER if peer.mpi == host else f"{AFTER}, {peer.name}"
            if peer.mpi != host:
                own.append(own[1]._replace(name=self.pairs[peer.name], mpi=peer.mpi))
        return some + own

    def host(self, text, named, found):
        """The first of the named MPIs that huddle has a front end for."""
        good = [mpi for mpi in found.values() if variants.has_front_end(self.layout, mpi)]
        for mpi in named:
            if mpi in good:
                return mpi
        raise Trouble(
            f"--against {text}: huddle has no front end for it (accepted: one of"
            f" {', '.join(mpi.name for mpi in good) or 'those that huddle is built for'}, also with"
            " others)",
            2,
        )

    def peers(self):
        return [v.name for v in self.variants if v.kind == "peer"]

    def words(self, sizes, *how):
        names = [c.name for c in self.campaign.collectives]
        return ["--coll", ",".join(names), "--bytes", ",".join(map(str, sizes)), *how]

    def settings(self, variant, after):
        if variant.name == BEFORE:
            return {"HUDDLE_TUNING": self.campaign.base or "off"}
        return {"HUDDLE_TUNING": after} if variant.kind == "huddle" else {}

    def answer(self, team, variant, words, more=()):
        """What a launch of the measuring program prints.  more: environment."""
        begin_s = time.monotonic()
        bind = team.bind == "core"
        command, env = variants.command_of(self.layout, variant, team.ranks, bind, words)
        output = jobs.run(
            command, {**env, **dict(more)}, limit_s=self.campaign.budget.left("peers")
        )
        answer = json.loads(output[output.index('{"program"') : output.rindex("}") + 1])
        self.launch_s.append(time.monotonic() - begin_s)
        return answer

    def check(self, team, variant, sizes):
        """
        Checks, once for a team, that huddle handles calls.  Times of a collective that falls back
        to the MPI would be the MPI's.
        """
        names = [c.name for c in self.campaign.collectives]
        words = self.words(sizes, *handled.ONCE, "--unlabelled")
        counts = handled.count(lambda env: self.answer(team, variant, words, env), names)
        some = [name for name in names if counts[name]["handled"]]
        self.handled[team, variant.name] = some
        if len(some) < len(names):
            self.campaign.notes.append(
                f"{variant.name}, {team.ranks} ranks: huddle handles no call of"
                f" {', '.join(name for name in names if name not in some)}"
            )

    def launch(self, team, variant, sizes, after):
        variant = variant._replace(settings=self.settings(variant, after))
        try:
            if variant.kind == "huddle" and (team, variant.name) not in self.handled:
                self.check(team, variant, sizes)
            answer = self.answer(team, variant, self.words(sizes, *FIGURE))
        except (jobs.JobFailed, ValueError) as failure:
            if self.campaign.budget.left("peers") > LEAST_S:
                self.lost.add((team, variant.name))
                self.campaign.notes.append(
                    f"{variant.name}, {team.ranks} ranks: {str(failure).splitlines()[0]}"
                )
            return
        self.versions[variant.name] = records.mpi_name(answer["program"])
        for figure in answer["figures"]:
            own = self.handled.get((team, variant.name), [figure["collective"]])
            if figure["shots"] and not figure["wrong"] and figure["collective"] in own:
                cell = Cell(figure["collective"], team, figure["bytes"])
                self.figures[cell, variant.name].append(figure["median_ns"])
                if is_calm(team, figure):
                    self.calm[cell, variant.name].append(figure["median_ns"])

    def parts(self, team):
        """Sizes of launches in turn: the largest are those that every collective has."""
        shared = [set(group.sizes) for group in self.campaign.groups() if group.team == team]
        sizes = sorted(set.intersection(*[s for s in shared if s != {0}] or [{8}]))
        order = coarse_first(sizes)
        return [sorted(order[i : i + SMALL]) for i in range(0, len(order), SMALL)]

    def run(self, after, progress):
        """after: the name of the new file."""
        self.doubt, self.given_s = steady.others(), self.campaign.budget.left("peers")
        self.take_turns(after, progress)
        self.doubt = self.doubt or steady.others()

    def take_turns(self, after, progress):
        """As many as there is time for."""
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
        """(name, ns); None: no peer was measured, or huddle does not handle such calls with it."""
        if cell.collective not in self.handled.get((cell.team, AFTER), [cell.collective]):
            return None
        there = [(self.median(cell, name), name) for name in self.peers()]
        there = [pair for pair in there if pair[0]]
        return min(there) if there else None

    def settled_ns(self, cell, name):
        """Of the two best launches; None: they do not agree, or there was one."""
        some = self.calm.get((cell, name), ())
        ns, agree = steady.settled(some, slack=steady.SLACK_NS) if some else (None, False)
        return ns if agree else None

    def rows(self):
        """Of cells that both an MPI alone and huddle with it have a time of."""
        found = []
        for peer, own in self.pairs.items():
            for cell in [cell for cell, name in self.calm if name == peer]:
                ns = [self.settled_ns(cell, name) for name in (peer, own)]
                if all(ns):
                    count = min(len(self.calm[cell, name]) for name in (peer, own))
                    mpi, team = self.versions[peer], cell.team
                    where = (mpi, cell.collective, team.ranks, team.oversubscribed, cell.size)
                    found.append(times.Row(*where, *ns, count))
        return sorted(found)

    def are_twice(self):
        """Some size was measured twice, with an MPI alone and with huddle."""
        return any(
            min(len(self.figures.get((cell, one), ())) for one in (peer, own)) > 1
            for peer, own in self.pairs.items()
            for cell in {cell for cell, _ in self.figures}
        )

    def launches(self):
        """Until the first sizes of each team were measured twice, and huddle was checked once."""
        turns = [len(self.parts(team)) + 1 for team in self.campaign.teams]
        checked = len(self.campaign.teams) * (len(self.variants) - len(self.peers()))
        return sum(turns) * len(self.variants) + checked

    def why_no_times(self):
        if not self.pairs:
            return "these MPIs have parameters, or huddle has no front end for them"
        if self.are_twice():
            return "no two launches agree (more --minutes, a quiet machine)"
        launch_s = statistics.mean(self.launch_s or [needed.LAUNCH_S])
        minutes = needed.for_times(self.campaign.minutes, self.launches(), launch_s)
        return (
            f"in the {self.given_s:.0f} s for other MPIs {len(self.launch_s) or 'none'} of the"
            " launches ended, and a size needs two with an MPI alone and two with huddle;"
            " try --minutes"
            f" {needed.text(minutes)}"
        )

    def write_times(self):
        """Returns whether there were any."""
        rows, facts = self.rows(), self.campaign.facts
        if not rows:
            return False
        now = time.strftime("%Y-%m-%d %H:%M")
        digest = times.rules_digest(self.campaign.output)
        known = (facts["version"], self.campaign.cores, digest, self.doubt or times.SOUND)
        found = times.Times(rows, now, *known)
        head = [
            f"{tuning_file.MARK.lstrip('# ')}'.  Times of a call with an MPI alone, and with huddle"
            " and the tuning file next to this one.",
            "Means of the two best launches, which agree: medians of single shots from a common"
            " start, slowest rank.",
            "huddle profile estimates from them what huddle saves.",
            f"{facts['cpu'] or 'processors without a name'}, {facts['processors']} processors",
        ]
        places.write(self.place, times.text(found, head))
        return True
