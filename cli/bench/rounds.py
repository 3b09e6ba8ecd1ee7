# SPDX-License-Identifier: BSD-3-Clause
"""
What `huddle bench --summary` measures: rounds of all numbers of ranks and ways to call, and in each
of these the variants in turn.  It starts no launch that would probably end after its time.
"""

from __future__ import annotations

import itertools
import math
import time
from collections import Counter
from typing import TYPE_CHECKING, Any

from ..common import collectives, jobs
from ..common.layout import CliError, Layout
from ..common.options import sizes_of
from ..common.text import count_text
from ..common.transfers import class_of
from ..common.types import Options
from . import plan, summary
from .campaign import Campaign

if TYPE_CHECKING:
    from ..common.progress import Progress
    from .variants import Variant

# Guesses about a launch until its time is known: its start, a figure's two line transfers, and how
# many times as long as a bound rank each rank takes that shares a core.
START_S, LINE_S, SHARE = 0.7, 0.004, 1.3
REPEATS = 2  # maximum, for a launch whose processors were elsewhere
SLOW, SLACK_S = 20, 10  # limit of a launch: times its guess; beyond the time of all


def usual(lines: Any) -> str | None:
    """Returns the most frequent class."""
    return max(Counter(filter(None, lines)).most_common(1), default=(None,))[0]


class Part(Campaign):
    """
    A number of ranks and a way to call.  Calls that fall back to the MPI count as huddle's, as a
    program gets them, too.  left_s: the time for the rest.
    """

    left_s = math.inf

    def check(self, variant: Variant, ranks: int) -> None:
        counts = self.counts(variant, ranks)
        none = [name for name in self.collectives(variant) if not counts[name]["handled"]]
        if none:
            self.notes.append(
                f"{variant.name}, {ranks} ranks: the MPI's own serve {', '.join(none)}"
            )

    def limit_s(self, variant: Variant | None) -> float:
        """
        Returns the time limit of a launch.  An MPI that hangs must not use up the others' time,
        though some need seconds for a figure.
        """
        longest = SLOW * self.guess_s()
        return self.options.limit or min(longest, self.left_s + SLACK_S)

    def figures(self) -> int:
        return sum(len(self.sizes(name)) for name in self.options.collectives)

    def guess_s(self) -> float:
        """Estimates the duration of a launch."""
        many = self.options.ranks[0]
        share = 1 if self.bound(many) else SHARE * many
        return START_S + self.figures() * (1.3 * self.options.figure_ms / 1000 + LINE_S) * share

    def text(self) -> str:
        calls = "back to back" if self.options.loop else "single calls"
        roots = "roots in turn" if self.options.root_shift else "root 0"
        return f"{self.options.ranks[0]} ranks, {calls}, {roots}"


def ways_of(ranks: int, rooted: list[str]) -> list[tuple[int | None, bool, bool]]:
    """Returns [(loop, roots in turn, only collectives with a root)] for bound ranks or for all."""
    if ranks != 2:
        return [(None, True, False)]
    fixed = [(None, False, True), (plan.LOOP, False, True)] if rooted else []
    return [(None, True, False), (plan.LOOP, True, False), *fixed]


def parts_of(options: Options, layout: Layout, variants: list[Variant]) -> list[Part]:
    rooted = {row.name for row in collectives.known(layout) if row.rooted}
    sizes, parts = options.bytes, []
    with_root = [name for name in options.collectives if name in rooted]
    for ranks in options.ranks:
        bind = jobs.binding("core", ranks)
        own = plan.of(options)
        some = sizes or sizes_of(own.bytes if bind == "core" else own.shared)
        for loop, shift, only in ways_of(ranks if bind == "core" else 0, with_root):
            more = {
                "ranks": [ranks],
                "bytes": some,
                "loop": loop,
                "root_shift": shift,
                "collectives": with_root if only else options.collectives,
            }
            one = Options(**{**vars(options), **more})
            parts.append(Part(one, layout, variants))
    return parts


