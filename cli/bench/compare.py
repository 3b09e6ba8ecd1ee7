# SPDX-License-Identifier: BSD-3-Clause
"""
huddle bench --compare: settings of huddle in turn on one team, without MPI.  Launches of a program
may differ by more than algorithms do.  Here all candidates meet the same processors, the same
placement of pages and the same moment.
"""

from __future__ import annotations

import math
import os
import re
import statistics
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any

from ..common import jobs
from ..common.exit_status import BAD_USE
from ..common.layout import CliError, Layout
from ..common.text import bytes_text
from ..common.types import Options
from .arguments import CANDIDATE
from .trials import KEPT, Ended, Plan, Trials, times_of
from .variants import Variant

if TYPE_CHECKING:
    from ..common.progress import Progress

LOW, HIGH = 30, 4000  # shots of a candidate, at least and at most
SHOTS_S = 30  # time in which a busy machine takes the fewest shots of all candidates
PATIENCE_S = 60  # time beyond its own after which a launch is ended


def algorithms_of(layout: Layout, collective: str) -> dict[str, dict[str, Any]]:
    return {a["name"]: a for a in layout.ask("info", "algorithms") if a["collective"] == collective}


def is_value_of(parameter: dict[str, Any], text: str) -> bool:
    if parameter["words"]:
        return text in parameter["words"]
    match = re.fullmatch(r"(\d+)([KMG]?)", text.upper())
    if not match or (match[2] and parameter["unit"] != "B"):
        return False
    number = int(match[1]) << 10 * " KMG".index(match[2] or " ")
    return parameter["min"] <= number <= parameter["max"]


def values_of(parameter: dict[str, Any]) -> str:
    return ", ".join(parameter["words"]) or f"{parameter['min']} to {parameter['max']}"


def setting_of(collective: str, algorithm: dict[str, Any], pair: str) -> str:
    """
    Returns the setting for a parameter of the algorithm, or for any setting such as
    huddle_prefetch=0.
    """
    name, equals, value = pair.partition("=")
    if not equals:
        raise CliError(
            f"bench: --compare: {pair!r}: not understood (accepted: {CANDIDATE})", BAD_USE
        )
    if name.lower().startswith("huddle_"):
        return f"{name.upper()}={value}"
    known = {parameter["name"]: parameter for parameter in algorithm["parameters"]}
    if name in known and not is_value_of(known[name], value):
        raise CliError(
            f"bench: --compare: {pair!r}: not a value of {collective}/{algorithm['name']} {name}"
            f" (accepted: {values_of(known[name])})",
            BAD_USE,
        )
    if name not in known:
        raise CliError(
            f"bench: --compare: {collective}/{algorithm['name']} has no parameter {name}"
            f" (accepted: {', '.join(known) or 'none'})",
            BAD_USE,
        )
    return f"HUDDLE_LAB_{collective}_{algorithm['name']}_{name}".upper() + f"={value}"


def settings_of(layout: Layout, collective: str, text: str) -> str:
    """Returns a candidate's settings as bench-trials reads them, one per line."""
    words = text.split()
    if words[:1] == ["own"]:
        name, lines, algorithm = "own", [], {"name": "own", "parameters": []}
    else:
        known = algorithms_of(layout, collective)
        name = words[0] if words else ""
        if name not in known:
            accepted = ", ".join(["own", *known])
            raise CliError(
                f"bench: --compare: no {collective}/{name} (accepted: {accepted})", BAD_USE
            )
        algorithm, lines = known[name], [f"HUDDLE_{collective.upper()}={name}"]
    return "\n".join(lines + [setting_of(collective, algorithm, pair) for pair in words[1:]])


def variants_of(options: Options) -> list[Variant]:
    """Returns the variants.  All others are compared with the first one."""
    kinds = ["peer"] + ["huddle"] * (len(options.compare) - 1)
    return [Variant(t, kind, None, {}, [], None) for t, kind in zip(options.compare, kinds)]


