# SPDX-License-Identifier: BSD-3-Clause
"""
huddle simulate: runs huddle's algorithms on a described machine, under the race checker, in
simulated time.
"""

import json

from ..common import machines, places
from ..common.layout import Trouble
from ..common.text import bytes_text, heading, table
from . import alternate, chart, measure, nodes, tables
from .asked import Asked, load_machine
from .options import add_arguments  # noqa: F401  (used by main.py)


def show_table(asked, calls):
    """
    For one size, a line per algorithm; otherwise a line per size and a column per algorithm.
    """
    size = f"{bytes_text(asked.sizes[0])} " if len(asked.sizes) == 1 and asked.sizes[0] else ""
    heading(
        f"Simulated {size}{asked.collective}, {asked.words()}:"
        f" {tables.METHODS[asked.options.method]}"
    )
    if len(asked.sizes) == 1:
        rows = [
            [
                name,
                tables.cell(calls[name, asked.sizes[0]]),
                tables.parameters_of(calls[name, asked.sizes[0]]),
            ]
            for name in asked.names
        ]
        table(["algorithm", "simulated", "parameters"], rows, right=(1,))
        return
    rows = [
        [bytes_text(size), *(tables.cell(calls[name, size], name is None) for name in asked.names)]
        for size in asked.sizes
    ]
    table(
        ["bytes", *(name or "choice" for name in asked.names)],
        rows,
        right=range(len(asked.names) + 1),
    )


def check_picture(options):
    places.check("--png", options.png)
    if options.png and chart.missing():
        raise Trouble(f"--png {options.png}: {chart.missing()}")


def main(options, _command, layout):
    if options.machine == "list":
        machines.show(layout)
        return 0
    if options.nodes is not None:
        return nodes.main(options, layout, load_machine(layout, options.machine))
    if options.network:
        raise Trouble("--network: of nodes (accepted: with --nodes)", 2)
    check_picture(options)
    asked = Asked(options, layout)
    if options.measure:
        measure.prepare(options, asked)
    calls = asked.calls()
    if not any(calls.values()):
        raise Trouble(
            f"{asked.collective}: none of these calls is handled by"
            f" {', '.join(name or 'huddle' for name in asked.names)} there: {asked.why}",
            1,
        )
    if options.json:
        print(
            json.dumps(
                {
                    "simulated": True,
                    "machine": {**asked.machine_facts, "doubt": asked.machine.get("doubt")},
                    "calls": [call for call in calls.values() if call],
                },
                indent=1,
            )
        )
    elif options.measure:
        measure.show(asked, calls, measure.Measured(asked, calls), tables.time_text)
    elif len(calls) == 1:
        tables.show_call(asked, next(iter(calls.values())), options.timeline)
    else:
        show_table(asked, calls)
        if alternate.note(calls.values()):
            print(f"  {alternate.note(calls.values())}")
    if options.png:
        places.write(options.png, chart.draw(asked, calls))
    return 0
