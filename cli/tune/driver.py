# SPDX-License-Identifier: BSD-3-Clause
"""
Makes calls, with the measuring program of huddle bench, until huddle's learner has decided all
cells.  What the learner decides is in the wisdom file that the launches share.
"""

from __future__ import annotations

import json
import math
import os
import time
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any, NamedTuple

from ..bench import variants
from ..common import jobs, wisdom
from .grid import EXACT, Cell, cell_of

if TYPE_CHECKING:
    from ..common.layout import Layout
    from ..common.peers import Mpi
    from ..common.progress import Progress

CALLS = 160  # calls of a cell in the first turn; twice as many in each next one
TURNS = 6
LOOP_BYTES, LOOP = 1 << 18, 8  # larger calls are made in rows of so many, with the same data
PATIENCE = (
    20  # times --figure-ms that a size takes at most, if it has too few shots (bench/shots.c)
)
START_S = 3  # longest start of a launch on a machine that is not busy
MIN_S = 1.0  # a launch with less time is not begun
SETTINGS = {"HUDDLE_TUNING": "off", "HUDDLE_LAB_TRY_ALL": "on"}

OVER = "as the time was over"  # the share of the case is over
STOPPED = "as the run was stopped"
FAILED = "as the launch failed"
TOO_FEW = "after {} calls of each"


class Launch(NamedTuple):
    cells: list[Cell]  # cells of one collective and one kind of elements
    calls: int


def figures_of(output: str) -> list[dict[str, Any]]:
    """Returns the figures in the standard output of the measuring program."""
    return json.loads(output[output.index('{"program"') : output.rindex("}") + 1])["figures"]


class Driver:
    """The launches under one MPI.  undecided: cell -> the reason."""

    def __init__(self, layout: Layout, mpi: Mpi, file: str, cells: list[Cell]) -> None:
        self.layout, self.file, self.cells = layout, file, cells
        settings = {**SETTINGS, "HUDDLE_WISDOM": file}
        self.variant = variants.Variant("huddle", "huddle", mpi, {}, settings, None)
        self.failures: list[str] = []
        self.undecided = dict.fromkeys(cells, OVER)

    def stop(self) -> None:
        """Notes that a user ended the run before its time."""
        for cell, why in self.undecided.items():
            self.undecided[cell] = STOPPED if why == OVER else why

    def known(self) -> list[Any]:
        """Returns the lines that the file has so far."""
        return wisdom.read(self.layout, self.file).cells if os.path.exists(self.file) else []

    def note_decided(self) -> int:
        """Returns how many cells have been decided since the last time."""
        before = len(self.undecided)
        for line in self.known():
            if cell := cell_of(line):
                self.undecided.pop(cell, None)
        return before - len(self.undecided)

    def words(self, launch: Launch, large: bool, seconds: float) -> list[str]:
        """Returns the options of the measuring program."""
        first, sizes = launch.cells[0], [cell.size for cell in launch.cells]
        shots = math.ceil(launch.calls / LOOP) if large else launch.calls
        figure_ms = max(1, int(1000 * seconds / len(sizes) / PATIENCE))
        return [
            *("--coll", first.collective, "--bytes", ",".join(map(str, sizes))),
            *("--min", str(shots), "--max", str(shots), "--figure-ms", str(figure_ms)),
            *(["--loop", str(LOOP)] if large else []),
            *(["--integers"] if first.reduction == EXACT else []),
            "--unlabelled",
        ]

    def launch(self, launch: Launch, seconds: float) -> None:
        """Makes a launch.  Notes the calls made of each cell, or why there were none."""
        large = launch.cells[0].size > LOOP_BYTES
        ranks, words = launch.cells[0].ranks, self.words(launch, large, seconds)
        bind = ranks <= jobs.cores()
        command, env = variants.command_of(self.layout, self.variant, ranks, bind, words)
        try:
            output = jobs.run(command, env, limit_s=2 * seconds + START_S)
            made = {figure["bytes"]: figure["shots"] for figure in figures_of(output)}
        except jobs.JobFailed as failure:
            self.failures.append(str(failure).strip().splitlines()[-1])
            self.undecided.update(dict.fromkeys(launch.cells, FAILED))
            return
        for cell in launch.cells:
            calls = made.get(cell.size, 0) * (LOOP if large else 1)
            self.undecided[cell] = OVER if calls < launch.calls else TOO_FEW.format(launch.calls)

    def launches(self, ranks: int, calls: int) -> Iterator[Launch]:
        """
        Yields launches for the undecided cells of a number of ranks.  Large sizes have launches of
        their own, because they are called in rows.
        """
        groups: dict[Any, list[Cell]] = {}
        for cell in self.undecided:
            if cell.ranks == ranks:
                kind = (cell.size > LOOP_BYTES, cell.collective, cell.reduction)
                groups.setdefault(kind, []).append(cell)
        for kind in sorted(groups, key=lambda kind: kind[0]):
            yield Launch(groups[kind], calls)

    def turn(self, ranks: int, calls: int, end: float, progress: Progress) -> int:
        """Makes so many calls of each undecided cell.  Returns how many became decided."""
        found, launches = 0, list(self.launches(ranks, calls))
        for i, launch in enumerate(launches):
            left = end - time.monotonic()
            if left < MIN_S:
                break
            first = launch.cells[0]
            progress.stage(f"{first.collective}, {ranks} ranks")
            self.launch(launch, left / (len(launches) - i))
            decided = self.note_decided()
            found += decided
            progress.done += decided
            progress.draw()
        return found

    def run(self, ranks: int, end: float, progress: Progress) -> None:
        """
        Measures the cells of a number of ranks.  Stops early if more calls decide nothing.  end: a
        time of the monotonic clock, in seconds.
        """
        for turn in range(TURNS):
            if not any(cell.ranks == ranks for cell in self.undecided):
                break
            decided = self.turn(ranks, CALLS << turn, end, progress)
            if end - time.monotonic() < MIN_S or (turn and not decided):
                break