class Rounds:
    """The rounds of all parts.  It has the fields of Campaign, for all parts."""

    def __init__(self, options: Options, parts: list[Any]) -> None:
        self.options, self.parts = options, parts
        self.seconds: dict[Any, float] = {}
        self.samples = [sample for path in options.add for sample in summary.read(path)]
        self.notes: list[str] = []
        checked: set[Any] = set()
        self.begin = time.monotonic()
        for part in parts:
            part.samples, part.notes, part.checked = self.samples, self.notes, checked

    @property
    def wrong(self) -> int:
        return sum(part.wrong for part in self.parts)

    @property
    def left_out(self) -> set[Any]:
        return set().union(*(part.left_out for part in self.parts))

    def turns(self) -> list[Any]:
        """Returns (launch, part, variant) in the order of launches."""
        return [
            (launch, part, variant)
            for launch in range(self.options.launches)
            for part in self.parts
            for variant in part.variants
            if part.collectives(variant)
        ]

    def expected_s(self, turn: tuple[int, Part, Variant]) -> float:
        _, part, variant = turn
        return self.seconds.get((part.text(), variant.name), part.guess_s())

    def plan_text(self) -> str:
        """Returns a text about the measurements to come and the time that they take."""
        variants = self.parts[0].variants
        names = [[v.name for v in variants if v.kind == kind] for kind in ("huddle", "peer")]
        minutes = self.left_s(self.turns()) / 60
        return (
            f"{' and '.join(names[0])}, against {', '.join(names[1])}:"
            f" {count_text(self.options.launches, 'round')}, about {minutes:.1f} minutes,"
            f" at most {self.options.minutes:g}"
        )

    def left_s(self, turns: list[tuple[int, Part, Variant]]) -> float:
        """Returns the expected time of the turns, at most the time that is left."""
        spent = time.monotonic() - self.begin
        return min(sum(map(self.expected_s, turns)), max(0, 60 * self.options.minutes - spent))

    def fits(self, turn: tuple[int, Part, Variant]) -> bool:
        spent = time.monotonic() - self.begin
        return spent + self.expected_s(turn) <= 60 * self.options.minutes

    def take(self, turn: tuple[int, Part, Variant]) -> str | None:
        """Returns the class of most of its figures; None: there is none."""
        launch, part, variant = turn
        begin, before = time.monotonic(), len(self.samples)
        part.left_s = self.begin + 60 * self.options.minutes - begin
        part.take(launch, part.options.ranks[0], variant)
        self.seconds[part.text(), variant.name] = time.monotonic() - begin
        return usual(map(class_of, self.samples[before:]))

    def take_all(self, turns: list[tuple[int, Part, Variant]], progress: Progress) -> bool:
        """
        Takes the turns of a part, and repeats launches of another class than most, since their
        figures cannot be compared.  Returns False if a turn did not fit into the time.
        """
        lines = []
        for turn in turns:
            if not self.fits(turn):
                return False
            lines.append(self.take(turn))
            progress.step()
        for _ in range(REPEATS):
            wanted = usual(lines)
            for number, turn in enumerate(turns):
                if lines[number] not in (wanted, None) and self.fits(turn):
                    lines[number] = self.take(turn)
        return True

    def run(self, progress: Progress) -> Any:
        """
        Takes all turns for which there is time.  Returns the interrupt (Ctrl-C, a signal) that
        ended them early, or None.
        """
        turns = self.turns()
        self.begin = time.monotonic()
        try:
            for (launch, part), group in itertools.groupby(turns, key=lambda turn: turn[:2]):
                left = f"{self.left_s(turns[progress.done :]) / 60:.1f} min left"
                progress.stage(f"round {launch + 1}, {part.text()}, about {left}")
                if not self.take_all(list(group), progress):
                    self.notes.append(self.ended_text(launch, part))
                    break
        except KeyboardInterrupt as interrupt:
            return interrupt
        if not self.samples:
            raise CliError("bench: nothing was measured\n  " + "\n  ".join(self.notes))
        return None

    def ended_text(self, launch: int, part: Part) -> str:
        return (
            f"the {self.options.minutes:g} minutes ended in round {launch + 1} of"
            f" {self.options.launches}, at {part.text()}"
        )
