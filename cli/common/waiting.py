# SPDX-License-Identifier: BSD-3-Clause
"""
Splits the time of collectives into waiting for late ranks and moving data.

A rank waits from its own entry until the last rank enters that it needs data from, but no longer
than it is in the call.  The rest of the call is moving data.  Ranks stamp the same calls, so
that entries of one call are compared.  Processes of one machine share a clock; communicators that
span machines are not split.
"""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from .collectives import ALL, ALL_AT_ROOT, BEFORE, ROOT

if TYPE_CHECKING:
    from .records import Cell, Rank, Stamp

NEIGHBORS = "neighbor_"


@dataclass
class Split:
    """
    The time of the calls that all their ranks have stamped, and the part of it spent waiting.
    """

    calls: int = 0
    waiting_ns: float = 0
    ns: float = 0

    @property
    def share(self) -> float | None:
        """Returns the share of the time spent waiting, or None if it is not known."""
        return self.waiting_ns / self.ns if self.ns > 0 else None


@dataclass
class Lateness:
    """The calls and times of a rank of the world, over its matched calls that synchronise."""

    calls: int = 0
    last: int = 0  # it was the last to come
    late_ns: float = 0  # time after the first rank
    caused_ns: float = 0  # waits of others for it, where it was the last
    waited_ns: float = 0


@dataclass
class Waits:
    splits: dict[Any, Split] = field(
        default_factory=lambda: defaultdict(Split)
    )  # key_of(cell), rank number
    lateness: dict[int, Lateness] = field(
        default_factory=lambda: defaultdict(Lateness)
    )  # keys: numbers of ranks
    matched: int = 0


def key_of(cell: Cell) -> tuple[tuple[int, int, bool, int, str], str, int, tuple[str, int, str]]:
    """Returns the key of a call site's cells, whether or not huddle handled their calls."""
    return (cell.comm.key, cell.name, cell.size_class, cell.caller)


def awaited(way: str, root: int, mine: int, enters: dict[int, int]) -> int:
    """Returns the last entry that this rank needs.  `mine` is its number in the communicator."""
    if way == ROOT:
        return enters[root]
    if way == ALL_AT_ROOT:
        return max(enters.values()) if mine == root else enters[mine]
    if way == BEFORE:
        return max(at for rank, at in enters.items() if rank <= mine)
    return max(enters.values())


def calls_of(
    ranks: list[Rank],
) -> dict[tuple[tuple[int, int, bool, int, str], int], dict[int, tuple[int, Stamp]]]:
    """
    Returns {(communicator, number of the call): {rank in it: (number of the process, stamp)}}.
    """
    calls: defaultdict[Any, dict[int, tuple[int, Stamp]]] = defaultdict(dict)
    for number, rank in enumerate(ranks):
        for stamp in rank.stamps:
            comm = stamp.cell.comm
            if comm.size > 1 and not comm.inter and not stamp.cell.name.startswith(NEIGHBORS):
                calls[comm.key, stamp.number][comm.rank] = (number, stamp)
    return calls


def add_call(
    waits: Waits, ranks: list[Rank], members: dict[int, tuple[int, Stamp]], awaits: dict[str, str]
) -> None:
    rate = ranks[next(iter(members.values()))[0]].ns_per_tick
    enters = {mine: stamp.enter for mine, (_, stamp) in members.items()}
    first, last = min(enters.values()), max(enters.values())
    latest = max(enters, key=enters.__getitem__)
    way = awaits.get(members[latest][1].cell.name, ALL)
    waits.matched += 1
    for mine, (number, stamp) in members.items():
        if stamp.root not in enters:
            return
        until = awaited(way, stamp.root, mine, enters)
        wait = rate * max(0, min(until - stamp.enter, stamp.ticks))
        split = waits.splits[key_of(stamp.cell), number]
        split.calls += 1
        split.waiting_ns += wait
        split.ns += stamp.ticks * rate
        late = waits.lateness[number]
        late.waited_ns += wait
        if way == ALL:
            late.calls += 1
            late.last += mine == latest and last > first
            late.late_ns += rate * (stamp.enter - first)
            waits.lateness[members[latest][0]].caused_ns += wait


def several_jobs(ranks: list[Rank]) -> bool:
    """
    Returns whether two ranks have the same number or belong to different worlds.  Ignores worlds of
    one rank.
    """
    many = [rank for rank in ranks if rank.world_size > 1]
    worlds = {(rank.world_size, rank.mpi) for rank in many}
    return len(worlds) > 1 or len({rank.world_rank for rank in many}) < len(many)


def split(ranks: list[Rank], awaits: dict[str, str]) -> Waits:
    """
    Splits the waits of the ranks of a job (records.read).  Does not compare the waits of several
    jobs, because a communicator's number does not tell its job.  awaits: as of collectives.awaits.
    """
    waits = Waits()
    if several_jobs(ranks):
        return waits
    for (key, _), members in calls_of(ranks).items():
        complete = len(members) == key[1]
        names = {stamp.cell.name for _, stamp in members.values()}
        hosts = {ranks[number].host for number, _ in members.values()}
        if complete and len(names) == 1 and len(hosts) == 1:
            add_call(waits, ranks, members, awaits)
    return waits
