# SPDX-License-Identifier: BSD-3-Clause
"""
What huddle saves, by estimate: of each call that it handled, how much longer the MPI alone takes by
the times that `huddle tune --against` has measured (common/times.py).  Nothing is run without
huddle.  A call counts only where there are times of its collective, with the same MPI, of about as
many ranks and about such sizes.
"""

import bisect
import math
from collections import Counter, defaultdict
from dataclasses import dataclass, field

from ..common import machines, peers, records, times
from ..common.layout import Trouble
from ..common.totals import base, why_not

REACH = 2  # how far beyond what was measured, in bytes and in ranks

STARTED = "nonblocking or persistent"
UNTIMED = "no call was timed"
APART = "ranks of several nodes, or not all recorded"
OWN_BYTES = "each rank knows only its own bytes"
NO_COLLECTIVE = "no times of the collective"
NO_RANKS = "no times of so many ranks"
NO_BYTES = "no times of such sizes"


def nearest(counts, ranks):
    """Of measured numbers of ranks; None: none is near.  Of two as near, the smaller."""
    far = {count: max(count / ranks, ranks / count) for count in counts}
    near = [count for count in counts if far[count] <= REACH]
    return min(near, key=lambda count: (far[count], count), default=None)


def between(points, size):
    """
    Of {size: ns}, the time of a size: on the line of its neighbours, both axes logarithmic.  None:
    it is too far from what was measured.
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
    """The times of one MPI: {(collective, oversubscribed): {ranks: {"mpi": {size: ns}, ...}}}."""

    def __init__(self, rows, mpi):
        self.tables = defaultdict(dict)
        for row in rows:
            if row.mpi == mpi:
                counts = self.tables[row.collective, row.oversubscribed]
                both = counts.setdefault(row.ranks, ({}, {}))
                both[0][row.bytes], both[1][row.bytes] = row.mpi_ns, row.huddle_ns
        self.collectives = {collective for collective, _ in self.tables}

    def saved_ns(self, collective, oversubscribed, ranks, size):
        """(of a call, the ranks that were measured), or the reason why it is not known."""
        if collective not in self.collectives:
            return NO_COLLECTIVE
        counts = self.tables.get((collective, oversubscribed), {})
        count = nearest(counts, ranks)
        if count is None:
            return NO_RANKS
        alone, with_huddle = (between(points, size) for points in counts[count])
        return NO_BYTES if alone is None else (alone - with_huddle, count)


@dataclass
class Saving:
    """Of a collective, summed over ranks.  seconds: of the calls that are covered."""

    handled: int = 0
    covered: int = 0
    seconds: float = 0
    saved: float = 0
    ranks: set = field(default_factory=set)  # that were measured

    def add(self, cell, rate, saved_ns, ranks):
        seconds = cell.all_ticks * rate * 1e-9
        self.covered += cell.calls
        self.seconds += seconds
        self.saved += max(saved_ns * 1e-9 * cell.calls, -seconds)  # no time is less than none
        self.ranks.add(ranks)

    def scale(self, part):
        """Only that part of the calls was handled."""
        self.handled, self.covered = round(part * self.handled), round(part * self.covered)
        self.seconds, self.saved = part * self.seconds, part * self.saved


class Job:
    """Where the ranks of a job, and of its communicators, are."""

    def __init__(self, ranks, cores):
        self.cores, self.crew = cores, Counter(rank.host for rank in ranks)
        self.members = defaultdict(set)
        for number, rank in enumerate(ranks):
            for cell in rank.cells:
                self.members[cell.comm.key].add((number, rank.host))

    def is_together(self, comm):
        """All its ranks were recorded, on one node."""
        members = self.members[comm.key]
        return len(members) == comm.size and len({host for _, host in members}) == 1

    def is_oversubscribed(self, rank):
        return self.crew[rank.host] > self.cores


def size_of(cell, row):
    """The bytes of a mean call, as rules count them.  row: of the library's collectives."""
    if not row["moves"]:
        return 0
    size = cell.bytes / cell.calls
    return size * cell.comm.size if row["counts"] and base(cell.name) == row["also"] else size


def of_cell(rank, cell, job, measured, row):
    """As saved_ns."""
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


