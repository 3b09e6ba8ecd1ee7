# SPDX-License-Identifier: BSD-3-Clause
"""
huddle tune --machine: describes this machine by micro-measurements, in a file for `huddle simulate`
(docs/machines.md).
"""

import json
import os
import sys
import tempfile
import time

from ..common import jobs, machines, places, steady
from ..common.layout import Trouble
from ..common.progress import Progress
from ..common.text import table
from . import agreement, tuning_file

LIMIT_S, OPTION = 300, "--machine"
THERE = True  # --machine without a name: the file that huddle simulate reads
ONCE = "measured only once, since it took too long"
TABLES = ("lines", "links", "copy", "memory", "caches", "reduce", "call")


def place(options):
    if options.machine is THERE:
        tuning_file.make_folder(machines.measured_file(), OPTION)
        return machines.measured_file()
    if not options.machine.endswith(".toml"):
        raise Trouble(
            f"tune: --machine {options.machine or repr('')}: not a file name that huddle simulate"
            f" reads (accepted: a file NAME.toml; without a name {machines.measured_file()})",
            2,
        )
    return os.path.abspath(options.machine)


def measure_once(layout):
    try:
        return json.loads(jobs.run([os.path.join(layout.tools, "bench-machine")], limit_s=LIMIT_S))
    except jobs.JobFailed as failure:
        raise Trouble(str(failure).strip().split("\n")[-1].removeprefix("huddle: ")) from failure


def measure(layout, progress):
    """
    As often as it takes until all numbers agree; and what did not, or cannot be, in words (None:
    nothing).
    """
    runs, words, unmeasured, begin, doubt, numbers = [], [], [], time.monotonic(), None, []
    others = steady.others()
    while not steady.enough(len(runs), time.monotonic() - begin, doubt is None):
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


def number_text(number):
    value = number["value"]
    return f"{value:.0f}" if number["key"].endswith("_bytes") else f"{value:.4g}"


def quoted(text):
    return json.dumps(text)


def text_of(measured, topology, today, doubt=None):
    """The file; doubt: why its figures are not reliable."""
    lines = [
        f"{tuning_file.MARK} --machine'.",
        "# The keys: docs/machines.md.",
        *([f"# NOT RELIABLE: {doubt}.", f"doubt = {quoted(doubt)}"] if doubt else []),
        f"name = {quoted(measured['name'])}",
        "source = "
        + quoted(f"measured by huddle tune --machine on {today}, {measured['cores']} cores"),
        f"topology = {quoted(topology)}",
        f"vendor = {quoted(measured['vendor'])}",
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


def files_of(measured, path, today, doubt):
    """path -> content; the description is last, since it names the XML file next to it."""
    if not measured["xml"]:
        return {path: text_of(measured, measured["topology"], today, doubt)}
    xml = path.removesuffix(".toml") + ".xml"
    return {xml: measured["xml"], path: text_of(measured, os.path.basename(xml), today, doubt)}


def check_read(layout, files):
    """Refuses a description that a simulation would refuse; a clock that stood still gives 0 ns."""
    if machines.tomllib is None:
        return
    with tempfile.TemporaryDirectory() as folder:
        for file, content in files.items():
            name = os.path.join(folder, os.path.basename(file))
            places.write(name, content)
        try:
            layout.question(
                "model",
                {"ask": "description", "machine": machines.read(name)},
                {"machine": "what was measured"},
            )
        except Trouble as trouble:
            raise Trouble(f"tune: {trouble}; nothing was written") from trouble


def show(measured):
    rows = [
        [f"{number['table']}.{number['key']}", number_text(number), number["note"]]
        for number in measured["numbers"]
    ] + [
        [f"{word['table']}.{word['key']}", word["value"], word["note"]]
        for word in measured.get("words", ())
    ]
    table(["what", "number", "how"], rows, right=(1,))


def main(options, layout):
    path = place(options)
    tuning_file.check_place(path, options.force, OPTION)
    with Progress(steady.MAX_RUNS, "measuring, at most so often") as progress:
        measured, doubt = measure(layout, progress)
    if doubt:
        line = f"the figures are not reliable: {doubt}"
        if not options.force:
            raise Trouble(f"tune: {line}; nothing was written (--force does, and marks them)")
        print(f"huddle: tune: {line}", file=sys.stderr)
    files = files_of(measured, path, time.strftime("%Y-%m-%d"), doubt)
    check_read(layout, files)
    for file, content in files.items():
        places.write(file, content)
    show(measured)
    print(f"\nWritten: {path}")
    print(
        f"huddle simulate {'' if options.machine is THERE else '--machine ' + path + ' '}barrier"
        " says what collectives take on such a machine."
    )
    return 0
