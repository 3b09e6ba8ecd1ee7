# SPDX-License-Identifier: BSD-3-Clause
"""
This machine, as `huddle tune --machine` has described it: every algorithm, measured on teams
without MPI and simulated, of all numbers of ranks up to its cores.
"""

import os
import sys

from ..common import jobs, machines, steady
from ..common.collectives import find, known
from ..common.layout import Trouble
from ..common.progress import Progress
from ..simulate import measure
from ..simulate.asked import asked_as

NAME = "this machine"
SIZES = "8,64,512,4K,32K,256K,2M"
BLOCKS = "8,64,512,4K,32K,256K"  # from each rank to each


def asked_of(layout, collective, ranks, options):
    """The question of huddle simulate COLLECTIVE --measure."""
    usual = BLOCKS if collective.blocks else SIZES
    sizes = usual if options.bytes is None else options.bytes
    asked = asked_as(
        layout,
        collective.name,
        "--algorithm",
        "all" if options.algorithm is None else options.algorithm,
        "--ranks",
        str(ranks),
        "--measure",
        *(["--bytes", sizes] if collective.moves else []),
    )
    measure.prepare(asked.options, asked)
    return asked


def figures_of(asked):
    """Of both: (algorithm, bytes) -> us; and texts: what does not count."""
    calls = asked.calls()
    found = measure.Measured(asked, calls)
    measured = {key: ns / 1000 for key, ns in found.ns.items()}
    simulated = {
        key: calls[key]["times"]["time_ns"] / 1000
        for key in measured
        if calls[key]["times"]["time_ns"] > 0
    }
    return measured, simulated, found.notes


def compare(layout, options):
    """[(collective, ranks, measured, simulated)], and texts."""
    cores, asked = jobs.cores(), options.collective
    chosen = known(layout) if asked is None else [find(layout, asked, "validate")]
    if cores < 2:
        raise Trouble(
            "validate: there is one core, and teams are measured with one for each rank (accepted:"
            " 2 cores or more, or --data NAME)",
            2,
        )
    if not os.path.exists(machines.measured_file()):
        raise Trouble(
            f"validate: this machine is not described: there is no {machines.measured_file()}"
            " (accepted: after huddle tune --machine, which writes it, or --data NAME)",
            2,
        )
    teams = [options.ranks] if options.ranks else range(2, cores + 1)
    for collective in chosen:  # what cannot be asked is refused before anything is printed
        asked_of(layout, collective, teams[0], options)
    cells = [(collective, ranks) for collective in chosen for ranks in teams]
    rows, notes, others = [], [], steady.others()
    if others:
        print(
            f"huddle: validate: {others}; this takes longer, and fewer figures count",
            file=sys.stderr,
        )
    with Progress(len(cells)) as progress:
        for collective, ranks in cells:
            progress.stage(f"{collective.name}, {ranks} ranks, simulated and measured")
            measured, there, why = figures_of(asked_of(layout, collective, ranks, options))
            rows.append((collective.name, ranks, measured, there))
            notes += [f"{collective.name}, {ranks} ranks: {line}" for line in why]
            progress.step()
    return rows, notes
