# SPDX-License-Identifier: BSD-3-Clause
"""
What huddle saves, by estimate: of each call that it handled, how much longer the MPI alone takes by
the times of the wisdom file (common/wisdom.py).  Nothing is run without huddle.  A call counts only
where there are times of its collective, with the same MPI, of about as many ranks and about such
sizes.
"""

from __future__ import annotations

import bisect
import math
import os
from collections import Counter, defaultdict
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, NamedTuple

from ..common import peers, wisdom, wisdom_place
from ..common.layout import CliError, Layout
from ..common.totals import base, why_not

if TYPE_CHECKING:
    from ..common.records import Cell, Comm, Rank
    from ..common.rules import Line
    from ..common.totals import Totals

REACH = 2  # how far beyond what was measured, in bytes and in ranks

STARTED = "nonblocking or persistent"
UNTIMED = "no call was timed"
APART = "ranks of several nodes, or not all recorded"
OWN_BYTES = "each rank knows only its own bytes"
NO_COLLECTIVE = "no times of the collective"
NO_RANKS = "no times of this number of ranks"
NO_BYTES = "no times of such sizes"


class Row(NamedTuple):
    """The times of a call. bytes: as in a rule."""

    collective: str
    ranks: int
    oversubscribed: bool
    bytes: int
    mpi_ns: float
    huddle_ns: float


def row_of(line: Line, is_used: bool) -> Row | None:
    """
    Returns the row of a line.  Returns None if the MPI's own collective was not measured, if the
    sizes have no upper end, or if the line is about several nodes.  is_used: ranks use what was
    learned, not their first choice.
    """
    ns, about = wisdom.count(line, "ns"), line.conditions
    first = wisdom.timed(line.notes.get("before", ""))
    huddle_ns = first[1] if first and not is_used else ns
    mpi_ns = ns if line.algorithm == wisdom.HOST else wisdom.count(line, "mpi_ns")
    size = wisdom.sizes(line)
    high = size.high if size else 0
    if not ns or not mpi_ns or high is None or "nodes" in about:
        return None
    over = about.get("oversubscribed") == "yes"
    return Row(line.name, int(about["ranks"]), over, high, mpi_ns, huddle_ns)


def nearest(counts: Any, ranks: int) -> int | None:
    """
    Returns the nearest of the measured numbers of ranks, the smaller of two equally near, or None
    if none is near.
    """
    far = {count: max(count / ranks, ranks / count) for count in counts}
    near = [count for count in counts if far[count] <= REACH]
    return min(near, key=lambda count: (far[count], count), default=None)


def between(points: dict[Any, float], size: float) -> float | None:
    """
    Returns the time of a size from {size: ns}, interpolated linearly on logarithmic axes.  Returns
    None if the size is too far from all measured sizes.
    """
    if size in points:
        return points[size]
    sizes = sorted(filter(None, points))
    if not size or not sizes or not sizes[0] / REACH <= size <= sizes[-1] * REACH:
        return None
    if len(sizes) == 1:
        return points[sizes[0]]
    at = min(max(bisect.bisect(sizes, size), 1), len(sizes) - 1)
    low, high = sizes[at - 1 : at + 1]
    part = math.log(size / low) / math.log(high / low)
    return points[low] ** (1 - part) * points[high] ** part


class Measured:
    """
    The times: {(collective, oversubscribed): {ranks: (times of the MPI, times of huddle)}}, where
    times are {size: ns}.
    """

    def __init__(self, rows: list[Row]) -> None:
        self.tables: defaultdict[Any, dict[int, Any]] = defaultdict(dict)
        for row in rows:
            counts = self.tables[row.collective, row.oversubscribed]
            both = counts.setdefault(row.ranks, ({}, {}))
            both[0][row.bytes], both[1][row.bytes] = row.mpi_ns, row.huddle_ns
        self.collectives = {collective for collective, _ in self.tables}

    def saved_ns(self, collective: str, oversubscribed: bool, ranks: int, size: float) -> Any:
        """
        Returns (saving of a call, the number of ranks that was measured), or the reason why the
        saving is not known.
        """
        if collective not in self.collectives:
            return NO_COLLECTIVE
        counts = self.tables.get((collective, oversubscribed), {})
        count = nearest(counts, ranks)
        if count is None:
            return NO_RANKS
        alone, with_huddle = (between(points, size) for points in counts[count])
        return NO_BYTES if alone is None or with_huddle is None else (alone - with_huddle, count)


@dataclass
class Saving:
    """
    The time saved in a collective, summed over ranks. seconds: time of the covered calls.
    """

    handled: int = 0
    covered: int = 0
    seconds: float = 0
    saved: float = 0
    ranks: set[int] = field(default_factory=set)  # measured numbers of ranks

    def add(self, cell: Cell, rate: float, saved_ns: float, ranks: int) -> None:
        seconds = cell.all_ticks * rate * 1e-9
        self.covered += cell.calls
        self.seconds += seconds
        self.saved += max(saved_ns * 1e-9 * cell.calls, -seconds)  # no time is less than none
        self.ranks.add(ranks)

    def scale(self, part: float) -> None:
        """Reduces the saving to the part of the calls that was handled."""
        self.handled, self.covered = round(part * self.handled), round(part * self.covered)
        self.seconds, self.saved = part * self.seconds, part * self.saved


