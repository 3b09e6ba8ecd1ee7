# SPDX-License-Identifier: BSD-3-Clause
"""
huddle lab validate: simulates the calls that are measured here, or were measured on a described
machine, and says how well the times agree.
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from cli.common.collectives import known
from cli.common.command_line import Argument, Command, Option
from cli.common.exit_status import BAD_USE, DONE
from cli.common.layout import CliError, Layout
from cli.common.options import whole
from cli.common.progress import Progress
from cli.common.text import bytes_text, heading, table
from cli.common.types import Options

from ..simulate.measure import SMALL_CALLS
from ..simulate.simulation import parse_simulation
from . import here, record
from .agreement import agreement

if TYPE_CHECKING:
    from cli.common.collectives import Collective

    from .record import Record


PARAMETERS = (
    Argument(
        "collective",
        required=False,
        help="only this collective (default: all, or all that were recorded)",
    ),
    Option(
        "--data",
        metavar="NAME",
        help=(
            "recorded figures: a name, or a file NAME.csv next to NAME.toml, "
            "which describes the machine (default: measure this machine, which "
            "huddle lab machine must have described)"
        ),
    ),
    Option(
        "--ranks",
        type=whole(2),
        metavar="N",
        help=(
            "only this number of ranks (default: all recorded numbers, or 2 to the number of cores)"
        ),
    ),
    Option(
        "--algorithm",
        metavar="NAMES",
        help="without --data: only these algorithms, separated by commas",
    ),
    Option("--bytes", metavar="SIZES", help="without --data: only these sizes"),
    Option("--json", is_flag=True, help="print all figures as JSON"),
)
EPILOG = (
    "bias: geometric mean of simulated / measured. error: geometric mean of the deviation, as a"
    " factor. order: Kendall's tau of the algorithms, mean over the sizes; 1: the same order."
    " Figures are ignored if a line transfer took more than 1.5 times, or less than 1/1.5 of, the"
    " described time, because the processors of a virtual machine may move. Measuring takes one"
    " to two minutes for each number of ranks."
)


def simulated(
    layout: Layout,
    machine: str,
    collective: Collective,
    ranks: int,
    keys: dict[tuple[str, int], float],
) -> dict[tuple[str, int], float]:
    """
    Returns {(algorithm, bytes): us} of the calls that the algorithm handles.  Recorded calls were
    started at a common time.  Each rank enters within the duration of a reading of the clock, and
    the readings before and after the call take the same duration together.
    """
    names = sorted({name for name, _ in keys})
    sizes = sorted({size for _, size in keys})
    simulation = parse_simulation(
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
    clock_ns = simulation.machine.get("call", {}).get("clock_ns", 0)
    simulation.options.skew, simulation.small_calls, simulation.start_ns = (
        clock_ns,
        SMALL_CALLS,
        -clock_ns,
    )
    calls = simulation.calls()
    return {
        key: calls[key]["times"]["time_ns"] / 1000
        for key in keys
        if calls.get(key) and calls[key]["times"]["time_ns"] > 0
    }


def chosen(
    cells: dict[tuple[str, int], dict[tuple[str, int], float]], options: Options
) -> dict[tuple[str, int], dict[tuple[str, int], float]]:
    return {
        cell: figures
        for cell, figures in cells.items()
        if options.collective in (None, cell[0]) and options.ranks in (None, cell[1])
    }


def recorded(
    layout: Layout, data: Record, options: Options
) -> tuple[list[tuple[str, int, Any, Any]], list[str]]:
    """
    Returns [(collective, ranks, measured, simulated)], and texts about figures that do not count.
    """
    about = {collective.name: collective for collective in known(layout)}
    found = chosen(data.cells, options)
    unknown = sorted({name for name, _ in found} - set(about))
    if unknown:
        raise CliError(f"--data {data.name}: {unknown[0]} (accepted: {', '.join(about)})", BAD_USE)
    if not found:
        names, teams = (sorted({cell[i] for cell in data.cells}) for i in (0, 1))
        raise CliError(
            f"--data {data.name}: no such calls were recorded (accepted: {', '.join(names)};"
            f" --ranks {', '.join(map(str, teams))})",
            BAD_USE,
        )
    rows = []
    with Progress(len(found)) as progress:
        for (name, ranks), measured in found.items():
            progress.stage(f"{name}, {ranks} ranks")
            there = simulated(layout, data.machine, about[name], ranks, measured)
            rows.append((name, ranks, measured, there))
            progress.step()
    return rows, data.notes


def worst_text(worst: tuple[float, str, int]) -> str:
    ratio, algorithm, size = worst
    return f"{ratio:.2f} {algorithm}{f', {bytes_text(size)}' if size else ''}"


def show(
    name_of_data: str,
    rows: list[tuple[str, int, dict[Any, float], dict[Any, float]]],
    notes: list[Any],
) -> None:
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


def cell_json(
    name: str,
    ranks: int,
    measured: dict[tuple[str, int], float],
    there: dict[tuple[str, int], float],
) -> dict[str, Any]:
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


def compared(
    layout: Layout, options: Options
) -> tuple[str, list[tuple[str, int, Any, Any]], list[str]]:
    """Returns the name of the data, rows and texts."""
    if options.data is None:
        return here.NAME, *here.compare(layout, options)
    for option in ("algorithm", "bytes"):
        if getattr(options, option) is not None:
            raise CliError(f"--{option}: not with --data (accepted: COLLECTIVE, --ranks)", BAD_USE)
    data = record.read(layout, options.data)
    return data.name, *recorded(layout, data, options)


def main(options: Options, _command: list[Any], layout: Layout) -> int:
    name, rows, notes = compared(layout, options)
    if options.json:
        cells = [cell_json(*row) for row in rows]
        print(json.dumps({"data": name, "cells": cells, "notes": notes}, indent=2))
    else:
        show(name, rows, notes)
    return DONE


COMMAND = Command(main, PARAMETERS, EPILOG)
