# SPDX-License-Identifier: BSD-3-Clause
"""
This machine, as `huddle lab machine` has described it: every algorithm, measured on teams
without MPI and simulated, of all numbers of ranks up to its cores.
"""

from __future__ import annotations

import os
import sys
from typing import TYPE_CHECKING, Any

from cli.common import jobs, stability
from cli.common.collectives import find, known
from cli.common.exit_status import BAD_USE
from cli.common.layout import CliError, Layout
from cli.common.progress import Progress
from cli.common.types import Options

from .. import described
from ..simulate import measure
from ..simulate.simulation import parse_simulation

if TYPE_CHECKING:
    from cli.common.collectives import Collective

    from ..simulate.simulation import Simulation

NAME = "this machine"
SIZES = "8,64,512,4K,32K,256K,2M"
BLOCKS = "8,64,512,4K,32K,256K"  # blocks from each rank to each


def simulation_of(
    layout: Layout, collective: Collective, ranks: int, options: Options
) -> Simulation:
    """Returns the question of huddle lab simulate COLLECTIVE --measure."""
    usual = BLOCKS if collective.blocks else SIZES
    sizes = usual if options.bytes is None else options.bytes
    simulation = parse_simulation(
        layout,
        collective.name,
        "--algorithm",
        "all" if options.algorithm is None else options.algorithm,
        "--ranks",
        str(ranks),
        "--measure",
        *(["--bytes", sizes] if collective.moves else []),
    )
    measure.prepare(simulation.options, simulation)
    return simulation


def figures_of(
    simulation: Simulation,
) -> tuple[dict[tuple[str, int], float], dict[tuple[str, int], float], list[str]]:
    """
    Returns measured and simulated {(algorithm, bytes): us}, and texts about figures that do not
    count.
    """
    calls = simulation.calls()
    found = measure.Measured(simulation, calls)
    measured = {key: ns / 1000 for key, ns in found.ns.items()}
    simulated = {
        key: calls[key]["times"]["time_ns"] / 1000
        for key in measured
        if calls[key]["times"]["time_ns"] > 0
    }
    return measured, simulated, found.notes


def compare(layout: Layout, options: Options) -> tuple[list[tuple[str, int, Any, Any]], list[str]]:
    """Returns [(collective, ranks, measured, simulated)], and texts."""
    cores, wanted = jobs.cores(), options.collective
    chosen = known(layout) if wanted is None else [find(layout, wanted, "validate")]
    if cores < 2:
        raise CliError(
            "validate: there is one core, and teams are measured with one for each rank (accepted:"
            " 2 cores or more, or --data NAME)",
            BAD_USE,
        )
    if not os.path.exists(described.measured_file()):
        raise CliError(
            f"validate: this machine is not described: there is no {described.measured_file()}"
            " (accepted: after huddle lab machine, which writes it, or --data NAME)",
            BAD_USE,
        )
    teams = [options.ranks] if options.ranks else range(2, cores + 1)
    for collective in chosen:  # a bad question is refused before anything is printed
        simulation_of(layout, collective, teams[0], options)
    cells = [(collective, ranks) for collective in chosen for ranks in teams]
    rows, notes, others = [], [], stability.others()
    if others:
        print(
            f"huddle: validate: {others}; this takes longer, and fewer figures count",
            file=sys.stderr,
        )
    with Progress(len(cells)) as progress:
        for collective, ranks in cells:
            progress.stage(f"{collective.name}, {ranks} ranks, simulated and measured")
            measured, there, why = figures_of(simulation_of(layout, collective, ranks, options))
            rows.append((collective.name, ranks, measured, there))
            notes += [f"{collective.name}, {ranks} ranks: {line}" for line in why]
            progress.step()
    return rows, notes
