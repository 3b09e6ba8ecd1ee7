# SPDX-License-Identifier: BSD-3-Clause
"""
Sums over the ranks of a job: calls, what became of them, times.  One row per collective for
`huddle run --stats`, one per communicator, size and caller for `huddle profile`.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from . import collectives, waiting
from .layout import Layout

if TYPE_CHECKING:
    from .records import Cell, Rank

# Why huddle does not handle a call, where its core has not been asked.
ABSENT = "huddle not in use"
UNKNOWN_TO_IT = "not supported"
ONE_RANK, INTER = "one rank", "intercommunicator"
UNSEEN = "not seen by huddle"
HANDLES_PERSISTENT = "Open MPI"  # elsewhere persistent collectives are the MPI's own


@dataclass
class Row:
    calls: int = 0
    handled: int = 0
    empty: int = 0
    bytes: int = 0
    seconds: float = 0  # summed over ranks
    waiting: float = 0
    unsplit: float = 0  # seconds of which it is not known whether they are waiting
    timed: int = 0
    max_seconds: float = 0
    passed: Counter[str] = field(default_factory=Counter)  # reason -> calls

    def add(
        self, cell: Cell, rate: float, share: float | None, why: str | None, sized: bool
    ) -> None:
        """
        Adds a cell's calls to the row.  With `sized`, huddle's core returns at once from calls of
        zero bytes.
        """
        seconds = cell.all_ticks * rate * 1e-9
        self.calls += cell.calls
        self.bytes += cell.bytes
        self.timed += cell.timed
        self.seconds += seconds
        self.max_seconds = max(self.max_seconds, cell.max_ticks * rate * 1e-9)
        if share is None:
            self.unsplit += seconds
        else:
            self.waiting += share * seconds
        if why:
            self.passed[why] += cell.calls
        elif cell.size_class == 0 and sized:
            self.empty += cell.calls
        else:
            self.handled += cell.calls

    @property
    def moving(self) -> Any:
        return self.seconds - self.waiting - self.unsplit


class Core:
    """The counters of huddle's core, summed over the ranks that have it."""

    def __init__(
        self, ranks: list[Rank], about: dict[str, Any], collectives: list[dict[str, Any]]
    ) -> None:
        self.names = [c["name"] for c in collectives]
        self.served = {c["also"]: c["name"] for c in collectives if c.get("also")}
        self.sized = [c["sized"] for c in collectives]
        self.reasons, self.nodes_remedy = about["reasons"], about["nodes_remedy"]
        width = len(about["counts"]) + len(self.reasons)
        fields = 2 + len(self.names) * width + len(about["others"])
        self.ranks = [r for r in ranks if len(r.core) == fields and r.core[0] == len(self.names)]
        self.values = [sum(column) for column in zip(*(r.core for r in self.ranks))]
        self.width, self.counts, self.others = width, about["counts"], about["others"]

    def of(self, number: int) -> tuple[dict[str, int], dict[str, int]]:
        """
        Returns {calls, bytes, ns, empty} and {reason: calls} of a collective, with zeros if there
        is no core.
        """
        start = 2 + number * self.width
        row = self.values[start : start + self.width] or [0] * self.width
        cut = len(self.counts)
        return dict(zip(self.counts, row)), dict(zip(self.reasons, row[cut:]))

    def other(self) -> dict[str, int]:
        tail = self.values[2 + len(self.names) * self.width :] or [0] * len(self.others)
        return dict(zip(self.others, tail))

    def learned(self) -> dict[str, int]:
        """
        Returns the effects of HUDDLE_WISDOM: the decided cells, the cells with a changed choice,
        and the calls by the source of their choice, as in HUDDLE_STATS=json:FILE.
        """
        other = self.other()
        rows = [self.of(number)[1] for number in range(len(self.names))]
        handled = sum(row["handled"] for row in rows)
        return {
            "decided": other["decided"],
            "changed": other["changed"],
            "known": other["known"],
            "learned": other["learned"],
            "first": max(0, handled - other["known"] - other["learned"] - other["tried"]),
            "trials": other["tried"] + sum(row["trial of the native collective"] for row in rows),
            "native": sum(row["native collective faster"] for row in rows),
        }

    def kind_of(self, name: str) -> int | None:
        """Returns the number of the collective that handles an MPI function, or None."""
        name = self.served.get(base(name), base(name))
        return self.names.index(name) if name in self.names else None

    def is_sized(self, name: str) -> bool:
        """
        Returns whether all ranks know the size of a call of this MPI function.  Otherwise a rank
        that sends nothing may receive, as in an alltoallv, so the core serves its calls.
        """
        kind = self.kind_of(name)
        return kind is not None and bool(self.sized[kind])


