# SPDX-License-Identifier: BSD-3-Clause
"""
What the ranks of a job have recorded (src/host/record/record.h): one file per process, mapped by
it while it ran.  A file is whole however its process has ended.
"""

from __future__ import annotations

import os
import struct
from dataclasses import dataclass, field
from typing import Any

KIND = b"hudrec"
MAGIC = KIND + b"03"
HEAD = struct.Struct("<8s6I6i4QQ8I128s256s128s")
COMM = struct.Struct("<64sQ4i2I")
CALLER = struct.Struct("<Q176s72s")
CELL = struct.Struct("<3H2B2I6Q")
STAMP = struct.Struct("<2I2i2Q")
NAME_BYTES = 32
FINALIZED = 2


def text_of(raw: bytes) -> str:
    return raw.split(b"\0", 1)[0].decode(errors="replace")


def mpi_name(version: str) -> str:
    """Returns "MPICH 4.0.2" for the text of MPI_Get_library_version."""
    words = version.replace("Version:", " ").replace("(R)", "").replace(" Library", "").split()
    return " ".join(words[:3]).replace(" v", " ")


@dataclass
class Comm:
    name: str
    members: int  # a hash of its ranks in the world
    rank: int
    size: int
    inter: bool
    ordinal: int  # number among the communicators with the same members
    calls: int

    @property
    def key(self) -> tuple[int, int, bool, int, str]:
        """
        Returns the communicator's key, equal on all its ranks unless threads use communicators in
        different orders.
        """
        return (self.members, self.size, self.inter, self.ordinal, self.name)

    @property
    def label(self) -> str:
        return f"{self.name or 'unnamed'} ({self.size})"


@dataclass
class Cell:
    comm: Comm
    name: str
    caller: tuple[Any, ...]  # (file, offset, function)
    size_class: int
    reason: int
    calls: int
    bytes: int
    timed: int
    represents: int  # calls, by each of the timed ones
    ticks: int  # time of these calls
    max_ticks: int

    @property
    def all_ticks(self) -> float:
        """Estimates the ticks of all calls from the timed ones.  Returns 0 if no call was timed."""
        return self.ticks * self.calls / self.represents if self.timed else 0


@dataclass
class Stamp:
    number: int
    cell: Cell
    root: int
    enter: int
    ticks: int


@dataclass
class Rank:
    """One process."""

    pid: int
    world_rank: int
    world_size: int
    finalized: bool
    launched_size: int
    host: str
    mpi: str
    program: str
    ns_per_tick: float
    span_ns: int
    lost: int
    inside: Cell | None
    core: list[int]  # the counters of huddle's core; empty: huddle was not there
    cells: list[Cell] = field(default_factory=list)
    stamps: list[Stamp] = field(default_factory=list)
    threads: bool = False  # several of its threads may call MPI at once


def tables(
    data: bytes, at: int, one: Any, counts: tuple[int, int]
) -> tuple[list[tuple[Any, ...]], int]:
    """Returns the used rows of a table, and the offset of the next table."""
    used, places = counts
    rows = [one.unpack_from(data, at + i * one.size) for i in range(used)]
    return rows, at + places * one.size


def parse(data: bytes) -> Rank | None:
    """Returns a Rank, or None if the process has not begun to record."""
    if len(data) < HEAD.size or data[:8] != MAGIC:
        return None
    values = HEAD.unpack_from(data)
    names_max, comms_max, callers_max, cells_max, stamps_max, core_max = values[1:7]
    if len(data) != (
        HEAD.size
        + names_max * NAME_BYTES
        + core_max * 8
        + comms_max * COMM.size
        + callers_max * CALLER.size
        + cells_max * CELL.size
        + stamps_max * STAMP.size
    ):
        return None
    pid, world_rank, world_size, state, threads, launched = values[7:13]
    ticks0, ns0, ticks1, ns1, lost = values[13:18]
    names, comms, callers, cells, stamps, _level, core, inside = values[18:26]
    rooms = (names_max, comms_max, callers_max, cells_max, stamps_max, core_max)
    if any(used > room for used, room in zip((names, comms, callers, cells, stamps, core), rooms)):
        return None
    at = HEAD.size
    words = [text_of(data[at + i * NAME_BYTES : at + (i + 1) * NAME_BYTES]) for i in range(names)]
    at += names_max * NAME_BYTES
    counters = list(struct.unpack_from(f"<{core}Q", data, at))
    rows, at = tables(data, at + core_max * 8, COMM, (comms, comms_max))
    known = [Comm(text_of(r[0]), r[1], r[2], r[3], bool(r[4]), r[5], r[7]) for r in rows]
    rows, at = tables(data, at, CALLER, (callers, callers_max))
    places = [(text_of(r[1]), r[0], text_of(r[2])) for r in rows]
    rows, at = tables(data, at, CELL, (cells, cells_max))
    counted = [Cell(known[r[0]], words[r[1]], places[r[2]], r[3], r[4], *r[7:13]) for r in rows]
    rows, at = tables(data, at, STAMP, (stamps, stamps_max))
    rank = Rank(
        pid,
        world_rank,
        world_size,
        state == FINALIZED,
        launched,
        text_of(values[26]),
        mpi_name(text_of(values[27])),
        text_of(values[28]),
        (ns1 - ns0) / (ticks1 - ticks0) if ticks1 > ticks0 else 1.0,
        ns1 - ns0,
        lost,
        counted[inside - 1] if 0 < inside <= len(counted) else None,
        counters,
        counted,
    )
    rank.threads = bool(threads)
    rank.stamps = [Stamp(r[0], counted[r[1]], r[2], r[4], r[5]) for r in rows]
    return rank


def without_room(folder: str) -> int:
    """Counts the processes that found no room for their record.  Each has left an empty file."""
    return sum(
        entry.is_file() and entry.stat().st_size == 0 and entry.name.rpartition(".")[2].isdigit()
        for entry in os.scandir(folder)
    )


def damaged(folder: str, ranks: Any) -> int:
    """Counts the records, other than the ranks', that cannot be read."""
    whole, count = {f"{rank.host}.{rank.pid}" for rank in ranks}, 0
    for name in set(os.listdir(folder)) - whole:
        try:
            with open(os.path.join(folder, name), "rb") as file:
                count += file.read(len(KIND)) == KIND
        except OSError:
            continue
    return count


def read(folder: str) -> list[Rank]:
    """Returns the ranks whose files are in the folder, by their number."""
    ranks = []
    for name in sorted(os.listdir(folder)):
        try:
            with open(os.path.join(folder, name), "rb") as file:
                rank = parse(file.read())
        except (OSError, IndexError, struct.error):  # the last two: damaged
            continue
        if rank:
            ranks.append(rank)
    ranks.sort(key=lambda rank: (rank.world_rank, rank.host, rank.pid))
    longest: dict[str, Rank] = {}
    for rank in ranks:
        if rank.span_ns >= longest.get(rank.host, rank).span_ns:
            longest[rank.host] = rank
    for rank in ranks:  # processes of a machine share one counter: the longest look knows its rate
        rank.ns_per_tick = longest[rank.host].ns_per_tick
    return ranks
