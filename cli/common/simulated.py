# SPDX-License-Identifier: BSD-3-Clause
"""Simulated times, for commands that compare them with published, predicted or measured ones."""

import statistics

from . import machines
from .layout import Trouble
from .repetitions import REPETITIONS, RING, calls

LEASE = 1536 << 10  # bytes of a rank's slot by default
# Papers compare algorithms in shared memory, and so the choice that is compared with them has none
# of the kernel's copies.
SHARED_MEMORY = {"HUDDLE_TUNING": "off", "HUDDLE_CMA": "off"}
SEEDS, CLOSE = (1, 2, 3), 1.2
MEASURED = (
    "single calls from a common start with fresh data, after all buffers and lines have been used;"
    f" the time of the slowest rank, the median of {REPETITIONS} calls, of {RING} up to 4 KB; then"
    " the median of 3 seeds, which order events of the same time. Of several candidates,"
    " only those within 20 % of the best in a first call are measured"
)


def entry_ns(skew_ns, ranks):
    """
    Median time until the last of `ranks` ranks, which enter at random within skew_ns, has entered.
    Subtracting it from a call's time is exact where all ranks wait for the last one.  A broadcast
    or a reduction may end without the last rank; then it subtracts too much, by less than half of
    it.
    """
    return skew_ns * 0.5 ** (1 / ranks)


def clean(answer, collective, algorithm):
    """The simulator's answer to one call, in which the checker has found no fault."""
    if not answer["checker"]["clean"]:
        raise Trouble(
            f"the checker found something in {collective}/{algorithm}:"
            f" {answer['checker']['report'].strip()}"
        )
    return answer


def call(layout, machine, collective, algorithm, size=0, **more):
    """
    The simulator's answer to one call on a described machine (a dictionary).  more: other fields of
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
    return clean(layout.question("simulate", request)["call"], collective, algorithm)


def call_ns(layout, machine, collective, algorithm, size=0, **more):
    return call(layout, machine, collective, algorithm, size, **more)["times"]["time_ns"]


def measured_ns(
    layout, machine, collective, algorithm, size=0, used_bytes=LEASE, seeds=SEEDS, **more
):
    """ns, by the method of MEASURED.  used_bytes: bytes of the slot that calls use in turn."""
    counted = calls(used_bytes, size)
    return statistics.median(
        call_ns(layout, machine, collective, algorithm, size, seed=seed, **{**counted, **more})
        for seed in seeds
    )


def once(layout, machine, used_bytes=None, **way):
    """
    One call after a warm-up: its ns, and arguments for measured_ns; None: the algorithm does not
    handle it.
    """
    try:
        answer = call(layout, machine, repetitions=1, warmup=1, **way)
    except Trouble as trouble:
        if trouble.status != 2:
            raise
        return None
    return answer["times"]["time_ns"], {**way, "used_bytes": used_bytes or answer["slot_bytes"]}


def fastest_ns(layout, machine, ways):
    """ns and name of the fastest of some ways to make a call: (name, arguments of measured_ns)."""
    tried = [
        (found, name) for name, way in ways for found in [once(layout, machine, **way)] if found
    ]
    fastest = min(ns for (ns, _), _ in tried)
    return min(
        (measured_ns(layout, machine, **way), name)
        for (ns, way), name in tried
        if ns <= CLOSE * fastest
    )


def choice(layout, machine_words, collective, size, ranks, mapping="core", **environment):
    """
    huddle's choice there: {"algorithm", "parameters", "slot_bytes"}; None: the call falls back to
    the MPI.  machine_words: machines.asked() of it.
    """
    answer = layout.ask(
        "explain", collective, str(size), str(ranks), mapping, *machine_words, **environment
    )
    if answer["error"]:
        raise Trouble(answer["error"], 2)
    return answer["serves"]


def chosen_measured_ns(layout, machine, collective, size, ranks, skew_ns=0, **more):
    """
    Of a paper's machine, and so without the kernel's copies.  skew_ns: ranks enter at random within
    it; entry_ns is subtracted.
    """
    words = machines.described(layout, machine)
    serves = choice(layout, words, collective, size, ranks, **SHARED_MEMORY)
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
