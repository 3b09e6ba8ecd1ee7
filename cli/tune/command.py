# SPDX-License-Identifier: BSD-3-Clause
"""huddle tune: measures this machine, without any MPI, and writes a tuning file.

Cells (grid) are measured by successive halving (measure, on teams of trials) and kept (state).
Cells with the same best choice form ranges of sizes (stats).  Rules enter the file (tuning_file)
one by one, and stay as long as the file as a whole is better than the built-in table.
"""

import os
import sys
import tempfile
import time

from ..common import collectives, places, stop
from ..common.candidates import candidates_of, settings_text, worth_trying
from ..common.layout import Trouble
from ..common.progress import Progress
from ..common.text import bytes_text
from . import describe, grid, measure, stats, tuning_file
from .show import show
from .state import State
from .trials import Trials, kept_settings
from .tuning_file import Rule

FINAL_SHARE = 0.15  # share of the time for measuring the file as a whole
FINAL_MIN, FINAL_MAX = 15, 200
OFF = "HUDDLE_TUNING=off"


def ranks_of(text):
    ranks = sorted({int(word) for word in text.split(",") if word.isdecimal() and len(word) < 9})
    if len(ranks) != len(text.split(",")) or not all(2 <= n <= grid.MAX_RANKS for n in ranks):
        raise Trouble(
            f"--ranks {text}: not valid (accepted: numbers from 2 to {grid.MAX_RANKS}, separated by"
            " commas)",
            2,
        )
    return ranks


def add_arguments(parser):
    parser.add_argument(
        "--output",
        metavar="FILE",
        help=(
            "the tuning file to write (default: in the user's configuration directory, where huddle"
            " finds it)"
        ),
    )
    parser.add_argument(
        "--site",
        action="store_true",
        help="write to the site's configuration directory instead, for all users",
    )
    parser.add_argument(
        "--force",
        action="store_true",
        help=(
            "overwrite a file that tune did not write; with --machine also write figures that do"
            " not agree, and mark them"
        ),
    )
    parser.add_argument(
        "--machine",
        nargs="?",
        const=describe.THERE,
        metavar="FILE.toml",
        help=(
            "describe this machine by micro-measurements instead, for huddle simulate (default: the"
            " file that huddle simulate reads)"
        ),
    )
    parser.add_argument("--collectives", metavar="NAMES", help="separated by commas (default: all)")
    parser.add_argument(
        "--ranks",
        metavar="NUMBERS",
        help=(
            "separated by commas; more ranks than cores are oversubscribed and unbound (default: 2,"
            " 4, ... all cores, and one oversubscribed number)"
        ),
    )
    parser.add_argument(
        "--quick", action="store_true", help="only every second size; takes a minute"
    )
    parser.add_argument(
        "--minutes",
        type=float,
        metavar="N",
        help="approximate time to spend (default: 5; 1 with --quick)",
    )
    parser.add_argument(
        "--baselines",
        action="store_true",
        help="also try algorithms that huddle has for comparison only",
    )
    parser.add_argument("--fresh", action="store_true", help="discard the figures of a stopped run")
    parser.add_argument(
        "--resume",
        action="store_true",
        help="continue a stopped run, which is the default; fail if there is none",
    )
    parser.epilog = (
        "--machine takes some seconds on a quiet machine, and up to half a minute on a busy one."
        f" {places.HELP}"
    )


