# SPDX-License-Identifier: BSD-3-Clause
"""
Times to compare predictions with: huddle's own choice, simulated on the same machine, and measured
if that is this machine.  The figures are those of huddle lab simulate.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ..simulate import measure
from ..simulate.simulation import parse_simulation

if TYPE_CHECKING:
    from ..simulate.simulation import Simulation


def simulation_of(prediction: Any) -> Simulation:
    """Returns the questions of huddle lab simulate COLL, with --measure if times are measured."""
    o, sizes = (
        prediction.options,
        (
            []
            if prediction.options.collective == "barrier"
            else ["--bytes", ",".join(map(str, prediction.sizes))]
        ),
    )
    simulation = parse_simulation(
        prediction.layout,
        o.collective,
        "--machine",
        o.machine,
        "--ranks",
        str(prediction.ranks),
        "--map",
        o.map,
        *sizes,
    )
    if o.measure:
        measure.prepare(simulation.options, simulation)
    return simulation


def times(prediction: Any) -> dict[str, Any]:
    """
    Returns the requested ones of "simulated" and "measured": ns of each size, or None if the call
    falls back or no figure counts.  Notes name the unreliable figures.
    """
    found, simulation = {}, simulation_of(prediction)
    calls = (
        simulation.calls()
        if prediction.options.simulate
        else {(None, size): simulation.resolve(None, size) for size in simulation.sizes}
    )
    if prediction.options.simulate:
        found["simulated"] = [call and call["times"]["time_ns"] for call in calls.values()]
    if prediction.options.measure:
        measured = measure.Measured(simulation, calls)
        found["measured"] = [measured.ns.get(key) for key in calls]
        prediction.notes += (
            [
                f"line transfer while it was measured: {min(measured.lines):.0f} to"
                f" {max(measured.lines):.0f} ns"
            ]
            if measured.lines
            else []
        )
        prediction.notes += measured.notes
    return found
