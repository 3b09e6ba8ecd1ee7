# SPDX-License-Identifier: BSD-3-Clause
"""
Sums over the ranks of a job: calls, what became of them, times.  One row per collective for
`huddle run --stats`, one per communicator, size and caller for `huddle profile`.
"""

from collections import Counter
from dataclasses import dataclass, field

from . import collectives, waiting

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
    passed: Counter = field(default_factory=Counter)  # reason -> calls

    def add(self, cell, rate, share, why):
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
        elif cell.size_class == 0 and base(cell.name) != "barrier":
            self.empty += cell.calls
        else:
            self.handled += cell.calls

    @property
    def moving(self):
        return self.seconds - self.waiting - self.unsplit


class Core:
    """The counters of huddle's core, summed over the ranks that have it."""

    def __init__(self, ranks, about, collectives):
        self.names = [c["name"] for c in collectives]
        self.served = {c["also"]: c["name"] for c in collectives if c.get("also")}
        self.reasons = about["reasons"]
        width = len(about["counts"]) + len(self.reasons)
        fields = 2 + len(self.names) * width + len(about["others"])
        self.ranks = [r for r in ranks if len(r.core) == fields and r.core[0] == len(self.names)]
        self.values = [sum(column) for column in zip(*(r.core for r in self.ranks))]
        self.width, self.counts, self.others = width, about["counts"], about["others"]

    def of(self, number):
        """{calls, bytes, ns, empty} and {reason: calls} of a collective; zeros without a core."""
        start = 2 + number * self.width
        row = self.values[start : start + self.width] or [0] * self.width
        cut = len(self.counts)
        return dict(zip(self.counts, row)), dict(zip(self.reasons, row[cut:]))

    def other(self):
        tail = self.values[2 + len(self.names) * self.width :] or [0] * len(self.others)
        return dict(zip(self.others, tail))

    def kind_of(self, name):
        """The number of huddle's collective that handles an MPI function; None: none does."""
        name = self.served.get(base(name), base(name))
        return self.names.index(name) if name in self.names else None


def base(name):
    """allreduce of iallreduce and of allreduce_init."""
    name = name.removesuffix("_init")
    return name[1:] if name.startswith("i") else name


def why_not(rank, cell, core):
    """Why huddle did not handle the calls of a cell; None: it did."""
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
    """Sums of a job.  rows: by key(cell)."""

    def __init__(self, ranks, layout):
        self.ranks = ranks
        self.core = Core(ranks, layout.ask("info", "statistics"), layout.ask("info", "collectives"))
        self.waits = waiting.split(ranks, collectives.awaits(layout))

    def share(self, number, cell):
        found = self.waits.splits.get((waiting.key_of(cell), number))
        if found:
            return found.share
        if cell.comm.size == 1 and not cell.comm.inter:
            return 0.0
        return None

    def rows(self, key):
        rows = {}
        for number, rank in enumerate(self.ranks):
            for cell in rank.cells:
                if cell.calls:
                    row = rows.setdefault(key(rank, cell), Row())
                    why = why_not(rank, cell, self.core)
                    row.add(cell, rank.ns_per_tick, self.share(number, cell), why)
        return rows

    def is_complete(self):
        """The core's counters are those of the end: no rank was killed."""
        return self.core.ranks and all(rank.finalized for rank in self.ranks)

    def by_collective(self):
        """
        In the order of their time.  Calls that huddle's core has not counted have bypassed it: the
        program, or a tool, has called PMPI functions.
        """
        rows = self.rows(lambda rank, cell: cell.name)
        for kind, _ in enumerate(self.core.names):
            mine = [n for n in rows if self.core.kind_of(n) == kind]
            left = self.core.of(kind)[1]["handled"]
            said = sum(rows[n].handled for n in mine)
            for name in mine if left < said and self.is_complete() else ():
                row = rows[name]
                unseen = min(row.handled, said - left)
                row.handled -= unseen
                said -= unseen
                row.passed[UNSEEN] += unseen
                row.passed += Counter()
        return dict(sorted(rows.items(), key=lambda pair: -pair[1].seconds))

    @property
    def calls(self):
        return sum(cell.calls for rank in self.ranks for cell in rank.cells)

    @property
    def timed(self):
        return sum(cell.timed for rank in self.ranks for cell in rank.cells)
