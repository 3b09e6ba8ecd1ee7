# SPDX-License-Identifier: BSD-3-Clause
"""
huddle validate: simulates the calls that were measured on a described machine, and says how well
the times agree.
"""

import json

from ..common.agreement import agreement
from ..common.collectives import known
from ..common.layout import Trouble
from ..common.options import whole
from ..common.progress import Progress
from ..common.text import bytes_text, heading, table
from ..simulate.asked import asked_as
from . import record


def add_arguments(parser):
    parser.add_argument(
        "collective", nargs="?", help="only this one (default: each that was recorded)"
    )
    parser.add_argument(
        "--data",
        metavar="NAME",
        help=(
            "recorded figures: a name, or a file NAME.csv next to NAME.toml, which describes the"
            " machine (default: all that huddle has)"
        ),
    )
    parser.add_argument(
        "--ranks", type=whole(2), metavar="N", help="only this number of ranks (default: each)"
    )
    parser.add_argument("--json", action="store_true", help="print all figures as JSON")
    parser.epilog = (
        "bias: geometric mean of simulated / measured. error: geometric mean of the deviation, as a"
        " factor. order: Kendall's tau of the algorithms, mean over the sizes; 1: the same order."
        " huddle reproduce this measures this machine and compares in the same way."
    )


def simulated(layout, machine, collective, ranks, keys):
    """(algorithm, bytes) -> us, of those that the algorithm handles."""
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


def validate(layout, data, options):
    """[(collective, ranks, measured, simulated)]."""
    about = {collective.name: collective for collective in known(layout)}
    found = chosen(data.cells, options)
    unknown = sorted({name for name, _ in found} - set(about))
    if unknown:
        raise Trouble(f"--data {data.name}: {unknown[0]} (accepted: {', '.join(about)})", 2)
    rows = []
    with Progress(len(found)) as progress:
        for (name, ranks), measured in found.items():
            progress.stage(f"{name}, {ranks} ranks")
            there = simulated(layout, data.machine, about[name], ranks, measured)
            rows.append((name, ranks, measured, there))
            progress.step()
    return rows


def worst_text(worst):
    ratio, algorithm, size = worst
    return f"{ratio:.2f} {algorithm}{f', {bytes_text(size)}' if size else ''}"


def show(data, rows):
    lines = []
    for name, ranks, measured, there in rows:
        a = agreement(measured, there)
        if a:
            order = "" if a.tau is None else f"{a.tau:.2f}"
            lines.append(
                [name, ranks, a.figures, f"{a.bias:.2f}", f"{a.error:.2f}", order]
                + [worst_text(a.low), worst_text(a.high)]
            )
    heading(f"Simulated / measured on {data.name}, each algorithm with its default parameters:")
    table(
        ["collective", "ranks", "figures", "bias", "error", "order", "minimum", "maximum"],
        lines,
        right=(1, 2, 3, 4, 5),
    )


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


def main(options, _command, layout):
    answers = []
    for name in [options.data] if options.data else record.names(layout):
        data = record.read(layout, name)
        rows = validate(layout, data, options)
        if not rows:
            raise Trouble(f"{data.name}: no figures of these calls were recorded", 2)
        if options.json:
            answers.append({"data": data.name, "cells": [cell_json(*row) for row in rows]})
        else:
            show(data, rows)
    if options.json:
        print(json.dumps(answers, indent=2))
    return 0
