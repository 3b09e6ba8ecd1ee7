# SPDX-License-Identifier: BSD-3-Clause
"""
huddle tune --machine: describes this machine by micro-measurements, in a file for `huddle lab
simulate` (lab/docs/machines.md).
"""

from __future__ import annotations

import json
import os
import sys
import tempfile
import time
from typing import Any

from ..common import jobs, machines, output_files, stability
from ..common.layout import CliError, Layout
from ..common.progress import Progress
from ..common.text import table
from ..common.types import Options
from . import agreement, tuning_file

LIMIT_S, OPTION = 300, "--machine"
THERE = True  # --machine without a name: the file that huddle lab simulate reads
ONCE = "measured only once, since it took too long"
TABLES = ("lines", "links", "copy", "memory", "caches", "reduce", "call")


def place(options: Options) -> str:
    if options.machine is THERE:
        tuning_file.make_folder(machines.measured_file(), OPTION)
        return machines.measured_file()
    if not options.machine.endswith(".toml"):
        raise CliError(
            f"tune: --machine {options.machine or repr('')}: not a file name that huddle lab"
            " simulate reads (accepted: a file NAME.toml; without a name"
            f" {machines.measured_file()})",
            2,
        )
    return os.path.abspath(options.machine)


def measure_once(layout: Layout) -> dict[str, Any]:
    try:
        return json.loads(jobs.run([os.path.join(layout.tools, "bench-machine")], limit_s=LIMIT_S))
    except jobs.JobFailed as failure:
        raise CliError(str(failure).strip().split("\n")[-1].removeprefix("huddle: ")) from failure


def measure(layout: Layout, progress: Progress) -> tuple[dict[str, Any], str | None]:
    """
    Measures the machine until all numbers agree, or until stability.enough() ends it.  Returns the
    measurement, and what did not agree or is not reliable in words, or None.
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
        f"{tuning_file.MARK} --machine'.",
        "# The keys: lab/docs/machines.md.",
        *([f"# NOT RELIABLE: {doubt}.", f"doubt = {quoted(doubt)}"] if doubt else []),
        f"name = {quoted(measured['name'])}",
        "source = "
        + quoted(f"measured by huddle tune --machine on {today}, {measured['cores']} cores"),
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
    Returns {path: content}.  The description is last, because it names the XML file next to it.
    """
    if not measured["xml"]:
        return {path: text_of(measured, measured["topology"], today, doubt)}
    xml = path.removesuffix(".toml") + ".xml"
    return {xml: measured["xml"], path: text_of(measured, os.path.basename(xml), today, doubt)}


def check_read(layout: Layout, files: dict[str, str]) -> None:
    """Refuses a description that a simulation would refuse; a clock that stood still gives 0 ns."""
    if machines.tomllib is None:
        return
    with tempfile.TemporaryDirectory() as folder:
        for file, content in files.items():
            name = os.path.join(folder, os.path.basename(file))
            output_files.write(name, content)
        try:
            layout.question(
                "model",
                {"ask": "description", "machine": machines.read(name)},
                {"machine": "what was measured"},
            )
        except CliError as error:
            raise CliError(f"tune: {error}; nothing was written") from error


def show(measured: dict[str, Any]) -> None:
    rows = [
        [f"{number['table']}.{number['key']}", number_text(number), number["note"]]
        for number in measured["numbers"]
    ] + [
        [f"{word['table']}.{word['key']}", word["value"], word["note"]]
        for word in measured.get("words", ())
    ]
    table(["what", "number", "how"], rows, right=(1,))


def main(options: Options, layout: Layout) -> int:
    path = place(options)
    tuning_file.check_place(path, options.force, OPTION)
    with Progress(stability.MAX_RUNS, "measuring, at most so often") as progress:
        measured, doubt = measure(layout, progress)
    if doubt:
        line = f"the figures are not reliable: {doubt}"
        if not options.force:
            raise CliError(f"tune: {line}; nothing was written (--force does, and marks them)")
        print(f"huddle: tune: {line}", file=sys.stderr)
    files = files_of(measured, path, time.strftime("%Y-%m-%d"), doubt)
    check_read(layout, files)
    for file, content in files.items():
        output_files.write(file, content)
    show(measured)
    print(f"\nWritten: {path}")
    print(
        f"huddle lab simulate {'' if options.machine is THERE else '--machine ' + path + ' '}"
        "barrier prints the time of a barrier on this machine."
    )
    return 0
