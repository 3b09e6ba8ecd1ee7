# SPDX-License-Identifier: BSD-3-Clause
"""
huddle lab simulate: runs huddle's algorithms on a described machine, under the race checker, in
simulated time.
"""

from __future__ import annotations

import json
from typing import Any

from cli.common import machines, output_files, pictures
from cli.common.command_line import Command
from cli.common.exit_status import BAD_USE, DONE, FAILED
from cli.common.layout import CliError, Layout
from cli.common.text import bytes_text, heading, table
from cli.common.types import Options

from . import alternate, chart, measure, nodes, tables
from .options import EPILOG, PARAMETERS
from .simulation import Simulation, load_machine


def show_table(simulation: Any, calls: dict[Any, Any]) -> None:
    """
    Prints, for one size, a line per algorithm; otherwise a line per size and a column per
    algorithm.
    """
    size = (
        f"{bytes_text(simulation.sizes[0])} "
        if len(simulation.sizes) == 1 and simulation.sizes[0]
        else ""
    )
    heading(
        f"Simulated {size}{simulation.collective}, {simulation.words()}:"
        f" {tables.METHODS[simulation.options.method]}"
    )
    if len(simulation.sizes) == 1:
        rows = [
            [
                name,
                tables.cell(calls[name, simulation.sizes[0]]),
                tables.parameters_of(calls[name, simulation.sizes[0]]),
            ]
            for name in simulation.names
        ]
        table(["algorithm", "simulated", "parameters"], rows, right=(1,))
        return
    rows = [
        [
            bytes_text(size),
            *(tables.cell(calls[name, size], name is None) for name in simulation.names),
        ]
        for size in simulation.sizes
    ]
    table(
        ["bytes", *(name or "choice" for name in simulation.names)],
        rows,
        right=range(len(simulation.names) + 1),
    )


def check_picture(options: Options) -> None:
    output_files.check("--png", options.png)
    if options.png and pictures.missing():
        raise CliError(f"--png {options.png}: {pictures.missing()}")


def main(options: Options, _command: list[Any], layout: Layout) -> int:
    if options.machine == "list":
        machines.show(layout)
        return DONE
    if options.nodes is not None:
        return nodes.main(options, layout, load_machine(layout, options.machine))
    if options.network:
        raise CliError("--network: of nodes (accepted: with --nodes)", BAD_USE)
    check_picture(options)
    simulation = Simulation(options, layout)
    if options.measure:
        measure.prepare(options, simulation)
    calls = simulation.calls()
    if not any(calls.values()):
        raise CliError(
            f"{simulation.collective}: none of these calls is handled by"
            f" {', '.join(name or 'huddle' for name in simulation.names)} there: {simulation.why}",
            FAILED,
        )
    if options.json:
        print(
            json.dumps(
                {
                    "simulated": True,
                    "machine": {
                        **simulation.machine_facts,
                        "doubt": simulation.machine.get("doubt"),
                    },
                    "calls": [call for call in calls.values() if call],
                },
                indent=1,
            )
        )
    elif options.measure:
        measure.show(simulation, calls, measure.Measured(simulation, calls), tables.time_text)
    elif len(calls) == 1:
        tables.show_call(simulation, next(iter(calls.values())), options.timeline)
    else:
        show_table(simulation, calls)
        if alternate.note(calls.values()):
            print(f"  {alternate.note(calls.values())}")
    if options.png:
        output_files.write(options.png, chart.draw(simulation, calls))
    return DONE


COMMAND = Command(main, PARAMETERS, EPILOG)