def savings(totals, known, found, by_collective):
    """
    ({collective as called: Saving}, Counter of calls that are not covered by reason).  known: the
    library's collectives; found: Times; by_collective: rows of totals.
    """
    job = Job(totals.ranks, found.cores)
    measured = Measured(found.rows, totals.ranks[0].mpi)
    names, reasons = defaultdict(Saving), defaultdict(Counter)
    for rank in totals.ranks:
        for cell in rank.cells:
            row = known.get(totals.core.served.get(base(cell.name), base(cell.name)))
            empty = cell.size_class == 0 and row and row["moves"]
            if not cell.calls or empty or why_not(rank, cell, totals.core):
                continue
            names[cell.name].handled += cell.calls
            answer = of_cell(rank, cell, job, measured, row)
            if isinstance(answer, str):
                reasons[cell.name][answer] += cell.calls
            else:
                names[cell.name].add(cell, rank.ns_per_tick, *answer)
    missing = Counter()
    for name, saving in names.items():
        part = by_collective[name].handled / saving.handled  # others have bypassed huddle
        saving.scale(part)
        missing.update({why: round(part * calls) for why, calls in reasons[name].items()})
    return {name: saving for name, saving in names.items() if saving.handled}, missing


def how_to(mpi):
    return f"huddle tune --against {peers.kind_of(mpi) or 'all'} measures what it takes"


def tuning_of(ranks):
    """The tuning file of the job's ranks, whose settings need not be those of this command."""
    known = {rank.tuning for rank in ranks if rank.tuned != records.UNTOLD}
    if len(known) > 1:
        raise Trouble(f"the ranks had different tuning files: {', '.join(sorted(known))}")
    if not known:
        raise Trouble("no rank has recorded its tuning file")
    tuning = known.pop()
    if not tuning:
        raise Trouble("no tuning file is in force")
    return tuning


def machine_of(tuning):
    """Of [machine] of a tuning file, for people; "": it is not told."""
    if machines.tomllib is None:
        return ""
    try:
        with open(tuning, "rb") as file:
            about = machines.tomllib.load(file).get("machine", {})
    except (OSError, ValueError):
        return ""
    words = {"cpu": "{}", "processors": "{} processors"}
    return ", ".join(form.format(about[key]) for key, form in words.items() if key in about)


def elsewhere(ranks, tuning):
    """Of times that were measured on another machine than the job's: on which; None: on it."""
    if not any(rank.tuned == records.ELSEWHERE for rank in ranks):
        return None
    machine = machine_of(tuning)
    return f"on another processor{f' ({machine})' if machine else ''}"


def find(tuning, mpi):
    """
    (Times, their file).  Trouble: there are none for this MPI with this tuning file.
    """
    path = times.place(tuning)
    found = times.read(path)
    if not found:
        raise Trouble(f"there is no {path}, next to the tuning file")
    if found.rules != times.rules_digest(tuning):
        raise Trouble(f"{path} was measured with other rules than those of {tuning}")
    others = sorted({row.mpi for row in found.rows})
    if mpi not in others:
        raise Trouble(f"{path} has no times of {mpi}, but of {', '.join(others) or 'no MPI'}")
    return found, path


def numbers(saving):
    known = saving.covered > 0
    return {
        "handled": saving.handled,
        "covered": saving.covered,
        "seconds": saving.seconds if known else None,
        "without_huddle_seconds": saving.seconds + saving.saved if known else None,
        "saved_seconds": saving.saved if known else None,
        "measured_ranks": sorted(saving.ranks),
    }


def collect(totals, layout, by_collective):
    """As plain data; "unknown" says why there is no estimate, else None."""
    mpi = totals.ranks[0].mpi
    if not any(row.handled for row in by_collective.values()):
        return {"unknown": "huddle handled no calls"}
    try:
        tuning = tuning_of(totals.core.ranks)
        found, path = find(tuning, mpi)
    except (Trouble, OSError) as trouble:
        return {"unknown": f"{trouble}; {how_to(mpi)}"}
    known = {row["name"]: row for row in layout.ask("info", "collectives")}
    names, missing = savings(totals, known, found, by_collective)
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
        "file": path,
        "measured": found.measured,
        "doubt": None if found.doubt == times.SOUND else found.doubt,
        "elsewhere": elsewhere(totals.core.ranks, tuning),
        "measured_with": f"huddle {found.huddle}, {mpi}",
        "not_covered": dict(missing.most_common()),
        **numbers(whole),
        "collectives": [{"collective": name, **numbers(saving)} for name, saving in order],
    }
