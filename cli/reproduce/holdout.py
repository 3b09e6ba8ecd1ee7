# SPDX-License-Identifier: BSD-3-Clause
"""
Broadcasts whose times gave no number of the simulator: those of XHC (Katevenis, Ploumidis,
Marazakis) on 48 ranks of 2 x 24 cores of Ice Lake, as its authors print them.  Three other
measurements of that machine are in its description.

The description is the one of 2 x 32 cores of Ice Lake (xeon-8358), with 24 cores a socket and an L3
of 1.5 MB a core.  XHC's authors measured what a store takes after others have read (`revoke_ns`),
what it takes to collect an acknowledgement (`scan_gap_ns`), and what a reader gets with 2 ranks
(`cached_gbps`); other numbers follow from these by rule.  So the times are held out, and the
machine is not.

XHC's algorithm is not one of huddle's.  The nearest one has its structure: up to 4 KB `inline` or
`queue`, announced in groups by socket; beyond that `levels`, where the leader of each socket copies
for the others.  XHC copies large messages once, out of the root's memory, where `levels` copies
twice.
"""

from ..common import simulated
from .rows import Result, Row, within
from .own import BRIEFLY
from .unmeasured import ends, ranged

PART, TITLE = "Held out", "broadcasts of XHC on 2 x 24 cores of Ice Lake"
MACHINE, CORES, SOCKETS, SIMULATED = "xeon-8358", 24, 2, "simulated"
KB = 1 << 10
L3_MB = CORES * 3 // 2
TOPOLOGY = (
    f"pack:{SOCKETS} [numa(memory=128GiB)] l3:1(size={L3_MB}MiB) l2:{CORES}(size=1280KiB) core:1"
    " pu:1"
)
FORMS = (  # bytes, us printed, algorithm
    (8, 1.74, "inline"),
    (4 * KB, 2.28, "queue"),
    (64 * KB, 11.8, "levels"),
    (1024 * KB, 206, "levels"),
)
SHORT = 2  # of these, whose time is lines: they have a range
NOTES = (
    (
        "what a reader gets with 2 ranks may be of a broadcast: the same series has 5.1 GB/s on 48"
        " ranks, which is 1 MB in the 206 us that is compared here; the 15 GB/s of 2 ranks are"
        " used, and the 5.1 are not"
    ),
    f"the criterion is stricter than elsewhere: within 25 %; {simulated.MEASURED}",
    (
        "the published times are those of an MPI library with XHC: the front end's own time, some"
        " .1 us a call, is in them and not in these"
    ),
)


def machine_of(lab):
    described = lab.machine(MACHINE)
    caches = {**described["caches"], "shared_bytes": L3_MB << 20}
    return {**described, "topology": TOPOLOGY, "caches": caches}


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
    machine, ranks = machine_of(lab), 8 if lab.brief else SOCKETS * CORES
    for line in NOTES:
        lab.note(line)
    short, long = FORMS[:SHORT], [] if lab.brief else FORMS[SHORT:]
    at_ends = [rows_of(lab, end, ranks, short, **BRIEFLY) for end in ends(machine)]
    rows = list(ranged(rows_of(lab, machine, ranks, short), at_ends))
    rows += rows_of(lab, machine, ranks, long)
    rows += choices(lab, machine, ranks)
    if lab.brief:  # the published figures are for other numbers of ranks
        rows = [row.alone() for row in rows]
    return Result(rows, [])
