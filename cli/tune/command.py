# SPDX-License-Identifier: BSD-3-Clause
"""
huddle tune: makes calls of all collectives until huddle's learner has decided what serves them
here.  It is the learner of HUDDLE_WISDOM, and what it finds goes where programs' findings go.
"""

from __future__ import annotations

import os
import sys
import tempfile
import time
from typing import Any

from ..bench import variants
from ..bench.arguments import MPI_PLACES, list_of
from ..common import (
    bad_settings,
    collectives,
    jobs,
    launching,
    output_files,
    peers,
    stability,
    stop,
    wisdom,
    wisdom_merge,
    wisdom_place,
)
from ..common.command_line import Argument, Command, Option, name_of
from ..common.exit_status import BAD_USE, DONE, FAILED
from ..common.layout import CliError, Layout
from ..common.options import real, sizes_of
from ..common.progress import Progress
from ..common.text import count_text
from ..common.types import Options
from . import grid, network, report, tuning_file
from .driver import SETTINGS, Driver

MINUTES = 2  # time for each number of ranks, with each MPI
# What --network, which measures no choices, goes with, as a message has it.
WITH_NETWORK = ("--network COMMAND", "--output FILE", "--site", "--force")

PARAMETERS = (
    Argument(
        "collectives",
        nargs=-1,
        metavar="COLLECTIVE",
        help="collectives to tune: bcast, allreduce, ... (default: all)",
    ),
    Option(
        "--output",
        metavar="FILE",
        help="write a tuning file, for a site (default: add the results to those that huddle wisdom"
        " prints)",
    ),
    Option(
        "--site",
        is_flag=True,
        help="write the tuning file in the site's configuration directory, for all users",
    ),
    Option("--force", is_flag=True, help="overwrite a file that tune did not write"),
    Option(
        "--network",
        metavar="COMMAND",
        help=(
            "measure the network between nodes instead, and write the figures "
            "into the tuning file; COMMAND starts ranks on at least two nodes, "
            "such as 'mpirun -H a,b -np 2'"
        ),
    ),
    Option(
        "--mpi",
        "hosts",
        type=list_of(str),
        metavar="MPI,...",
        help="MPIs to measure with: ompi4, mpich5, ... (default: the first found)",
    ),
    MPI_PLACES,
    Option(
        "--bytes",
        type=sizes_of,
        metavar="SIZES",
        help="only these sizes, such as 64K, 8,1K or 4K:1M (default: 8 B to 16M)",
    ),
    Option(
        "--ranks",
        type=grid.ranks_of,
        metavar="NUMBERS",
        help=(
            "numbers of ranks, separated by commas; if there are more ranks "
            "than cores, they are not bound (default: 2, 4, ... all cores, and "
            "twice as many)"
        ),
    ),
    Option(
        "--minutes",
        type=real(0.01, 24 * 60),
        metavar="N",
        help=(
            "time limit in minutes; what is undecided then is listed "
            f"(default: {MINUTES} for each number of ranks and each MPI)"
        ),
    ),
)


def check_network(options: Options) -> None:
    """Refuses what --network has no use for, whatever options there are."""
    accepted = {words.split()[0] for words in WITH_NETWORK}
    for option in PARAMETERS:
        name, value = name_of(option), getattr(options, option.name or "", None)
        if value not in (None, False, []) and name not in accepted:
            raise CliError(
                f"tune: {name}: not with --network (accepted: {', '.join(WITH_NETWORK)})", BAD_USE
            )


def hosts(options: Options, layout: Layout) -> list[peers.Mpi]:
    """Returns the MPIs to measure with."""
    launching.check_launcher(layout)
    found = peers.find(layout, variants.named_by(options), os.path.join(layout.prefix, "peers"))
    able = {name: mpi for name, mpi in found.items() if variants.has_front_end(layout, mpi)}
    if options.hosts is None and found and not able:
        raise CliError(f"tune: huddle has no front end for {', '.join(found)}")
    chosen = [found[name] for name in variants.hosts_of(options, found if options.hosts else able)]
    for mpi in chosen:
        if mpi.name not in able:
            raise CliError(
                f"--mpi {mpi.name}: huddle has no front end for it (accepted:"
                f" {', '.join(able) or 'one that huddle is built for'})",
                BAD_USE,
            )
        variants.program(layout, variants.Variant(mpi.name, "huddle", mpi, {}, {}, None))
    return chosen


def output_of(options: Options, layout: Layout, mpis: list[peers.Mpi]) -> str | None:
    """
    Returns the path of the tuning file to write, or None if the results go into the user's wisdom.
    Raises CliError if they cannot be written there.
    """
    is_wisdom = options.output is None and not options.site
    names = [name for mpi in mpis if is_wisdom and (name := peers.version_of(mpi))]
    places = [wisdom_place.place(layout, name) for name in names]
    if len(mpis) > 1 and (not is_wisdom or any(one.named for one in places)):
        file = f"HUDDLE_WISDOM={places[0].path}" if is_wisdom else "a tuning file"
        raise CliError(
            f"tune: {file} has the choices for one MPI (accepted: one name of --mpi)", BAD_USE
        )
    for one in places:
        wisdom_place.check_place(layout, one)
    if is_wisdom:
        return None
    output = tuning_file.place(layout, options)
    tuning_file.check_place(output, options.force)
    return output


