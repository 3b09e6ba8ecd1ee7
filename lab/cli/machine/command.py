# SPDX-License-Identifier: BSD-3-Clause
"""
huddle lab machine: describes this machine by micro-measurements, in a file for `huddle lab
simulate` (lab/docs/machines.md).
"""

from __future__ import annotations

import json
import os
import sys
import tempfile
import time
from typing import Any

from cli.common import jobs, machines, output_files, stability
from cli.common.command_line import Argument, Command, Option
from cli.common.exit_status import BAD_USE, DONE
from cli.common.layout import CliError, Layout
from cli.common.progress import Progress
from cli.common.text import table
from cli.common.types import Options

from .. import described
from . import agreement

LIMIT_S, MACHINE, OTHER = 300, "huddle lab machine", "FILE.toml"
ONCE = "measured only once, since it took too long"
TABLES = ("lines", "links", "copy", "memory", "caches", "reduce", "call")
PARAMETERS = (
    Argument(
        "file",
        required=False,
        metavar=OTHER,
        help="where to write the description (default: the file that huddle lab simulate reads)",
    ),
    Option(
        "--force",
        is_flag=True,
        help=(
            "overwrite a file that this command did not write; also write figures that contradict"
            " each other, and mark them"
        ),
    ),
)
EPILOG = (
    "It takes some seconds on a quiet machine, and up to half a minute on a busy one."
    f" {output_files.HELP}"
)


def place(file: str | None) -> str:
    """Returns the path of the description."""
    usual = described.measured_file()
    if file is None:
        output_files.make_usual_folder(usual, OTHER)
        return usual
    if not file.endswith(".toml"):
        raise CliError(
            f"machine: {file or repr('')}: not a file name that huddle lab simulate reads"
            f" (accepted: a file NAME.toml; without a name {usual})",
            BAD_USE,
        )
    return os.path.abspath(file)


def measure_once(layout: Layout) -> dict[str, Any]:
    try:
        return json.loads(jobs.run([os.path.join(layout.tools, "bench-machine")], limit_s=LIMIT_S))
    except jobs.JobFailed as failure:
        raise CliError(str(failure).strip().split("\n")[-1].removeprefix("huddle: ")) from failure


def measure(layout: Layout, progress: Progress) -> tuple[dict[str, Any], str | None]:
    """
    Measures the machine until all numbers agree, or until stability.enough() ends the runs.
    Returns the measurement, and a text about the unreliable numbers, or None.
    """
    begin = time.monotonic()
    runs: list[Any] = []
    words: list[Any] = []
    unmeasured: list[Any] = []
    doubt: Any = None
    numbers: list[Any] = []
    others = stability.others()
    while not stability.enough(len(runs), time.monotonic() - begin, doubt is None):
        measured = measure_once(layout)
        runs.append(measured["numbers"])
        words.append(measured.get("words", []))
        unmeasured.append(measured.get("unmeasured", []))
        numbers, unsteady = agreement.joined(runs)
        doubt = agreement.words(
            unsteady,
            agreement.disagreeing(words)
            + ([others] if others else [])
            + ([ONCE] if len(runs) == 1 else [])
            + agreement.impossible(numbers),
        )
        progress.step()
    unmeasured = agreement.missing(unmeasured, [*numbers, *words[-1]])
    return {**measured, "numbers": numbers, "unmeasured": unmeasured}, doubt


def number_text(number: dict[str, Any]) -> str:
    value = number["value"]
    return f"{value:.0f}" if number["key"].endswith("_bytes") else f"{value:.4g}"


def quoted(text: str) -> str:
    return json.dumps(text)


def text_of(measured: dict[str, Any], topology: str, today: str, doubt: str | None = None) -> str:
    """Formats the file of a machine.  doubt: why the figures are not reliable, or None."""
    lines = [
        f"{output_files.mark_of(MACHINE)}'.",
        "# The keys: lab/docs/machines.md.",
        *([f"# NOT RELIABLE: {doubt}.", f"doubt = {quoted(doubt)}"] if doubt else []),
        f"name = {quoted(measured['name'])}",
        "source = " + quoted(f"measured by {MACHINE} on {today}, {measured['cores']} cores"),
        f"topology = {quoted(topology)}",
    ]
    for name in TABLES:
        lines += ["", f"[{name}]"]
        lines += [
            f"{number['key']} = {number_text(number)}".ljust(32) + f"# {number['note']}"
            for number in measured["numbers"]
            if number["table"] == name
        ]
        lines += [
            f"{word['key']} = {quoted(word['value'])}".ljust(32) + f"# {word['note']}"
            for word in measured.get("words", ())
            if word["table"] == name
        ]
        lines += [
            f"# {missing['key']}: not measured: {missing['note']}"
            for missing in measured.get("unmeasured", ())
            if missing["table"] == name
        ]
        if name == "caches":
            lines.append(
                f"shared_level = {quoted(measured['shared_level'])}".ljust(32)
                + "# hwloc's, of the last cache"
            )
    return "\n".join(lines) + "\n"


def files_of(measured: dict[str, Any], path: str, today: str, doubt: str | None) -> dict[str, str]:
    """
    Returns {path: content}.  The description is last, because the description names the XML file
    next to it.
    """
    if not measured["xml"]:
        return {path: text_of(measured, measured["topology"], today, doubt)}
    xml = path.removesuffix(".toml") + ".xml"
    return {xml: measured["xml"], path: text_of(measured, os.path.basename(xml), today, doubt)}


def check_read(layout: Layout, files: dict[str, str]) -> None:
    """
    Refuses a description if a simulation would refuse it.  A clock without progress gives 0 ns.
    """
    if machines.tomllib is None:
        return
    with tempfile.TemporaryDirectory() as folder:
        for file, content in files.items():
            name = os.path.join(folder, os.path.basename(file))
            output_files.write(name, content)
        try:
            described.check(layout, machines.read(name), "what was measured")
        except CliError as error:
            raise CliError(f"machine: {error}; nothing was written") from error


def show(measured: dict[str, Any]) -> None:
    rows = [
        [f"{number['table']}.{number['key']}", number_text(number), number["note"]]
        for number in measured["numbers"]
    ] + [
        [f"{word['table']}.{word['key']}", word["value"], word["note"]]
        for word in measured.get("words", ())
    ]
    table(["what", "number", "how"], rows, right=(1,))


def main(options: Options, _command: list[Any], layout: Layout) -> int:
    path = place(options.file)
    output_files.check_own(path, MACHINE, options.force, OTHER)
    with Progress(stability.MAX_RUNS, "measuring, at most so often") as progress:
        measured, doubt = measure(layout, progress)
    if doubt:
        line = f"the figures are not reliable: {doubt}"
        if not options.force:
            raise CliError(f"machine: {line}; nothing was written (--force does, and marks them)")
        print(f"huddle: machine: {line}", file=sys.stderr)
    files = files_of(measured, path, time.strftime("%Y-%m-%d"), doubt)
    check_read(layout, files)
    for file, content in files.items():
        output_files.write(file, content)
    show(measured)
    print(f"\nWritten: {path}")
    print(
        f"huddle lab simulate {'' if options.file is None else '--machine ' + path + ' '}"
        "barrier prints the time of a barrier on this machine."
    )
    return DONE


COMMAND = Command(main, PARAMETERS, EPILOG)