class Job:
    """The hosts of the ranks of a job and of its communicators."""

    def __init__(self, ranks: list[Rank], cores: int) -> None:
        self.cores, self.crew = cores, Counter(rank.host for rank in ranks)
        self.members = defaultdict(set)
        for number, rank in enumerate(ranks):
            for cell in rank.cells:
                self.members[cell.comm.key].add((number, rank.host))

    def is_together(self, comm: Comm) -> bool:
        """Returns whether all the communicator's ranks were recorded on one node."""
        members = self.members[comm.key]
        return len(members) == comm.size and len({host for _, host in members}) == 1

    def is_oversubscribed(self, rank: Rank) -> bool:
        return self.crew[rank.host] > self.cores


def size_of(cell: Cell, row: dict[str, Any]) -> float:
    """
    Returns the bytes of a mean call as rules count them.  `row` is the library's row of the
    collective.
    """
    if not row["moves"]:
        return 0
    size = cell.bytes / cell.calls
    return size * cell.comm.size if row["counts"] and base(cell.name) == row["also"] else size


def of_cell(rank: Rank, cell: Cell, job: Job, measured: Measured, row: Any) -> Any:
    """Returns the saving of a mean call of the cell, or the reason why it is not known."""
    if cell.name != base(cell.name):
        return STARTED
    if not cell.timed:
        return UNTIMED
    if not job.is_together(cell.comm):
        return APART
    if row["views"]:
        return OWN_BYTES
    where = (job.is_oversubscribed(rank), cell.comm.size)
    return measured.saved_ns(row["name"], *where, size_of(cell, row))


def savings(
    totals: Totals,
    known: dict[str, Any],
    rows: list[Row],
    cores: int,
    by_collective: dict[str, Any],
) -> tuple[dict[str, Saving], Counter[str]]:
    """
    Returns ({collective as called: Saving}, Counter of uncovered calls by reason).  `known` has the
    library's collectives, and `by_collective` has rows of totals.  More ranks than `cores` are
    oversubscribed.
    """
    job, measured = Job(totals.ranks, cores), Measured(rows)
    names: defaultdict[str, Saving] = defaultdict(Saving)
    reasons: defaultdict[str, Counter[str]] = defaultdict(Counter)
    for rank in totals.ranks:
        for cell in rank.cells:
            row = known.get(totals.core.served.get(base(cell.name), base(cell.name)))
            empty = cell.size_class == 0 and row and row["sized"]
            if not cell.calls or empty or why_not(rank, cell, totals.core):
                continue
            names[cell.name].handled += cell.calls
            answer = of_cell(rank, cell, job, measured, row)
            if isinstance(answer, str):
                reasons[cell.name][answer] += cell.calls
            else:
                names[cell.name].add(cell, rank.ns_per_tick, *answer)
    missing: Counter[Any] = Counter()
    for name, saving in names.items():
        part = by_collective[name].handled / saving.handled  # others have bypassed huddle
        saving.scale(part)
        missing.update({why: round(part * calls) for why, calls in reasons[name].items()})
    return {name: saving for name, saving in names.items() if saving.handled}, missing


def how_to(mpi: str) -> str:
    return f"huddle tune --mpi {peers.kind_of(mpi) or 'MPI'} measures the missing times"


def find(layout: Layout, mpi: str) -> wisdom.Wisdom:
    """Returns what is known here of an MPI.  Raises CliError if nothing is."""
    here = wisdom_place.place(layout, mpi)
    if not os.path.exists(here.path):
        raise CliError(f"no times of {mpi} were learned on this machine")
    found = wisdom.read(layout, here.path, named=here.named, mpi=mpi)
    if found.not_used:
        raise CliError(found.not_used)
    return found


def dates_text(cells: list[Line]) -> str:
    """Formats the dates of lines, such as '2026-11-25 to 2026-11-29'."""
    dates = sorted(filter(None, map(wisdom.age, cells)))
    return " to ".join(dict.fromkeys((dates[0], dates[-1]))) if dates else "at an unknown time"


def numbers(saving: Saving) -> dict[str, Any]:
    known = saving.covered > 0
    return {
        "handled": saving.handled,
        "covered": saving.covered,
        "seconds": saving.seconds if known else None,
        "without_huddle_seconds": saving.seconds + saving.saved if known else None,
        "saved_seconds": saving.saved if known else None,
        "measured_ranks": sorted(saving.ranks),
    }


def collect(totals: Totals, layout: Layout, by_collective: dict[str, Any]) -> dict[str, Any]:
    """
    Returns the estimate as dicts and lists.  "unknown" says why there is no estimate, else it is
    None.
    """
    mpi = totals.ranks[0].mpi
    if not any(row.handled for row in by_collective.values()):
        return {"unknown": "huddle handled no calls"}
    try:
        found = find(layout, mpi)
        is_used = wisdom_place.setting(layout) != wisdom_place.OFF
        rows = [row for line in found.last if (row := row_of(line, is_used))]
        if not rows:
            raise CliError(f"{found.path} has no times of {mpi} alone")
    except (CliError, OSError) as error:
        return {"unknown": f"{error}; {how_to(mpi)}"}
    known = {row["name"]: row for row in layout.ask("info", "collectives")}
    names, missing = savings(
        totals, known, rows, int(found.machine.get("processors", "0")), by_collective
    )
    whole = Saving()
    for saving in names.values():
        whole.handled += saving.handled
        whole.covered += saving.covered
        whole.seconds += saving.seconds
        whole.saved += saving.saved
        whole.ranks |= saving.ranks
    order = sorted(names.items(), key=lambda pair: -abs(pair[1].saved))
    return {
        "unknown": None,
        "file": found.path,
        "measured": dates_text(found.last),
        "measured_with": mpi,
        "not_covered": dict(missing.most_common()),
        **numbers(whole),
        "collectives": [{"collective": name, **numbers(saving)} for name, saving in order],
    }
