# SPDX-License-Identifier: BSD-3-Clause
"""Simulated times, for commands that show them beside printed, predicted or measured ones."""
from .layout import Trouble

LEASE = 1536 << 10  # bytes of a rank's slot where nothing else is said


def call_ns(layout, machine, collective, algorithm, size=0, **more):
    """Of one call on a described machine (a dictionary).  more: as in src/sim/run/request.h."""
    request = {"machine": machine, "collective": collective, "algorithm": algorithm, "bytes": size, "slot_bytes": LEASE, "map": "core", "levels_off": "", "parameters": {}, **more}
    answer = layout.question("simulate", request)["call"]
    if not answer["checker"]["clean"]:
        raise Trouble(f"the checker found something in {collective}/{algorithm}: {answer['checker']['report'].strip()}")
    return answer["times"]["time_ns"]


def choice(layout, machine, collective, size, ranks, mapping="core"):
    """What huddle would choose there: {"algorithm", "parameters", "slot_bytes"}; None: it leaves the call to the MPI."""
    answer = layout.ask("explain", collective, str(size), str(ranks), mapping, machine["topology"], HUDDLE_TUNING="off", HUDDLE_CMA="off")
    if answer["error"]:
        raise Trouble(answer["error"], 2)
    return answer["serves"]


def chosen_ns(layout, machine, collective, size, ranks, mapping="core", **more):
    """Of huddle's choice; None: it leaves the call to the MPI."""
    serves = choice(layout, machine, collective, size, ranks, mapping)
    return serves and call_ns(layout, machine, collective, serves["algorithm"], size, ranks=ranks, map=mapping, parameters=serves["parameters"],
                              slot_bytes=serves["slot_bytes"], **more)
