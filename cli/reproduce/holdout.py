# SPDX-License-Identifier: BSD-3-Clause
"""
Broadcasts of XHC's paper (Katevenis, Ploumidis, Marazakis), on 48 ranks of 2 x 24 cores of Ice
Lake, simulated with a description that has no measurement of that paper.

The description (held-out/ice-lake) has its numbers of other Ice Lake processors, or by rules from
machines that huddle has measured.  From the paper it has the number of cores.  It was committed
before it was simulated.  But its author knew the times of an earlier description, which differs in
10 of 30 numbers: they deviated by -31, -6, +57 and +42 %.

XHC's algorithm is not one of huddle's.  The nearest one has its structure: up to 4 KB `inline` or
`queue`, announced in groups by socket; beyond that `levels`, where the leader of each socket copies
for the others.  XHC copies large messages once, out of the root's memory, where `levels` copies
twice.  An experiment has `single` there, with processes that map each other's memory.

Each range has one end more than those of other parts: a shared cache that has only what its cores
evict (`shared_fill = "victim"`).  The description says nothing of that, so it has what they read.
"""

import os

from ..common import simulated
from .rows import Result, Row, within
from .own import BRIEFLY
from .unmeasured import ends, ranged

PART, TITLE = "Held out", "broadcasts of XHC on 2 x 24 cores of Ice Lake"
MACHINE, RANKS, SIMULATED = os.path.join("held-out", "ice-lake.toml"), 48, "simulated"
KB = 1 << 10
FORMS = (  # bytes, us printed, algorithm
    (8, 1.74, "inline"),
    (4 * KB, 2.28, "queue"),
    (64 * KB, 11.8, "levels"),
    (1024 * KB, 206, "levels"),
)
SHORT = 2  # of these, whose time is lines
AT_ONCE_NS = 0.001  # of a call that only maps
NOTES = (
    f"the criterion is stricter than elsewhere: within 25 %; {simulated.MEASURED}",
    (
        "the published times are those of an MPI library with XHC: the front end's own time, some"
        " .1 us a call, is in them and not in these"
    ),
    (
        "from 64 KB: where memory is mapped and copied once, as XHC does, an experiment, both times"
        " come out within a quarter; it was made after the rows had not come out"
    ),
    (
        "with a cache of victims both take 1.8 to 2 times the published time, so the experiment"
        " does not decide what XHC's times come from"
    ),
    "8 B: no experiment explains the time",
)


def rows_of(lab, machine, ranks, forms, **more):
    return [
        Row.judged(
            f"bcast {size} B, {ranks} ranks: {algorithm}",
            "us",
            printed,
            simulated.measured_ns(
                lab.layout, machine, "bcast", algorithm, size, ranks=ranks, **more
            )
            / 1000,
            SIMULATED,
            within(0.25),
        )
        for size, printed, algorithm in forms
    ]


def mapped(machine):
    """An experiment: a process copies from another's memory as from a cache, without a call."""
    copy = machine["copy"]
    copy = {**copy, "kernel_gbps": copy["cached_gbps"]["numa"], "kernel_call_ns": AT_ONCE_NS}
    return {**machine, "copy": copy}


def experiments(lab, machine, ranks, **more):
    for size, printed, _ in FORMS[SHORT:]:
        ns = simulated.measured_ns(
            lab.layout, mapped(machine), "bcast", "single", size, ranks=ranks, **more
        )
        what = f"experiment, memory is mapped: bcast {size} B, {ranks} ranks: single"
        yield Row(what, "us", printed, ns / 1000, SIMULATED)


def choices(lab, machine, ranks):
    for size, printed, _ in FORMS[:1] if lab.brief else FORMS:
        ns = simulated.chosen_measured_ns(lab.layout, machine, "bcast", size, ranks)
        yield Row(
            f"bcast {size} B, {ranks} ranks: as huddle chooses",
            "us",
            printed,
            ns and ns / 1000,
            SIMULATED,
        )


def with_victims(machine):
    """An end of the range: the shared cache has only what its cores evict."""
    return {**machine, "caches": {**machine["caches"], "shared_fill": "victim"}}


def reproduce(lab):
    machine = lab.machine(os.path.join(lab.layout.machines, MACHINE))
    ranks = 8 if lab.brief else RANKS
    for line in NOTES:
        lab.note(line)
    forms = FORMS[:SHORT] if lab.brief else FORMS

    def rows_with(described, **more):
        rows = rows_of(lab, described, ranks, forms, **more)
        return rows if lab.brief else [*rows, *experiments(lab, described, ranks, **more)]

    at_ends = [rows_with(end, **BRIEFLY) for end in (*ends(machine), with_victims(machine))]
    rows = [*ranged(rows_with(machine), at_ends), *choices(lab, machine, ranks)]
    if lab.brief:  # the published figures are for other numbers of ranks
        rows = [row.alone() for row in rows]
    return Result(rows, [])
