# SPDX-License-Identifier: BSD-3-Clause
"""
huddle validate: simulates the calls that are measured here, or were measured on a described
machine, and says how well the times agree.
"""

import json

from ..common.agreement import agreement
from ..common.collectives import known
from ..common.layout import Trouble
from ..common.options import whole
from ..common.progress import Progress
from ..common.text import bytes_text, heading, table
from ..simulate.asked import asked_as
from ..simulate.measure import SMALL_CALLS
from . import here, record


def add_arguments(parser):
    parser.add_argument(
        "collective", nargs="?", help="only this one (default: each, or each that was recorded)"
    )
    parser.add_argument(
        "--data",
        metavar="NAME",
        help=(
            "recorded figures: a name, or a file NAME.csv next to NAME.toml, which describes the"
            " machine (default: measures this machine, as huddle tune --machine has described it)"
        ),
    )
    parser.add_argument(
        "--ranks",
        type=whole(2),
        metavar="N",
        help="only this number of ranks (default: each that was recorded, or 2 to all cores)",
    )
    parser.add_argument(
        "--algorithm", metavar="NAMES", help="without --data: only these, separated by commas"
    )
    parser.add_argument("--bytes", metavar="SIZES", help="without --data: these sizes")
    parser.add_argument("--json", action="store_true", help="print all figures as JSON")
    parser.epilog = (
        "bias: geometric mean of simulated / measured. error: geometric mean of the deviation, as a"
        " factor. order: Kendall's tau of the algorithms, mean over the sizes; 1: the same order."
        " Figures do not count if a line transfer took more than 1.5 times as long as described, or"
        " less than 1/1.5, since the processors of a virtual machine may move. Measuring takes one"
        " to two minutes for each number of ranks."
    )


def simulated(layout, machine, collective, ranks, keys):
    """
    (algorithm, bytes) -> us, of those that the algorithm handles.  Recorded calls were measured
    from a common start by the clock: each rank enters within one reading of it, and the readings
    before and after the call take one more together.
    """
    names = sorted({name for name, _ in keys})
    sizes = sorted({size for _, size in keys})
    asked = asked_as(
        layout,
        collective.name,
        "--machine",
        machine,
        "--ranks",
        str(ranks),
        "--algorithm",
        ",".join(names),
        *(["--bytes", ",".join(map(str, sizes))] if collective.moves else []),
    )
    clock_ns = asked.machine.get("call", {}).get("clock_ns", 0)
    asked.options.skew, asked.small_calls, asked.start_ns = clock_ns, SMALL_CALLS, -clock_ns
    calls = asked.calls()
    return {
        key: calls[key]["times"]["time_ns"] / 1000
        for key in keys
        if calls.get(key) and calls[key]["times"]["time_ns"] > 0
    }


def chosen(cells, options):
    return {
        cell: figures
        for cell, figures in cells.items()
        if options.collective in (None, cell[0]) and options.ranks in (None, cell[1])
    }


def recorded(layout, data, options):
    """[(collective, ranks, measured, simulated)], and texts: what does not count."""
    about = {collective.name: collective for collective in known(layout)}
    found = chosen(data.cells, options)
    unknown = sorted({name for name, _ in found} - set(about))
    if unknown:
        raise Trouble(f"--data {data.name}: {unknown[0]} (accepted: {', '.join(about)})", 2)
    if not found:
        names, teams = (sorted({cell[i] for cell in data.cells}) for i in (0, 1))
        raise Trouble(
            f"--data {data.name}: no such calls were recorded (accepted: {', '.join(names)};"
            f" --ranks {', '.join(map(str, teams))})",
            2,
        )
    rows = []
    with Progress(len(found)) as progress:
        for (name, ranks), measured in found.items():
            progress.stage(f"{name}, {ranks} ranks")
            there = simulated(layout, data.machine, about[name], ranks, measured)
            rows.append((name, ranks, measured, there))
            progress.step()
    return rows, data.notes


def worst_text(worst):
    ratio, algorithm, size = worst
    return f"{ratio:.2f} {algorithm}{f', {bytes_text(size)}' if size else ''}"


def show(name_of_data, rows, notes):
    lines = []
    for name, ranks, measured, there in rows:
        a = agreement(measured, there)
        if a:
            order = "" if a.tau is None else f"{a.tau:.2f}"
            lines.append(
                [name, ranks, a.figures, f"{a.bias:.2f}", f"{a.error:.2f}", order]
                + [worst_text(a.low), worst_text(a.high)]
            )
    heading(f"Simulated / measured on {name_of_data}, each algorithm with its default parameters:")
    table(
        ["collective", "ranks", "figures", "bias", "error", "order", "minimum", "maximum"],
        lines,
        right=(1, 2, 3, 4, 5),
    )
    for line in notes:
        print(f"  {line}")


def cell_json(name, ranks, measured, there):
    found = agreement(measured, there)
    return {
        "collective": name,
        "ranks": ranks,
        **(found._asdict() if found else {}),
        "calls": [
            {
                "algorithm": algorithm,
                "bytes": size,
                "measured_us": us,
                "simulated_us": there.get((algorithm, size)),
            }
            for (algorithm, size), us in measured.items()
        ],
    }


def compared(layout, options):
    """Name of the data, rows and texts."""
    if options.data is None:
        return here.NAME, *here.compare(layout, options)
    for option in ("algorithm", "bytes"):
        if getattr(options, option) is not None:
            raise Trouble(f"--{option}: not with --data (accepted: COLLECTIVE, --ranks)", 2)
    data = record.read(layout, options.data)
    return data.name, *recorded(layout, data, options)


def main(options, _command, layout):
    name, rows, notes = compared(layout, options)
    if options.json:
        cells = [cell_json(*row) for row in rows]
        print(json.dumps({"data": name, "cells": cells, "notes": notes}, indent=2))
    else:
        show(name, rows, notes)
    return 0
