# SPDX-License-Identifier: BSD-3-Clause
"""Simulated times, for commands that compare them with published, predicted or measured ones."""

from __future__ import annotations

import statistics
from typing import Any

from cli.common import machines
from cli.common.exit_status import BAD_USE
from cli.common.layout import CliError, Layout

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


def entry_ns(skew_ns: float, ranks: int) -> float:
    """
    Returns the median time until the last of `ranks` ranks has entered, if they enter at random
    within skew_ns.  Subtracting this time from a call's time is exact if all ranks wait for the
    last rank.  A broadcast or a reduction may end without the last rank.  Then the subtrahend is
    too large by less than half.
    """
    return skew_ns * 0.5 ** (1 / ranks)


def clean(answer: dict[str, Any], collective: str, algorithm: str) -> dict[str, Any]:
    """
    Returns the simulator's answer to one call.  Raises CliError if the checker has found a fault.
    """
    if not answer["checker"]["clean"]:
        raise CliError(
            f"the checker found something in {collective}/{algorithm}:"
            f" {answer['checker']['report'].strip()}"
        )
    return answer


def call(
    layout: Layout,
    machine: dict[str, Any],
    collective: str,
    algorithm: str,
    size: int = 0,
    **more: Any,
) -> dict[str, Any]:
    """
    Returns the simulator's answer to one call on a described machine (a dictionary).  `more` has
    other fields of lab/sim/run/request.h.
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


def call_ns(
    layout: Layout,
    machine: dict[str, Any],
    collective: str,
    algorithm: str,
    size: int = 0,
    **more: Any,
) -> float:
    return call(layout, machine, collective, algorithm, size, **more)["times"]["time_ns"]


def measured_ns(
    layout: Layout,
    machine: dict[str, Any],
    collective: str,
    algorithm: str,
    size: int = 0,
    used_bytes: int = LEASE,
    seeds: tuple[int, ...] = SEEDS,
    **more: Any,
) -> float:
    """
    Returns ns by the method of MEASURED. `used_bytes` counts the bytes of the slot that calls use
    in turn.
    """
    counted = calls(used_bytes, size)
    return statistics.median(
        call_ns(layout, machine, collective, algorithm, size, seed=seed, **{**counted, **more})
        for seed in seeds
    )


def once(layout: Layout, machine: dict[str, Any], used_bytes: int | None = None, **way: Any) -> Any:
    """
    Simulates one call after a warm-up.  Returns its ns and arguments for measured_ns, or None if
    the algorithm does not handle the call.
    """
    try:
        answer = call(layout, machine, repetitions=1, warmup=1, **way)
    except CliError as error:
        if error.status != 2:
            raise
        return None
    return answer["times"]["time_ns"], {**way, "used_bytes": used_bytes or answer["slot_bytes"]}


def fastest_ns(
    layout: Layout, machine: dict[str, Any], ways: list[tuple[str, dict[str, Any]]]
) -> tuple[float, str]:
    """
    Returns ns and name of the fastest of some ways to make a call, (name, arguments of
    measured_ns).
    """
    tried = [
        (found, name) for name, way in ways for found in [once(layout, machine, **way)] if found
    ]
    fastest = min(ns for (ns, _), _ in tried)
    return min(
        (measured_ns(layout, machine, **way), name)
        for (ns, way), name in tried
        if ns <= CLOSE * fastest
    )


def choice(
    layout: Layout,
    machine_words: list[str],
    collective: str,
    size: int,
    ranks: int,
    mapping: str = "core",
    **environment: Any,
) -> dict[str, Any]:
    """
    Returns huddle's choice {"algorithm", "parameters", "slot_bytes"}, or None if the call falls
    back to the MPI. `machine_words` are from machines.words() or described.words().
    """
    answer = layout.ask(
        "explain", collective, str(size), str(ranks), mapping, *machine_words, **environment
    )
    if answer["error"]:
        raise CliError(answer["error"], BAD_USE)
    return answer["serves"]


def chosen_measured_ns(
    layout: Layout,
    machine: dict[str, Any],
    collective: str,
    size: int,
    ranks: int,
    skew_ns: int = 0,
    **more: Any,
) -> Any:
    """
    Measures huddle's choice on a paper's machine, without the kernel's copies.  Ranks enter at
    random within skew_ns; entry_ns is subtracted.
    """
    words = machines.words(machine, machine["name"])
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
