# SPDX-License-Identifier: BSD-3-Clause
"""
Times to compare predictions with: huddle's own choice, simulated on the same machine, and measured
if that is this machine.  The figures are those of huddle simulate.
"""

from ..simulate import measure
from ..simulate.asked import asked_as


def asked_of(prediction):
    """The questions of huddle simulate COLL, with --measure if times are measured."""
    o, sizes = prediction.options, (
        []
        if prediction.options.collective == "barrier"
        else ["--bytes", ",".join(map(str, prediction.sizes))]
    )
    asked = asked_as(
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
        measure.prepare(asked.options, asked)
    return asked


def times(prediction):
    """
    "simulated" and "measured", as far as asked for -> ns of each size; None: the call falls back to
    the MPI, or no figure counts.  Notes name the figures that are not reliable.
    """
    found, asked = {}, asked_of(prediction)
    calls = (
        asked.calls()
        if prediction.options.simulate
        else {(None, size): asked.resolve(None, size) for size in asked.sizes}
    )
    if prediction.options.simulate:
        found["simulated"] = [call and call["times"]["time_ns"] for call in calls.values()]
    if prediction.options.measure:
        measured = measure.Measured(asked, calls)
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
