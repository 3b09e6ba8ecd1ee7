# SPDX-License-Identifier: BSD-3-Clause
"""
Measures on this machine the calls that were simulated for it: teams without MPI, single calls from
a common start or back-to-back calls, as in huddle bench.

The time of the clock and of the common start is measured by calls of nothing, and subtracted.
Ranks that wait for a moment by reading the clock enter a call within one reading of each other.
Simulated ranks enter in the same way, since a rank that comes a little later finds lines that
others already poll.
"""

from __future__ import annotations

import json
import os
import statistics
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from cli.common import jobs, machines, stability
from cli.common.exit_status import BAD_USE
from cli.common.layout import CliError
from cli.common.progress import Progress
from cli.common.text import bytes_text, heading, table
from cli.common.types import Options

from .. import described, simulated
from ..repetitions import RING

if TYPE_CHECKING:
    from .simulation import Simulation

LIMIT_S, FIGURE_MS, NOTHING = 600, 60, "nothing"
SMALL_CALLS = 256  # calls of up to 4 KB; each has new random moments of entry
NUMBER_BYTES = 8  # size of the numbers that reductions add


def prepare(options: Options, simulation: Simulation) -> None:
    """
    Refuses calls that cannot be measured.  Then sets the skew of the simulated calls to the skew of
    the measured calls.
    """
    if options.machine != machines.THIS:
        raise CliError(
            f"--measure: {options.machine} is not this machine (accepted: without --machine; this"
            f" machine is then described by {described.measured_file()}, which huddle lab machine"
            " writes)",
            BAD_USE,
        )
    if simulation.ranks > jobs.cores():
        raise CliError(
            f"--measure: {simulation.ranks} ranks on {jobs.cores()} cores (accepted: --ranks of 2"
            f" to {jobs.cores()})",
            BAD_USE,
        )
    if options.map != "core":
        raise CliError(f"--measure: --map {options.map} (accepted: core)", BAD_USE)
    odd = [size for size in simulation.sizes if simulation.about.reduces and size % NUMBER_BYTES]
    if odd:
        raise CliError(
            f"--measure: --bytes {odd[0]}: {simulation.collective} is measured with numbers of"
            f" {NUMBER_BYTES} bytes (accepted: multiples of {NUMBER_BYTES})",
            BAD_USE,
        )
    if options.method == "single":
        options.skew = bench_team(simulation, NOTHING, [0], 1, {})["start_ns"]
        simulation.start_ns, simulation.small_calls = (
            simulated.entry_ns(options.skew, simulation.ranks),
            SMALL_CALLS,
        )


def bench_team(
    simulation: Simulation,
    collectives: str,
    sizes: list[int],
    figure_ms: int,
    environment: dict[str, str],
) -> dict[str, Any]:
    """Returns the measuring program's answer."""
    loop = (
        ["--loop", str(simulation.options.repetitions or RING)]
        if simulation.options.method == "loop"
        else []
    )
    words = [
        "--ranks",
        str(simulation.ranks),
        "--bind",
        "core",
        "--coll",
        collectives,
        "--bytes",
        ",".join(map(str, sizes)),
        "--root",
        str(simulation.options.root or 0),
        "--figure-ms",
        str(figure_ms),
        *loop,
    ]
    try:
        return json.loads(
            jobs.run(
                [os.path.join(simulation.layout.tools, "bench-team"), *words],
                {**environment, "HUDDLE_WISDOM": "off"},  # no trials: one algorithm is measured
                limit_s=LIMIT_S,
            )
        )
    except jobs.JobFailed as failure:
        raise CliError(f"--measure: {failure}") from failure


def reliable(
    times: dict[Any, float], doubts: dict[Any, list[float]]
) -> tuple[dict[Any, float], list[str]]:
    """
    Returns {size: ns less the time of an empty call} of the reliable figures, and texts that
    explain why the others are not reliable.  `times` and `doubts` are from stability.measured.
    """
    nothing, why = times.get(NOTHING, 0), {}
    min_ns = max(nothing * stability.AGREE, nothing + stability.SLACK_NS) if nothing else 0
    if NOTHING in doubts:
        return {}, [
            f"calls of nothing, whose time is subtracted: {stability.range_text(doubts[NOTHING])}"
        ]
    for size, ns in times.items():
        if size != NOTHING and ns < min_ns:
            why[size] = (
                f"{ns / 1000:.3g} us, and a call of nothing, which is subtracted,"
                f" {nothing / 1000:.3g} us"
            )
    why.update(
        {
            size: (
                f"runs differ, {stability.range_text(some)}"
                if len(some) > 1
                else stability.range_text(some)
            )
            for size, some in doubts.items()
        }
    )
    for smaller, larger in stability.falls(
        {size: ns for size, ns in times.items() if size != NOTHING and size not in why}
    ):
        why.update(
            {smaller: f"more than {bytes_text(larger)}", larger: f"less than {bytes_text(smaller)}"}
        )
    return {
        size: ns - nothing for size, ns in times.items() if size != NOTHING and size not in why
    }, [f"{bytes_text(size)}: {words}" for size, words in sorted(why.items())]