def rescue(found: wisdom.Wisdom, error: CliError) -> None:
    """Prints why the new choices could not be written, and keeps them in a separate file."""
    handle, path = tempfile.mkstemp(prefix="huddle-tune-", suffix=".rules")
    with open(handle, "w", encoding="utf-8") as file:
        file.write(wisdom.text(found))
    print(
        f"huddle: {error}; what was measured is in {path}, for huddle wisdom import",
        file=sys.stderr,
    )


def keep(layout: Layout, found: wisdom.Wisdom, output: str | None) -> str:
    """Writes what was found.  Returns where."""
    if output is not None:
        tuning_file.write(output, tuning_file.text(found))
        tuning_file.check_reads(layout, output)
        return output
    here = wisdom_place.place(layout, found.mpi)
    wisdom_merge.add(layout, here, found.cells, lambda *_: True)
    return here.path


class Tuning:
    """A run of `huddle tune`: the MPIs, the numbers of ranks and the cells."""

    def __init__(self, options: Options, layout: Layout) -> None:
        self.layout, self.mpis = layout, hosts(options, layout)
        self.output = output_of(options, layout, self.mpis)
        self.collectives = grid.tunable(layout, options.collectives)
        self.ranks = options.ranks or grid.usual_ranks(jobs.cores())
        sizes = grid.asked_sizes(options.bytes)
        self.cells = [
            cell
            for ranks in self.ranks
            for collective in self.collectives
            for cell in grid.cells_of(ranks, collective, sizes)
        ]
        self.parts = len(self.mpis) * len(self.ranks)
        self.minutes = MINUTES * self.parts if options.minutes is None else options.minutes

    def announce(self) -> None:
        print(
            f"huddle tune: {', '.join(mpi.version for mpi in self.mpis)};"
            f" {', '.join(map(str, self.ranks))} ranks;"
            f" {count_text(len(self.mpis) * len(self.cells), 'case')}; at most {self.minutes:g}"
            f" minute{'' if self.minutes == 1 else 's'}.",
            flush=True,
        )

    def drivers(self, folder: str) -> list[Driver]:
        return [
            Driver(self.layout, mpi, os.path.join(folder, f"{mpi.name}.rules"), list(self.cells))
            for mpi in self.mpis
        ]

    def measure(self, drivers: list[Driver], begin: float) -> None:
        """
        Gives each number of ranks with each MPI its share of the time.  The next numbers share any
        unused time.
        """
        end, left = begin + 60 * self.minutes, self.parts
        with Progress(len(drivers) * len(self.cells)) as progress:
            for driver in drivers:
                for ranks in self.ranks:
                    now = time.monotonic()
                    driver.run(ranks, now + max(0.0, end - now) / left, progress)
                    left -= 1

    def finish(self, driver: Driver, busy: str | None) -> bool:
        """
        Keeps and prints the new choices.  Returns whether there are any, and the file has been
        written.
        """
        lines = driver.known()
        names = [row.name for row in collectives.known(self.layout)]
        report.show(driver, lines, names, busy)
        if not lines:
            return False
        found = wisdom.read(self.layout, driver.file)
        try:
            where = keep(self.layout, found, self.output)
        except CliError as error:
            rescue(found, error)
            return False
        report.print_use(where, self.output is not None, wisdom_place.setting(self.layout))
        return True


def main(options: Options, _command: list[Any], layout: Layout) -> int:
    if options.site and options.output:
        raise CliError("tune: --site: not with --output (accepted: one of the two places)", BAD_USE)
    if options.network is not None:
        check_network(options)
    bad_settings.refuse(layout, **SETTINGS)
    if options.network is not None:
        return network.main(options, layout)
    tuning = Tuning(options, layout)
    tuning.announce()
    begin, busy, interrupt = time.monotonic(), stability.others(), None
    with tempfile.TemporaryDirectory(prefix="huddle-") as folder:
        drivers = tuning.drivers(folder)
        try:
            tuning.measure(drivers, begin)
        except KeyboardInterrupt as stopped:
            interrupt = stopped
            print("\nhuddle tune: stopped; what is decided is kept.", file=sys.stderr)
            for driver in drivers:
                driver.stop()
        busy = busy or stability.others()
        some = [tuning.finish(driver, busy) for driver in drivers]
    if interrupt:
        return stop.status_of(interrupt)
    return DONE if all(some) else FAILED


COMMAND = Command(main, PARAMETERS, output_files.HELP)