class Campaign:
    def __init__(self, options, layout):
        self.options, self.layout = options, layout
        self.output = tuning_file.place(layout, options)
        tuning_file.check_place(self.output, options.force)
        error = layout.ask("info", "settings")["error"]
        if error:
            raise Trouble(error)
        self.minutes = options.minutes if options.minutes is not None else 1 if options.quick else 5
        if not 0 < self.minutes <= 24 * 60:
            raise Trouble(
                f"--minutes {self.minutes:g}: not valid (accepted: more than 0, at most a day)", 2
            )
        # a rule cannot choose by a size that only a rank itself knows
        known = sorted(c.name for c in collectives.known(layout) if c.sized or not c.moves)
        self.collectives = options.collectives.split(",") if options.collectives else known
        for name in self.collectives:
            if name not in known:
                raise Trouble(
                    f"--collectives {name}: not a collective that can be tuned (accepted:"
                    f" {', '.join(known)})",
                    2,
                )
        count = grid.cores(layout)
        self.teams = [
            grid.team(layout, n, count)
            for n in (ranks_of(options.ranks) if options.ranks else grid.usual_ranks(count))
        ]
        self.sizes = grid.SIZES[::2] if options.quick else grid.SIZES
        self.notes = []
        self.facts = {
            "version": layout.ask("version"),
            "processors": os.sysconf("SC_NPROCESSORS_ONLN"),
            "cpu": layout.ask("info", "machine")["cpu"],
        }
        self.state = State(
            self.output,
            [
                self.facts,
                layout.ask("info", "algorithms"),
                kept_settings(),
                sorted(os.sched_getaffinity(0)),
            ],
        )

    # ---- what there is to do ----

    def sizes_of(self, collective):
        return [0] if collective == "barrier" else self.sizes

    def groups(self):
        return [(team, collective) for team in self.teams for collective in self.collectives]

    def cells(self):
        return [
            (collective, team, size)
            for team, collective in self.groups()
            for size in self.sizes_of(collective)
        ]

    def begin(self):
        if self.options.fresh:
            self.state.forget()
        self.state.check_place()
        found = self.state.load()
        if self.options.resume and not found:
            raise Trouble(
                "--resume: no stopped run of this huddle with this output, on these processors,"
                " with these settings was found",
                2,
            )
        left = sum(not self.state.has(*cell) for cell in self.cells())
        teams = ', '.join(
            str(t.ranks) + (' (oversubscribed)' if t.oversubscribed else '') for t in self.teams
        )
        print(
            f"huddle tune: {', '.join(self.collectives)}; {teams} ranks;"
            f" about {self.minutes:g} minute(s) at most."
            "  Other work on this machine spoils the figures."
        )
        if left < len(self.cells()):
            print(
                f"{len(self.cells()) - left} of {len(self.cells())} measurements are kept from a"
                " run that was stopped (--fresh discards them)."
            )

    # ---- measuring ----

    def measure(self, progress):
        seconds = 60 * self.minutes * (1 - FINAL_SHARE)
        end, ahead = (
            time.monotonic() + seconds * self.unmeasured() / max(1, self.unmeasured(whole=True)),
            self.unmeasured(),
        )
        for team, collective in self.groups():
            sizes = [
                size
                for size in self.sizes_of(collective)
                if not self.state.has(collective, team, size)
            ]
            if not sizes:
                continue
            progress.stage(f"{collective}, {tuning_file.place_text(team)}")
            candidates = candidates_of(self.layout, collective, team.ranks, self.options.baselines)
            with Trials(
                self.layout, team, [OFF, *(f"{OFF}\n{settings_text(c)}" for c in candidates)]
            ) as trials:
                for size in sizes:
                    share = max(0.01, (end - time.monotonic()) * grid.weight(size) / ahead)
                    ahead -= grid.weight(size)
                    self.measure_cell(trials, collective, team, size, candidates, share)
                    progress.step()

    def unmeasured(self, whole=False):
        return sum(
            grid.weight(cell[2]) for cell in self.cells() if whole or not self.state.has(*cell)
        )

    def measure_cell(self, trials, collective, team, size, candidates, seconds):
        before = max((other for other in self.sizes_of(collective) if other < size), default=0)
        numbers = worth_trying(
            candidates, size, before, self.state.figures(collective, team, before)
        )
        cell = measure.measure(trials, collective, size, numbers, seconds)
        if cell.note:
            self.notes.append(
                f"{collective} of {bytes_text(size)}, {tuning_file.place_text(team)}: {cell.note}"
            )
        self.state.put(
            (collective, team, size),
            cell.line_ns,
            {
                settings_text(candidates[number - 1]): list(figure)
                for number, figure in cell.figures.items()
            },
        )

    # ---- choosing ----

    def rules(self):
        found, texts = [], tuning_file.ranks_texts(self.teams)
        for team, collective in self.groups():
            sizes = self.sizes_of(collective)
            by_label = {
                settings_text(c): c
                for c in candidates_of(self.layout, collective, team.ranks, self.options.baselines)
            }
            for piece in stats.choose(
                [self.state.figures(collective, team, size) for size in sizes]
            ):
                if piece.label is None:
                    continue
                inside = sizes[piece.first : piece.last + 1]
                low = (
                    None
                    if collective == "barrier"
                    else sizes[piece.first - 1] + 1 if piece.first else 0
                )
                lines = [
                    ns
                    for ns in (self.state.line_ns(collective, team, size) for size in inside)
                    if ns
                ]
                figures = {
                    size: self.state.figures(collective, team, size)[piece.label] for size in inside
                }
                found.append(
                    Rule(
                        collective,
                        team,
                        texts[team],
                        by_label[piece.label],
                        low,
                        sizes[piece.last] if piece.last + 1 < len(sizes) else None,
                        figures,
                        sum(lines) / len(lines) if lines else None,
                    )
                )
        return found

    def text(self, rules):
        lines = [ns for ns in (self.state.line_ns(*cell) for cell in self.cells()) if ns]
        line = f", line transfer {min(lines):.0f} to {max(lines):.0f} ns" if lines else ""
        command = " ".join(
            [
                *(f"{name}={value}" for name, value in kept_settings().items()),
                "huddle",
                *sys.argv[1:],
            ]
        )
        return tuning_file.text(rules, {**self.facts, "line": line}, command)

    def confirm(self, rules, progress):
        """
        The rules that are better together.  The most useful rule comes first.  Each rule is added
        if, with the file so far in use, all of its rules are better than the built-in table: rules
        share a team's memory, and the best of many figures may be luck.
        """
        kept, seconds = [], 60 * self.minutes * FINAL_SHARE / max(
            1, len(rules) * max((len(rule.figures) for rule in rules), default=1)
        )
        for rule in sorted(
            rules, key=lambda rule: stats.gain(rule.figures.values()) ** len(rule.figures)
        ):
            progress.stage(f"together: {rule.collective}, {tuning_file.place_text(rule.team)}")
            others = [other for other in kept if other.team != rule.team]
            together = self.measure_file(
                [*[other for other in kept if other.team == rule.team], rule], seconds
            )
            kept = [*others, *together] if together else kept
        return [
            rule
            for first in rules
            for rule in kept
            if (rule.team, rule.collective, rule.min_bytes)
            == (first.team, first.collective, first.min_bytes)
        ]

    def measure_file(self, rules, seconds):
        """
        Measures a file of these rules, all of one team.  Returns the rules with new figures; None:
        a rule is no longer better.
        """
        measured = []
        with tempfile.TemporaryDirectory(prefix="huddle-tune-") as folder:
            draft = os.path.join(folder, "tuning.toml")
            tuning_file.write(draft, self.text(rules))
            tuning_file.check_reads(self.layout, draft)
            with Trials(self.layout, rules[0].team, [OFF, f"HUDDLE_TUNING={draft}"]) as trials:
                for rule in reversed(rules):
                    figures = {
                        size: self.again(trials, rule.collective, size, seconds)
                        for size in rule.figures
                    }
                    if not all(figures.values()) or not stats.holds(figures.values()):
                        return None
                    measured.append(rule._replace(figures=figures))
        return measured

    @staticmethod
    def again(trials, collective, size, seconds):
        """A figure; None: the call is not handled."""
        answer = trials.compare(collective, size, seconds, FINAL_MIN, FINAL_MAX, [0, 1])
        own, ours = answer["figures"]
        return (
            None
            if own["refused"] or ours["refused"] or not own["took_ns"] or not ours["took_ns"]
            else stats.figure_of(ours["took_ns"], own["took_ns"])
        )