class Measured:
    """
    The measured times of the simulated calls. ns: (name, size) -> ns of a call, where a figure
    counts. lines: ns of all line transfers measured with the calls. notes: texts about unreliable
    figures.
    """

    def __init__(self, simulation: Any, calls: dict[Any, Any]) -> None:
        self.simulation = simulation
        self.ns: dict[Any, Any] = {}
        self.lines: list[Any] = []
        self.notes: list[str] = []
        self.others: list[float] = []
        others = stability.others()
        with Progress(len(simulation.names)) as progress:
            for name in simulation.names:
                progress.stage(f"measuring {name or 'the choice'}")
                sizes = [size for size in simulation.sizes if calls[name, size]]
                if sizes:
                    self.measure(name, sizes)
                progress.step()
        self.notes += [described.moved_text(self.others)] if self.others else []
        self.notes += (
            [
                f"during the measurement {others}: measured times may be too long, or, where a call"
                " of nothing was slowed down, too short"
            ]
            if others
            else []
        )

    def launch(self, name: str | None, sizes: list[int]) -> list[tuple[int | str, dict[str, Any]]]:
        """Returns [(size or NOTHING, figure)] without the calls that huddle does not handle."""
        answer = bench_team(
            self.simulation,
            f"{self.simulation.collective},{NOTHING}",
            sizes,
            FIGURE_MS,
            self.simulation.environment(name),
        )
        figures = [figure for figure in answer["figures"] if figure["refused"] == 0]
        self.lines += [
            ns
            for figure in figures
            for ns in (figure["line_before_ns"], figure["line_after_ns"])
            if ns >= 0
        ]
        return [
            (NOTHING if figure["collective"] == NOTHING else figure["bytes"], figure)
            for figure in figures
        ]

    def holds(self, figure: dict[str, Any]) -> bool:
        """Returns whether the figure is usable and was measured on the described machine."""
        hops = described.hops_of(self.simulation.machine)
        lines = [
            figure[when] for when in ("line_before_ns", "line_after_ns") if figure[when] > 0
        ]  # below: not measured
        far = [ns for ns in lines if not described.as_described(ns, hops)]
        self.others += far[:1] if stability.usable(figure) else []
        return stability.usable(figure) and not far

    def measure(self, name: str | None, sizes: list[int]) -> None:
        times, doubts = stability.measured(
            lambda: self.launch(name, sizes),
            lambda: None,
            stability.PATIENCE_S / len(self.simulation.names),
            self.holds,
        )
        holds, why = reliable(times, doubts)
        self.ns.update({(name, size): ns for size, ns in holds.items()})
        self.notes += (
            [f"{name or 'huddle'}: measured, but not reliable: {'; '.join(why)}"] if why else []
        )


def deviation_text(ratio: float) -> str:
    return f"{100 * (ratio - 1):+.0f} %"


def show(
    simulation: Simulation, calls: dict[Any, Any], measured: Measured, time_text: Callable[..., Any]
) -> None:
    lines = simulation.machine["lines"]
    near = ", ".join(
        f"{name} {ns:g}" for name, ns in lines.get("hop_ns", lines["transfer_ns"]).items()
    )
    seen = f"{min(measured.lines):.0f} to {max(measured.lines):.0f}" if measured.lines else "-"
    heading(
        f"Simulated and measured {simulation.collective}, {simulation.words()}; line transfer:"
        f" simulated {near} ns, measured {seen} ns"
    )
    ratios = {
        key: calls[key]["times"]["time_ns"] / ns
        for key, ns in measured.ns.items()
        if calls[key]["times"]["time_ns"] > 0
    }
    rows = [
        [
            bytes_text(size) if size else "",
            calls[name, size]["algorithm"],
            time_text(calls[name, size]["times"]["time_ns"]),
            *(
                [time_text(measured.ns[name, size]), deviation_text(ratios[name, size])]
                if (name, size) in ratios
                else ["-", "-"]
            ),
        ]
        for name in simulation.names
        for size in simulation.sizes
        if calls[name, size]
    ]
    table(["bytes", "algorithm", "simulated", "measured", "deviation"], rows, right=(0, 2, 3, 4))
    if ratios:
        mean = statistics.geometric_mean(ratios.values())
        print(
            f"  simulated / measured: geometric mean {mean:.2f}, {min(ratios.values()):.2f} to"
            f" {max(ratios.values()):.2f}"
        )
    if simulation.options.skew:
        print(
            f"  ranks enter a call within {simulation.options.skew:.0f} ns of each other, one"
            " reading of the clock; the time of a call of nothing is subtracted"
        )
    for note in measured.notes:
        print(f"  {note}")