class Comparison:
    """A comparison of candidates in turn on a single team.  It has the fields of Campaign."""

    def __init__(self, options: Options, layout: Layout) -> None:
        self.options, self.layout = options, layout
        self.wrong = 0
        self.samples: list[dict[str, Any]] = []
        self.notes: list[str] = []
        self.left_out: set[Any] = set()
        self.missing: dict[
            Any, Any
        ] = {}  # (candidate, ranks, collective, why) -> sizes without a figure
        self.reasons: dict[
            Any, str
        ] = {}  # (candidate, ranks, collective, size) -> why there is no figure
        for collective in options.collectives:
            for text in options.compare:
                settings_of(layout, collective, text)

    def turns(self) -> list[tuple[int, int, str]]:
        return [
            (launch, ranks, collective)
            for launch in range(self.options.launches)
            for ranks in self.options.ranks
            for collective in self.options.collectives
        ]

    def moves(self, collective: str) -> bool:
        """Returns whether the collective moves data, so that calls have a size."""
        rows = self.layout.ask("info", "collectives")
        return next(row["moves"] for row in rows if row["name"] == collective)

    def plan(self) -> Plan:
        o = self.options
        seconds = o.figure_ms / 1000 * len(o.compare)
        low, high = (o.shots, o.shots) if o.shots else (LOW, HIGH)
        return Plan(seconds, low, high, o.loop or 0, True, SHOTS_S + seconds)

    def measure(self, launch: int, ranks: int, collective: str) -> None:
        texts = [settings_of(self.layout, collective, text) for text in self.options.compare]
        bind = jobs.binding(self.options.bind, ranks)
        team = SimpleNamespace(ranks=ranks, bind="core" if bind == "core" else "none")
        plan = self.plan()
        limit_s = PATIENCE_S + plan.limit_s
        with Trials(self.layout, team, texts, limit_s) as trials:
            for size in self.options.bytes if self.moves(collective) else [0]:
                trials.line_at = -math.inf  # each size has its own
                answer = trials.compare(collective, size, plan, list(range(len(texts))))
                self.keep(answer, (launch, ranks, bind, collective, size))

    def why(self, text: str, about: tuple[int, int, str, str, int]) -> str:
        """
        Returns why huddle does not handle such a call.  Asks once, since all launches get the same
        answer.
        """
        _, ranks, bind, collective, size = about
        key = (text, ranks, collective, size)
        if key not in self.reasons:
            self.reasons[key] = self.reason(text, ranks, bind, collective, size)
        return self.reasons[key]

    def reason(self, text: str, ranks: int, bind: str, collective: str, size: int) -> str:
        """Asks the library why a team with these settings falls back."""
        lines = settings_of(self.layout, collective, text).splitlines()
        ours = [name for name in os.environ if name.startswith("HUDDLE") and name not in KEPT]
        answer, _ = self.layout.hear(
            *("explain", collective, str(size), str(ranks), "core" if bind == "core" else "none"),
            **{**dict.fromkeys(ours), **dict(line.split("=", 1) for line in lines)},
        )
        return answer["error"] or ("refused" if answer["serves"] else answer["why"]["by"])

    def keep(self, answer: dict[str, Any], about: tuple[int, int, str, str, int]) -> None:
        launch, ranks, bind, collective, size = about
        times = times_of(answer)
        refused = {figure["candidate"] for figure in answer["figures"] if figure["refused"]}
        for number, name in enumerate(self.options.compare):
            if number not in times:
                why = self.why(name, about) if number in refused else "no time was left"
                sizes = self.missing.setdefault((name, ranks, collective, why), [])
                sizes += [size] if size not in sizes else []
                continue
            sorted_ns = sorted(times[number])
            self.samples.append(
                {
                    "ranks": ranks,
                    "bind": bind,
                    "variant": name,
                    "mpi": "no MPI",
                    "host": "",
                    "launch": launch + 1,
                    "root": str(self.options.root),
                    "loop": self.options.loop or 0,
                    "collective": collective,
                    "bytes": size,
                    "line_before_ns": answer["line_before_ns"],
                    "line_after_ns": answer["line_after_ns"],
                    "median_ns": statistics.median(sorted_ns),
                    "p99_ns": sorted_ns[int(0.99 * len(sorted_ns))],
                    "min_ns": sorted_ns[0],
                    "mean_ns": statistics.fmean(sorted_ns),
                    "max_ns": sorted_ns[-1],
                    "cpu_ns": 0,
                    "shots": len(sorted_ns),
                    "late": 0,
                    "refused": 0,
                    "wrong": 0,
                }
            )

    def print_missing(self) -> None:
        """
        Notes each candidate without a figure, and leaves out the candidates without any figure of a
        collective.
        """
        seen = {(s["variant"], s["ranks"], s["collective"]) for s in self.samples}
        for (name, ranks, collective, why), sizes in self.missing.items():
            of = f" of {', '.join(map(bytes_text, sizes))}" if self.moves(collective) else ""
            self.notes.append(f"{name}, {ranks} ranks: {collective}{of} not measured: {why}")
            if (name, ranks, collective) not in seen:
                self.left_out.add((name, ranks, collective))

    def run(self, progress: Progress) -> Any:
        """Takes all turns.  Returns the interrupt that ended them early, or None."""
        early = None
        try:
            for turn in self.turns():
                try:
                    self.measure(*turn)
                except Ended as failure:
                    self.left_out.add(turn[1:])
                    self.notes.append(f"{turn[2]}, {turn[1]} ranks: {failure}")
                progress.step()
        except KeyboardInterrupt as interrupt:
            early = interrupt
        self.print_missing()
        if not self.samples and not early:
            raise CliError("bench: nothing was measured\n  " + "\n  ".join(self.notes))
        return early


def check(options: Options) -> None:
    """Raises CliError if --compare is combined with an option that --compare does not support."""
    for name, value in (
        ("--root", options.root),
        ("--root-shift", options.root_shift),
        ("--cold", options.cold),
        ("--skew", options.skew),
        ("--late", options.late),
        ("--mpi", options.hosts),
        ("--against", options.against),
        ("--algorithm", options.algorithm),
        ("--bare", options.bare),
        ("--set", options.set),
    ):
        if value:
            raise CliError(f"bench: --compare and {name} exclude each other", BAD_USE)
    if any(re.search(r"[\n,]", text) for text in options.compare) or len(options.compare) < 2:
        raise CliError(f"bench: --compare: two candidates or more (accepted: {CANDIDATE})", BAD_USE)
