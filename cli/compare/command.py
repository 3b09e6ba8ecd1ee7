# SPDX-License-Identifier: BSD-3-Clause
"""
huddle compare: runs a program without and with huddle in turn, and compares its time, its
collectives' time, and what it prints.
"""

from __future__ import annotations

import json
import statistics
import subprocess
import tempfile
import time
from collections import Counter, namedtuple
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from ..common import bad_settings, exit_report, output_files, recorded, records
from ..common.command_line import Command, Option
from ..common.exit_status import BAD_USE, DONE, FAILED
from ..common.layout import CliError, Layout
from ..common.options import whole
from ..common.progress import Progress
from ..common.text import gain_text, heading, table, warn
from ..common.totals import Totals
from ..common.types import Options
from . import ratios

if TYPE_CHECKING:
    from .ratios import Ratio

# Of one run.  collectives: seconds in them, mean over ranks; by: the same, per collective; calls,
# handled: of all ranks; passed: those that fell back, by reason.
Run = namedtuple("Run", "seconds collectives by output status lines calls handled passed")


PARAMETERS = (
    Option(
        "--runs",
        type=whole(1, 1000),
        default=7,
        metavar="N",
        help="number of runs without huddle, and of runs with huddle (default: 7)",
    ),
    Option("--json", metavar="FILE", help="also write the figures to FILE as JSON"),
)
EPILOG = (
    "The command follows --, for example: huddle compare -- mpirun -np 4 ./app. The exit status"
    " is 1 if a run fails, or if the program prints different output with huddle. The"
    " program's standard input is empty."
)


def lines_of(errors: bytes) -> list[str]:
    """Returns huddle's messages on standard error, without its name."""
    lines = errors.decode(errors="replace").splitlines()
    return [line.partition("huddle: ")[2] for line in lines if "huddle: " in line]


def one_run(layout: Layout, command: list[str], off: bool) -> Run:
    with tempfile.TemporaryDirectory(prefix="huddle-") as folder:
        status, seconds, (text, errors) = recorded.run(
            layout, folder, command, off, subprocess.PIPE
        )
        ranks = records.read(folder)
        if status == 0 and not ranks:  # further runs would compare nothing
            raise CliError(exit_report.nothing(command, folder))
        if status != 0:
            tail = (errors or text).decode(errors="replace").strip()[-1000:]
            way = "without" if off else "with"
            raise CliError(
                f"the command ended with status {status} {way} huddle{': ' if tail else ''}{tail}"
            )
        unusual = exit_report.lines(ranks, command, folder)
        rows = Totals(ranks, layout).by_collective()
        by = {name: row.seconds / len(ranks) for name, row in rows.items()}
        calls = sum(row.calls for row in rows.values())
        handled = sum(row.handled for row in rows.values())
        passed = sum((row.passed for row in rows.values()), Counter())
    lines = [*([] if off else lines_of(errors)), *unusual]
    return Run(seconds, sum(by.values()), by, text, status, lines, calls, handled, passed)


def left_text(begin: float, done: int, total: int) -> str:
    """Returns how long the remaining runs take, judged by the runs so far."""
    return (
        f", about {(time.monotonic() - begin) / done * (total - done):.0f} s left" if done else ""
    )


def measure(layout: Layout, command: list[str], runs: int) -> tuple[list[Run], list[Run]]:
    """Returns the runs without and with huddle.  They take turns in being first."""
    begin, done = time.monotonic(), 0
    found: dict[bool, list[Any]] = {True: [], False: []}
    with Progress(2 * runs) as progress:
        for turn in range(runs):
            for off in (True, False) if turn % 2 == 0 else (False, True):
                words = "without huddle" if off else "with huddle"
                progress.stage(words + left_text(begin, done, 2 * runs))
                found[off].append(one_run(layout, command, off))
                progress.step()
                done += 1
    return found[True], found[False]


def output_verdict(without: list[Run], with_it: list[Run]) -> tuple[bool | None, str]:
    """
    Returns (whether the program prints the same, words).  The first is None if that cannot be
    decided.
    """
    plain, ours = {run.output for run in without}, {run.output for run in with_it}
    if len(plain | ours) == 1:
        return True, "is the same in all runs"
    # Nothing orders the lines of two ranks.
    plain, ours = ({tuple(sorted(text.splitlines())) for text in texts} for texts in (plain, ours))
    if len(plain | ours) == 1:
        return True, "has the same lines in every run, but in a different order"
    if len(plain) > 1:
        return None, "differs from run to run without huddle, too, so it proves nothing"
    if len(without) == 1:
        return None, "differs; only 2 or more runs show whether it also differs without huddle"
    if plain & ours:
        return None, "differs from run to run with huddle"
    return False, "with huddle differs from that without"


