# SPDX-License-Identifier: BSD-3-Clause
"""
From no paper: the fastest barrier, small broadcast and small allreduce that huddle can build on two
large machines, simulated, compared with their limits.

All algorithms are tried with all parameters that huddle tune would try, each with every grouping
that leaving out levels gives there.  The limit is the farthest line transfer (lab/cost/limits.h).
Further rows have huddle's own choice.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from .. import simulated
from ..repetitions import RING
from .candidates import candidates_of, differs
from .rows import Result, Row
from .unmeasured import ends

if TYPE_CHECKING:
    from .candidates import Candidate, Value
    from .command import Lab

PART = "Our own"
TITLE, PRINTED = "the fastest that huddle can build on large machines, and the limit", "limit"
MACHINES = ("kunpeng-920", "epyc-9654")
CALLS = (("barrier", 0), ("bcast", 8), ("allreduce", 8))
SIMULATED, SKEW_NS = "simulated", 20  # one reading of a clock: the skew of a common start
# Few calls, for the ends of a range: they use each line of a ring once before they count.
BRIEFLY: dict[str, Any] = {"seeds": (1,), "warmup": RING + 1, "repetitions": 8}
LEVELS = ("l2", "l3", "die", "group", "numa", "socket")
NOTES = (
    (
        "the limit is one line transfer between the two ranks that are farthest apart; `huddle"
        " model` prints the times of gather and release by groups, and of dissemination, by line"
        " transfers alone"
    ),
    (
        "ranks that enter at exactly the same moment post before any rank polls, so that no copy"
        " has to be revoked; ranks that enter a few ns apart do not, as measurements show (`huddle"
        " validate`), and there the wait for the last rank to enter is subtracted"
    ),
    "back-to-back calls, as osu_barrier and paper 03 measure, are the mean of 32 calls",
    simulated.MEASURED,
)


def span(best: float, at_ends: list[float]) -> tuple[float, float]:
    """Returns the lowest and the highest time, in us."""
    return min(best, *at_ends) / 1000, max(best, *at_ends) / 1000


def value(v: Value) -> int | str:
    return v.bytes if v.bytes is not None else int(v.word) if v.word.isdigit() else v.word


def groupings(lab: Lab, machine: dict[str, Any], ranks: int) -> list[str]:
    """
    Lists sets of levels to leave out, each of which gives different groups; '' is first.  A unit
    may have several names (an L3 that is a NUMA node); then leaving out a single name changes
    nothing.  The simulator is asked for the groups.
    """
    found: dict[Any, Any] = {}
    for count in range(len(LEVELS) + 1):
        for off in itertools.combinations(LEVELS, count):
            request = {
                "machine": machine,
                "collective": "barrier",
                "algorithm": "counters",
                "ranks": ranks,
                "levels_off": ",".join(off),
                "repetitions": 1,
                "warmup": 0,
            }
            groups = lab.layout.question("simulate", request)["call"]["groups"]
            found.setdefault(tuple(level["groups"] for level in groups), ",".join(off))
    return list(found.values())


class Field:
    """A machine with all its cores."""

    def __init__(self, lab: Lab, name: str) -> None:
        self.lab, self.name, self.machine = lab, name, lab.machine(name)
        facts = lab.layout.question("simulate", {"machine": self.machine})["machine"]
        self.ranks = 16 if lab.brief else facts["cores"]
        self.levels = [""] if lab.brief else groupings(lab, self.machine, self.ranks)
        self.ends = ends(self.machine)[:1] if lab.brief else ends(self.machine)

    def way(self, candidate: Candidate, off: str, size: int) -> tuple[str, dict[str, Any]]:
        """Returns a candidate for simulated.fastest_ns."""
        name = ", ".join(
            [candidate.algorithm, *(f"{v.name} {v.word}" for v in candidate.values)]
        ) + (f", without {off}" if off else "")
        return name, {
            "collective": candidate.collective,
            "algorithm": candidate.algorithm,
            "size": size,
            "ranks": self.ranks,
            "levels_off": off,
            "parameters": {v.name: value(v) for v in candidate.values},
        }

    def fastest(self, collective: str, size: int) -> tuple[float, str, tuple[float, float]]:
        """Returns ns, a text that names the candidate, and the range in us."""
        options = candidates_of(self.lab.layout, collective, self.ranks, baselines=True)
        tried = [candidate for candidate in options if differs(candidate, size, options)]
        ways = [self.way(candidate, off, size) for candidate in tried for off in self.levels]
        best, how = simulated.fastest_ns(self.lab.layout, self.machine, ways)
        _, way = simulated.once(self.lab.layout, self.machine, **dict(ways)[how])
        at_ends = [
            simulated.measured_ns(self.lab.layout, machine, **way, **BRIEFLY)
            for machine in self.ends
        ]
        return best, how, span(best, at_ends)

    def limit_ns(self, collective: str, size: int) -> float:
        answer = self.lab.model(
            "machine",
            machine=self.machine,
            collective=collective,
            ranks=self.ranks,
            map="core",
            trees=[],
            bytes=[size],
        )
        return answer["limits"][0]["ns"]

    def chosen(self, collective: str, size: int, **more: Any) -> Any:
        """
        Returns us of huddle's choice and its range, or None and (None, None) if the call falls back
        to the MPI.
        """
        best, *at_ends = (
            simulated.chosen_measured_ns(
                self.lab.layout, machine, collective, size, self.ranks, **seeds, **more
            )
            for machine, seeds in [
                (self.machine, dict[str, Any]()),
                *((end, BRIEFLY) for end in self.ends),
            ]
        )
        return (best / 1000, span(best, at_ends)) if best else (None, (None, None))

    def rows(self) -> Iterator[Row]:
        for collective, size in CALLS:
            limit = self.limit_ns(collective, size) / 1000
            what = f"{self.name}, {self.ranks} ranks, {collective}{f' {size} B' if size else ''}"

            def row(
                how: str,
                us: float,
                between: tuple[float, float],
                what: str = what,
                limit: float = limit,
            ) -> Row:
                low, high = between
                return Row(f"{what}: {how}", "us", limit, us, SIMULATED, low=low, high=high)

            best, how, between = self.fastest(collective, size)
            yield row(how, best / 1000, between)
            yield row("as huddle chooses", *self.chosen(collective, size))
            yield row(
                f"as huddle chooses, ranks entering within {SKEW_NS} ns of each other",
                *self.chosen(collective, size, skew_ns=SKEW_NS),
            )
            if collective == "barrier":
                yield row(
                    "as huddle chooses, back to back", *self.chosen(collective, size, method="loop")
                )


def reproduce(lab: Lab) -> Result:
    for line in NOTES:
        lab.note(line)
    return Result([row for name in MACHINES for row in Field(lab, name).rows()], [])
