# SPDX-License-Identifier: BSD-3-Clause
"""What a run of huddle tune works on: teams, collectives, sizes, time, and what it has found."""

import os
import sys
from collections import defaultdict

from ..common import collectives, pictures, places, refused
from ..common.layout import Trouble
from ..common.sizes import written
from . import grid, parameters, tuning_file
from .budget import Budget
from .screen import Group
from .state import State
from ..common.trials import kept_settings

MINUTES, QUICK_MINUTES = 5, 1


def ranks_of(text):
    ranks = sorted({int(word) for word in text.split(",") if word.isdecimal() and len(word) < 9})
    if len(ranks) != len(text.split(",")) or not all(2 <= n <= grid.MAX_RANKS for n in ranks):
        raise Trouble(
            f"--ranks {refused.shown(text)}: not possible (accepted: numbers from 2 to"
            f" {grid.MAX_RANKS}, separated by commas)",
            2,
        )
    return ranks


def minutes_of(options):
    usual = QUICK_MINUTES if options.quick else MINUTES
    return usual if options.minutes is None else options.minutes


def asked_sizes(options):
    """Those of --bytes; None: all."""
    if options.bytes is None:
        return None
    asked = [size for size in grid.SIZES if size in options.bytes]
    others = sorted(set(options.bytes) - set(asked))
    if others:
        raise Trouble(
            f"--bytes {written(others[0])}: not a size that is tried (accepted: 8, 16, 32, ... to"
            " 16M, and ranges of them as 4K:1M)",
            2,
        )
    return asked


def tunable(layout, names):
    """A rule cannot choose by a size that only a rank itself knows."""
    known = {c.name: c for c in collectives.known(layout) if c.sized or not c.moves}
    for name in names:
        if name not in known:
            raise Trouble(
                f"--collectives {refused.shown(name)}: not a collective that can be tuned"
                f" (accepted: {', '.join(sorted(known))})",
                2,
            )
    return [known[name] for name in dict.fromkeys(names or sorted(known))]


def base_of(options, layout):
    """The absolute name of --from; None: the built-in table."""
    if options.base is None:
        return None
    base = os.path.abspath(options.base)
    if not options.base or not os.path.isfile(base):
        raise Trouble(
            f"--from {options.base}: not a file that is there (accepted: a tuning file)", 2
        )
    error = layout.ask("explain", "barrier", "0", "2", "core", HUDDLE_TUNING=base)["error"]
    if error:
        raise Trouble(f"--from {options.base}: {error.removeprefix('HUDDLE_TUNING=')}", 2)
    return base


class Campaign:
    def __init__(self, options, layout):
        self.options, self.layout = options, layout
        self.minutes = minutes_of(options)
        self.budget = Budget(60 * self.minutes, options.against is not None)
        self.output = tuning_file.place(layout, options)
        tuning_file.check_place(self.output, options.force)
        # (a tuning file that is not valid is one to write again)
        settings = layout.ask("info", "settings", HUDDLE_TUNING="off")
        if settings["error"]:
            raise Trouble(settings["error"])
        self.lease = parameters.lease_bytes(settings["settings"])
        self.base = base_of(options, layout)
        self.before = f"HUDDLE_TUNING={self.base or 'off'}"
        self.collectives = tunable(
            layout, [] if options.collectives is None else options.collectives.split(",")
        )
        self.asked, self.algorithms = asked_sizes(options), layout.ask("info", "algorithms")
        self.cores = grid.cores(layout)
        usual = options.ranks is None
        ranks = grid.usual_ranks(self.cores) if usual else ranks_of(options.ranks)
        self.teams = [grid.team(layout, n, self.cores) for n in ranks]
        self.ranks_texts = tuning_file.ranks_texts(self.teams)
        self.notes, self.failures, self.candidates = [], [], defaultdict(dict)
        self.built_in = {
            c.name: parameters.built_in(layout, c.name, self.teams) for c in self.collectives
        }
        self.facts = {
            "version": layout.ask("version"),
            "processors": os.sysconf("SC_NPROCESSORS_ONLN"),
            "cpu": layout.ask("info", "machine")["cpu"],
        }
        self.all_groups = [
            Group(self, team, c)
            for team in self.teams
            for c in self.collectives
            if self.sizes(team, c)
        ]
        self.plot = self.place_of_plot()
        self.state = State(
            self.output,
            [
                self.facts,
                self.algorithms,
                kept_settings(),
                sorted(os.sched_getaffinity(0)),
                tuning_file.rules_text(self.base) if self.base else None,
            ],
        )

    def place_of_plot(self):
        """None: there will be none."""
        if self.options.plot is not None:
            places.check("--plot", self.options.plot)
            why = pictures.missing()
            if why:
                raise Trouble(f"--plot {self.options.plot}: {why}")
            return os.path.abspath(self.options.plot)
        path = os.path.splitext(self.output)[0] + ".svg"
        why = pictures.missing() or places.why_not(path, replaced=True)
        if not why and not tuning_file.is_ours(path):
            why = f"{path} was not written by 'huddle tune' (another place: --plot FILE)"
        if why:
            self.notes.append(f"No plot: {why}.")
        return None if why else path

    def groups(self):
        return self.all_groups

    def cells(self):
        return [group.cell(size) for group in self.all_groups for size in group.sizes]

    def sizes(self, team, collective):
        some = grid.sizes(team, collective, 2 if self.options.quick and not self.asked else 1)
        return [size for size in some if not size or self.asked is None or size in self.asked]

    def bounds(self, team, collective):
        """The least and the largest size that rules may serve; None: it has no end."""
        sizes, possible = self.sizes(team, collective), grid.sizes(team, collective)
        low = 0 if self.asked is None else possible.index(sizes[0])
        ends = self.asked is None or sizes[-1] == possible[-1]
        return possible[low - 1] + 1 if low else 0, None if ends else sizes[-1]

    def collective(self, name):
        return next(c for c in self.collectives if c.name == name)

    def moves(self, name):
        return self.collective(name).moves

    def weight(self, cell):
        return grid.weight(
            cell.team, cell.size, self.collective(cell.collective).blocks, self.cores
        )

    def failed(self, part, team, trouble):
        """A launch gave nothing: the work goes on without it.  At a part's end it is stopped."""
        if self.budget.left(part) > 0:
            self.failures.append(f"{team.ranks} ranks, a launch was left out: {trouble}")
            self.notes.append(self.failures[-1])

    def text(self, rules):
        lines = [ns for cell in self.cells() for ns in self.state.line(cell)]
        line = f", line transfer {min(lines):.0f} to {max(lines):.0f} ns" if lines else ""
        command = " ".join(
            [
                *(f"{name}={value}" for name, value in kept_settings().items()),
                "huddle",
                *sys.argv[1:],
            ]
        )
        return tuning_file.text(rules, {**self.facts, "line": line}, command, self.base)