def tell_use(campaign):
    print(f"\nWritten: {campaign.output}")
    if campaign.options.output:
        print(f"Use it: HUDDLE_TUNING={campaign.output}")
    else:
        print("huddle uses it from now on, on this machine; HUDDLE_TUNING=off disables it.")
    print(
        "huddle explain bcast --bytes 8:16M prints the algorithm, and the file and line that"
        " decided."
    )


def main(options, _command, layout):
    if options.machine is not None:
        return describe.main(options, layout)
    if options.site and options.output:
        raise Trouble("tune: --site: not with --output (accepted: one of the two places)", 2)
    campaign = Campaign(options, layout)
    campaign.begin()
    try:
        with Progress(
            len(campaign.cells()), done=sum(campaign.state.has(*cell) for cell in campaign.cells())
        ) as progress:
            campaign.measure(progress)
            candidates = campaign.rules()
            rules = campaign.confirm(candidates, progress) if candidates else []
    except KeyboardInterrupt as interrupt:
        done = sum(campaign.state.has(*cell) for cell in campaign.cells())
        print(
            f"\nhuddle tune: stopped; {done} of {len(campaign.cells())} measurements are kept, and"
            " the same command continues with them.",
            file=sys.stderr,
        )
        return stop.status_of(interrupt)
    tuning_file.write(campaign.output, campaign.text(rules))
    tuning_file.check_reads(layout, campaign.output)
    campaign.state.forget()
    show(campaign, rules, len(candidates) - len(rules))
    tell_use(campaign)
    return 0
