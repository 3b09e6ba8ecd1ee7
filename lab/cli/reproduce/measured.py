# SPDX-License-Identifier: BSD-3-Clause
"""
Measured here: papers 01 and 05 against Open MPI's coll/tuned and coll/sm, on this machine. Only by
name: `huddle lab reproduce measured` needs Open MPI and a quiet machine, and takes minutes.

By `huddle bench`, which starts each MPI in turn: single calls from a common start, medians. One
rank a core, on all cores, at most 16.  Paper 05: the largest speedup over coll/tuned; and its
recommendations, that is the fastest of huddle's algorithms by size.  Paper 01, figure 13: the
paper's form (bcast/controls) and huddle's (bcast/queue) against coll/sm, the root moving from call
to call, buffers out of the caches.
"""

from __future__ import annotations

import json
import os
import subprocess
import tempfile
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from cli.common.layout import CliError
from cli.common.text import bytes_text

from .rows import Result, Row, at_least, found

if TYPE_CHECKING:
    from .command import Lab

TITLE, PART = "papers 01 and 05 against Open MPI", "Measured here"
MEASURED, MAX_RANKS = "measured", 16
TUNED, SM = "ompi4", "ompi4-sm"
LARGEST = {"bcast": 6.5, "reduce": 3.3, "allreduce": None}  # times coll/tuned, at most (paper 05)
EXPECTED = {"bcast": 4, "reduce": 3.3}  # huddle's own goal: at least so many
SIZES = "8,512,4K,16K,64K,512K"
FIGURE_13 = (-60, -20)  # %
COLD = ("--cold", "--root-shift")


def bench(lab: Lab, *words: str) -> Any:
    """
    Returns the rows of one `huddle bench` and adds its notes to the page.  If a variant was left
    out, its status is 1 and the others have rows.
    """
    ranks = min(len(os.sched_getaffinity(0)), MAX_RANKS)
    quick = ("--launches", "1", "--figure-ms", "4") if lab.brief else ()
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "bench.json")
        done = subprocess.run(
            [lab.layout.launcher, "bench", *words]
            + ["--ranks", str(ranks), "--json", path, *quick],
            stdout=subprocess.DEVNULL,
            stderr=subprocess.PIPE,
            text=True,
            check=False,
        )
        answer: dict[str, Any] = {"rows": []}
        if done.returncode in (0, 1) and os.path.exists(path):
            with open(path, encoding="utf-8") as file:
                answer = json.load(file)
    wrong = any(sample["wrong"] for sample in answer.get("samples", ()))
    if wrong or not answer["rows"]:
        raise CliError(done.stderr.strip().splitlines()[-1] if done.stderr else "bench: failed")
    for note in answer["notes"]:
        lab.note(f"{words[0]}: {note.splitlines()[0]}")
    return answer["rows"]


def us(row: dict[str, Any], variant: str) -> float:
    """Returns the time, or None if it was not measured."""
    cell = row["cells"].get(variant)
    return cell and cell["median_ns"] / 1000


def speedups(lab: Lab, collective: str, printed: float | None) -> Iterator[Row]:
    """Yields paper 05's speedups over coll/tuned, by size."""
    rows = [
        (us(row, TUNED) / us(row, "huddle"), row["bytes"], row["line"])
        for row in bench(lab, collective, "--bytes", SIZES, "--mpi", TUNED, "--against", TUNED)
        if us(row, TUNED) and us(row, "huddle")
    ]
    best, size, _ = max(rows, default=(None, 0, ""))  # a launch may fail
    what = f"05: {collective}, largest speedup over coll/tuned, at {bytes_text(size)}"
    # The paper's is of other ranks, on two sockets: it has no criterion here.
    yield Row(what, "times", printed, best, MEASURED)
    if collective in EXPECTED and best:
        goal = at_least(EXPECTED[collective], "times")
        what = f"05: {collective}, huddle's own goal over coll/tuned, at {bytes_text(size)}"
        yield Row.own(what, "times", best, MEASURED, goal)
    for line in dict.fromkeys(line for *_, line in rows):
        yield Row(
            f"05: {collective}, speedup over coll/tuned, line transfer {line}",
            "",
            None,
            ", ".join(f"{bytes_text(s)}: {factor:.2f}" for factor, s, at in rows if at == line),
            MEASURED,
        )


def recommended(lab: Any, collective: Any) -> Iterator[Any]:
    """Yields the fastest of huddle's algorithms at each size, for paper 05."""
    rows = bench(
        lab, collective, "--bytes", SIZES, "--mpi", TUNED, "--against", "none", "--algorithm", "all"
    )
    names = {
        row["name"]
        for row in lab.layout.ask("info", "algorithms")
        if row["collective"] == collective and not row["baseline"]
    }
    best: dict[Any, Any] = {}
    for row in rows:
        cells = {name: row["cells"].get(f"huddle {name}") for name in names}
        found_here = [(cell["median_ns"], name) for name, cell in cells.items() if cell]
        fastest = min(found_here, default=(0, "-"))[1]
        best.setdefault(row["line"], []).append(f"{bytes_text(row['bytes'])}: {fastest}")
    for line, parts in best.items():
        yield Row(
            f"05: {collective}, recommended by size, line transfer {line}",
            "",
            "not in the text at hand",
            ", ".join(parts),
            MEASURED,
        )


def figure_13(lab: Any) -> Iterator[Any]:
    """Yields paper 01's gains over coll/sm under the conditions of its figure."""
    times: dict[Any, Any] = {}
    sizes = ("--bytes", "1K,8K,64K,512K,4M" if not lab.brief else "1K,8K")
    peer = ("--mpi", TUNED, "--against", SM)
    forms = {"controls": ("HUDDLE_LAB_BCAST_CONTROLS_SETS=1",), "queue": ()}
    for name, settings in forms.items():
        words = [word for setting in settings for word in ("--set", setting)]
        for row in bench(lab, "bcast", *sizes, *peer, *COLD, "--algorithm", name, *words):
            ours = next((us(row, v) for v in row["cells"] if v != SM), None)
            if ours and us(row, SM):
                percent = 100 * (ours / us(row, SM) - 1)
                times.setdefault((name, row["line"]), []).append((row["bytes"], percent))
    for (name, line), gains in times.items():
        inside = [FIGURE_13[0] <= gain <= FIGURE_13[1] for _, gain in gains]
        yield Row.judged(
            f"01, figure 13: {name} against coll/sm, root moving, out of the caches, line"
            f" transfer {line}",
            "",
            "-20..-60 %, p = 16",
            ", ".join(f"{bytes_text(size)}: {gain:.0f} %" for size, gain in gains),
            MEASURED,
            found("within it at all sizes", all(inside)),
        )


def reproduce(lab: Any) -> Any:
    ranks = min(len(os.sched_getaffinity(0)), MAX_RANKS)
    lab.note(f"{ranks} ranks of this machine; the papers have 16 and more, on two sockets")
    lab.note("the papers do not measure on such a machine, so that only orders can be compared")
    rows: list[Row] = []
    for collective, printed in LARGEST.items():
        rows += speedups(lab, collective, printed)
    for collective in LARGEST:
        rows += recommended(lab, collective)
    return Result([*rows, *figure_13(lab)], [])
