# SPDX-License-Identifier: BSD-3-Clause
"""
Broadcasts of a machine from which no number of the simulator was taken: those of XHC (Katevenis,
Ploumidis, Marazakis) on 48 ranks of 2 x 24 cores of Ice Lake, as its authors print them.

The description (held-out/ice-lake) has its numbers of other Ice Lake processors, or by rules from
machines that huddle has measured.  From XHC's paper it has the number of cores.  It was committed
before it was simulated.

XHC's algorithm is not one of huddle's.  The nearest one has its structure: up to 4 KB `inline` or
`queue`, announced in groups by socket; beyond that `levels`, where the leader of each socket copies
for the others.  XHC copies large messages once, out of the root's memory, where `levels` copies
twice.  An experiment has `single` there, with processes that map each other's memory.
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
SHORT = 2  # of these, whose time is lines: they have a range
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
        "huddle chooses by a time model that has two bandwidths of that paper (src/cost/units.h);"
        " they decide which algorithm is simulated, and give no time"
    ),
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


def experiments(lab, machine, ranks):
    for size, printed, _ in FORMS[SHORT:]:
        ns = simulated.measured_ns(
            lab.layout, mapped(machine), "bcast", "single", size, ranks=ranks
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


def reproduce(lab):
    machine = lab.machine(os.path.join(lab.layout.machines, MACHINE))
    ranks = 8 if lab.brief else RANKS
    for line in NOTES:
        lab.note(line)
    short, long = FORMS[:SHORT], [] if lab.brief else FORMS[SHORT:]
    at_ends = [rows_of(lab, end, ranks, short, **BRIEFLY) for end in ends(machine)]
    rows = list(ranged(rows_of(lab, machine, ranks, short), at_ends))
    rows += rows_of(lab, machine, ranks, long)
    if not lab.brief:
        rows += experiments(lab, machine, ranks)
    rows += choices(lab, machine, ranks)
    if lab.brief:  # the published figures are for other numbers of ranks
        rows = [row.alone() for row in rows]
    return Result(rows, [])
