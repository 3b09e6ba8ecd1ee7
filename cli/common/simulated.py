# SPDX-License-Identifier: BSD-3-Clause
"""Simulated times, for commands that show them beside printed, predicted or measured ones."""

import statistics

from .layout import Trouble
from .repetitions import REPETITIONS, RING, calls

LEASE = 1536 << 10  # bytes of a rank's slot where nothing else is said
SEEDS, CLOSE = (1, 2, 3), 1.2
MEASURED = (
    "single calls from a common start with fresh data, once all buffers and lines have been used:"
    f" the slowest rank, the median of {REPETITIONS}, up to 4 KB of {RING}; of that the median of 3"
    " seeds, which order what happens at the same time; of several ways those that one call each"
    " finds within 20 % of the best"
)


def entry_ns(skew_ns, ranks):
    """
    Until the last of so many ranks, which enter at random within skew_ns, has entered: the median.
    Taken off the time of a call it is right where all ranks wait for the last one; of a broadcast
    or a reduction, which may end without it, it is too much, by less than half of it.
    """
    return skew_ns * 0.5 ** (1 / ranks)


def call(layout, machine, collective, algorithm, size=0, **more):
    """
    What the simulator says of one call on a described machine (a dictionary).  more: as in
    src/sim/run/request.h.
    """
    request = {
        "machine": machine,
        "collective": collective,
        "algorithm": algorithm,
        "bytes": size,
        "slot_bytes": LEASE,
        "map": "core",
        "levels_off": "",
        "parameters": {},
        **more,
    }
    answer = layout.question("simulate", request)["call"]
    if not answer["checker"]["clean"]:
        raise Trouble(
            f"the checker found something in {collective}/{algorithm}:"
            f" {answer['checker']['report'].strip()}"
        )
    return answer


def call_ns(layout, machine, collective, algorithm, size=0, **more):
    return call(layout, machine, collective, algorithm, size, **more)["times"]["time_ns"]


def measured_ns(layout, machine, collective, algorithm, size=0, used_bytes=LEASE, **more):
    """The same as MEASURED says.  used_bytes: of the slot, by calls in turn."""
    counted = calls(used_bytes, size)
    return statistics.median(
        call_ns(layout, machine, collective, algorithm, size, seed=seed, **{**counted, **more})
        for seed in SEEDS
    )


def once(layout, machine, used_bytes=None, **way):
    """
    One call after one that warms up: ns, and what measured_ns wants to know; None: the algorithm
    does not take it.
    """
    try:
        answer = call(layout, machine, repetitions=1, warmup=1, **way)
    except Trouble as trouble:
        if trouble.status != 2:
            raise
        return None
    return answer["times"]["time_ns"], {**way, "used_bytes": used_bytes or answer["slot_bytes"]}


def fastest_ns(layout, machine, ways):
    """Of ways to make a call, (name, arguments of measured_ns): ns and the name of the fastest."""
    tried = [
        (found, name) for name, way in ways for found in [once(layout, machine, **way)] if found
    ]
    least = min(ns for (ns, _), _ in tried)
    return min(
        (measured_ns(layout, machine, **way), name)
        for (ns, way), name in tried
        if ns <= CLOSE * least
    )


def choice(layout, machine, collective, size, ranks, mapping="core"):
    """
    What huddle would choose there: {"algorithm", "parameters", "slot_bytes"}; None: it leaves the
    call to the MPI.
    """
    answer = layout.ask(
        "explain",
        collective,
        str(size),
        str(ranks),
        mapping,
        machine["topology"],
        HUDDLE_TUNING="off",
        HUDDLE_CMA="off",
    )
    if answer["error"]:
        raise Trouble(answer["error"], 2)
    return answer["serves"]


def chosen_measured_ns(layout, machine, collective, size, ranks, skew_ns=0, **more):
    """skew_ns: ranks enter within so many; until the last has entered is taken off."""
    serves = choice(layout, machine, collective, size, ranks)
    return serves and measured_ns(
        layout,
        machine,
        collective,
        serves["algorithm"],
        size,
        ranks=ranks,
        parameters=serves["parameters"],
        skew_ns=skew_ns,
        slot_bytes=serves["slot_bytes"],
        used_bytes=serves["slot_bytes"],
        **more,
    ) - entry_ns(skew_ns, ranks)