def ratio_of(without: list[Run], with_it: list[Run], value: Callable[..., Any]) -> Any:
    return ratios.of_pairs([(value(a), value(b)) for a, b in zip(without, with_it)])


def row_of(
    name: str, without: list[Run], with_it: list[Run], value: Callable[..., Any]
) -> list[str]:
    return [
        name,
        f"{statistics.median(map(value, without)):.4f}",
        f"{statistics.median(map(value, with_it)):.4f}",
        ratios.text(ratio_of(without, with_it, value)),
    ]


def names_of(runs: list[Run]) -> list[str]:
    names = {name for run in runs for name in run.by}
    return sorted(names, key=lambda name: -max(run.by.get(name, 0) for run in runs))


def sentence(ratio: Ratio, pairs: int) -> str:
    found = ratios.verdict(ratio)
    if found is None:
        if pairs < ratios.MIN_PAIRS:
            return (
                "Too few runs to tell whether the difference is noise"
                f" ({ratios.MIN_PAIRS} or more can)."
            )
        return "The difference in run time is within the noise."
    return f"The program is {gain_text(ratio.value)} with huddle (95 % interval in the table)."


def handled_text(run: Run) -> str:
    """Returns a sentence about the calls handled in a run with huddle."""
    text = f"With huddle {run.handled} of {run.calls} calls were handled."
    if run.passed and 2 * run.handled < run.calls:
        why, calls = run.passed.most_common(1)[0]
        text += f" Most others: {why} ({calls})."
    return text


def show(without: list[Run], with_it: list[Run]) -> None:
    ratio = ratio_of(without, with_it, lambda run: run.seconds)
    runs = f"medians of {len(without)} runs each" if len(without) > 1 else "one run each"
    heading(f"Seconds, {runs}")
    rows = [row_of("whole program", without, with_it, lambda run: run.seconds)]
    rows.append(row_of("in collectives", without, with_it, lambda run: run.collectives))
    for name in names_of(without + with_it):
        rows.append(row_of("  " + name, without, with_it, lambda run, n=name: run.by.get(n, 0.0)))
    heads = ["", "without", "with huddle", "median of pairs, 95 % interval"]
    table(heads, rows, right=(1, 2))
    print("  Time in collectives is the mean of the ranks, and includes waiting for late ranks.")
    print("  Of a nonblocking collective only the call that starts it counts, not tests and waits.")
    print(f"\n{sentence(ratio, len(without))}")
    print(handled_text(with_it[-1]))
    print(f"Its output {output_verdict(without, with_it)[1]}.")


def facts_of(command: list[str], without: list[Run], with_it: list[Run]) -> dict[str, Any]:
    def figures(value: Callable[..., Any]) -> dict[str, Any]:
        ratio = ratio_of(without, with_it, value)
        return {
            "without": [value(run) for run in without],
            "with": [value(run) for run in with_it],
            "ratio": ratio._asdict() if ratio else None,
        }

    names = names_of(without + with_it)
    whole = ratio_of(without, with_it, lambda run: run.seconds)
    return {
        "command": command,
        "runs": len(without),
        "verdict": ratios.verdict(whole) or "noise",
        "same_output": output_verdict(without, with_it)[0],
        "calls": with_it[-1].calls,
        "handled": with_it[-1].handled,
        "seconds": figures(lambda run: run.seconds),
        "collectives": figures(lambda run: run.collectives),
        "by_collective": {n: figures(lambda run, n=n: run.by.get(n, 0.0)) for n in names},
    }


def main(options: Options, command: list[str], layout: Layout) -> int:
    if not command:
        raise CliError("nothing to run: huddle compare [options] -- COMMAND...", BAD_USE)
    output_files.check("--json", options.json)
    bad_settings.refuse(layout)
    without, with_it = measure(layout, command, options.runs)
    show(without, with_it)
    warn(*dict.fromkeys(line for run in with_it for line in run.lines))
    if options.json:
        text = json.dumps(facts_of(command, without, with_it), indent=2) + "\n"
        output_files.write(options.json, text)
    return FAILED if output_verdict(without, with_it)[0] is False else DONE


COMMAND = Command(main, PARAMETERS, EPILOG, takes_command=True)