def base(name: str) -> str:
    """Returns the blocking name: allreduce for iallreduce and allreduce_init."""
    name = name.removesuffix("_init")
    return name[1:] if name.startswith("i") else name


def why_not(rank: Any, cell: Any, core: Any) -> str | None:
    """Returns why huddle did not handle the calls of a cell, or None if it did."""
    if cell.comm.inter:
        return INTER
    if cell.comm.size == 1:
        return ONE_RANK
    if rank not in core.ranks:
        return ABSENT
    if core.kind_of(cell.name) is None or (
        cell.name.endswith("_init") and HANDLES_PERSISTENT not in rank.mpi
    ):
        return UNKNOWN_TO_IT
    return core.reasons[cell.reason] if cell.reason else None


class Totals:
    """The sums of a job.  rows: by key(cell)."""

    def __init__(self, ranks: list[Rank], layout: Layout) -> None:
        self.ranks = ranks
        self.core = Core(ranks, layout.ask("info", "statistics"), layout.ask("info", "collectives"))
        self.waits = waiting.split(ranks, collectives.awaits(layout))

    def share(self, number: int, cell: Cell) -> float | None:
        found = self.waits.splits.get((waiting.key_of(cell), number))
        if found:
            return found.share
        if cell.comm.size == 1 and not cell.comm.inter:
            return 0.0
        return None

    def rows(self, key: Callable[..., Any]) -> dict[Any, Row]:
        rows: dict[Any, Row] = {}
        for number, rank in enumerate(self.ranks):
            for cell in rank.cells:
                if cell.calls:
                    row = rows.setdefault(key(rank, cell), Row())
                    why = why_not(rank, cell, self.core)
                    sized = self.core.is_sized(cell.name)
                    row.add(cell, rank.ns_per_tick, self.share(number, cell), why, sized)
        return rows

    def is_complete(self) -> bool:
        """Returns whether the core's counters are final, since no rank was killed."""
        return bool(self.core.ranks) and all(rank.finalized for rank in self.ranks)

    def by_collective(self) -> dict[str, Row]:
        """
        Returns the rows in the order of their time.  Calls missing from the counts of huddle's core
        have bypassed huddle, because the program or a tool called PMPI functions.
        """
        rows = self.rows(lambda rank, cell: cell.name)
        for kind, _ in enumerate(self.core.names):
            mine = [n for n in rows if self.core.kind_of(n) == kind]
            left = self.core.of(kind)[1]["handled"]
            handled = sum(rows[n].handled for n in mine)
            for name in mine if left < handled and self.is_complete() else ():
                row = rows[name]
                unseen = min(row.handled, handled - left)
                row.handled -= unseen
                handled -= unseen
                row.passed[UNSEEN] += unseen
                row.passed += Counter()
        return dict(sorted(rows.items(), key=lambda pair: -pair[1].seconds))

    @property
    def calls(self) -> int:
        return sum(cell.calls for rank in self.ranks for cell in rank.cells)

    @property
    def timed(self) -> int:
        return sum(cell.timed for rank in self.ranks for cell in rank.cells)
