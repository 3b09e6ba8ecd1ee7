# SPDX-License-Identifier: BSD-3-Clause
"""
huddle lab model --fit: measures the four times of paper 01's model on this machine, one by one
(lab/bench/fit.c), and compares the model's predictions with measured times of bcast/queue.  It also
prints the t and t_w that fit the measured times best, which shows the error of the model itself.
"""

from __future__ import annotations

import json
import os
import statistics
import time
from typing import Any

from cli.common import jobs, stability
from cli.common.layout import CliError, Layout
from cli.common.progress import Progress
from cli.common.sizes import written
from cli.common.text import bytes_text, heading, table
from cli.common.types import Options

FRAGMENTS = (4096, 8192, 16384, 32768, 65536)
SETS, QUEUE = 3, 512 << 10  # parameters of bcast/queue in this comparison
LIMIT_S, PART_RUNS, SHOWN = 120, 3, 4


def least_squares(rows: list[tuple[float, float, float]]) -> tuple[float, float]:
    """
    Returns the x and y, neither below 0, that minimise the sum of (a x + b y - c)^2 over rows (a,
    b, c).
    """
    aa, ab, bb, ac, bc = (
        sum(row[i] * row[j] for row in rows) for i, j in ((0, 0), (0, 1), (1, 1), (0, 2), (1, 2))
    )
    det = aa * bb - ab * ab
    found = [
        (max(0, ac / aa), 0),
        (0, max(0, bc / bb)),
        *([((ac * bb - bc * ab) / det, (bc * aa - ac * ab) / det)] if det else []),
    ]
    return min(
        (pair for pair in found if min(pair) >= 0),
        key=lambda pair: sum((a * pair[0] + b * pair[1] - c) ** 2 for a, b, c in rows),
    )


def joined_parts(runs: list[dict[str, Any]]) -> tuple[dict[str, Any], list[str]]:
    """
    Returns the joint result of runs of bench-fit, and texts that name the figures which do not
    agree.
    """
    doubts = []

    def of(name: str, values: list[float]) -> float:
        ns, agree = stability.settled(values, slack=stability.SLACK_NS)
        doubts.extend([] if agree else [f"{name} {stability.range_text(values)}"])
        return ns

    parts: dict[str, Any] = {
        name: of(name.removesuffix("_ns"), [run[name] for run in runs])
        for name in ("notify_ns", "enter_ns", "leave_ns")
    }
    parts["copies"] = [
        {
            "bytes": some[0]["bytes"],
            **{
                way: of(
                    f"a copy {way.removesuffix('_ns')} of {bytes_text(some[0]['bytes'])}",
                    [copy[way] for copy in some],
                )
                for way in ("in_ns", "out_ns")
            },
        }
        for some in zip(*(run["copies"] for run in runs))
    ]
    return parts, doubts


class Fit:
    """
    A fit of the model to measurements. parts: results of bench-fit. model: the fitted model.
    measured: (bytes, f) -> ns. overhead_ns: time of a call that does nothing. doubts: texts about
    unreliable figures.
    """

    def __init__(self, layout: Layout, options: Options, sizes: list[int]) -> None:
        self.layout, self.sizes = layout, sizes
        self.ranks = options.ranks or 2
        self.tree = "flat" if self.ranks == 2 else "knomial"
        self.bind = "core" if self.ranks <= jobs.cores() else "none"
        others = stability.others()
        self.nothing: list[Any] = []
        self.lines: list[Any] = []
        with Progress(
            PART_RUNS + stability.MAX_RUNS * len(FRAGMENTS), "measuring, at most this often"
        ) as self.progress:
            self.parts, self.doubts = joined_parts(self.run_parts())
            self.measured, doubts = stability.measured(self.launch, lambda: None)
        if not self.measured:
            raise CliError(
                "model --fit: huddle handled no broadcast here, or nothing could be measured: the"
                " machine is too busy, or its processors move"
            )
        self.doubts = (
            ([others] if others else [])
            + self.doubts
            + [
                f"{bytes_text(size)} by {written(f)} {stability.range_text(some)}"
                for (size, f), some in doubts.items()
            ]
        )
        for f in FRAGMENTS:
            self.doubts += [
                f"{bytes_text(b)} by {written(f)} took less than {bytes_text(a)}"
                for a, b in stability.falls(
                    {size: ns for (size, by), ns in self.measured.items() if by == f}
                )
            ]
        self.overhead_ns = min(self.nothing)
        self.model = {
            "byte_ns": self.byte_ns(),
            "notify_ns": self.parts["notify_ns"],
            "enter_ns": self.parts["enter_ns"],
            "leave_ns": self.parts["leave_ns"],
        }

    def run(self, program: str, *words: str, **environment: Any) -> dict[str, Any]:
        clean = {name: "" for name in os.environ if name.startswith("HUDDLE")}
        try:
            output = jobs.run(
                [
                    self.layout.program(program),
                    "--ranks",
                    str(self.ranks),
                    "--bind",
                    self.bind,
                    *words,
                ],
                {**clean, "HUDDLE_TUNING": "off", "HUDDLE_WISDOM": "off", **environment},
                limit_s=LIMIT_S,
            )
        except jobs.JobFailed as failure:
            busy = stability.others()
            why = f"; {busy}, and it needs {self.ranks} idle processors" if busy else ""
            raise CliError(f"model --fit: {failure}{why}") from failure
        self.progress.step()
        answer = json.loads(output)
        self.lines += [
            ns
            for figure in (answer, *answer.get("figures", ()))
            for name, ns in figure.items()
            if name.startswith("line_") and ns >= 0
        ]
        return answer

    def run_parts(self) -> list[dict[str, Any]]:
        begin = time.monotonic()
        runs: list[Any] = []
        while len(runs) < PART_RUNS and not stability.enough(
            len(runs), time.monotonic() - begin, False
        ):
            runs.append(self.run("bench-fit", "--tree", self.tree))
        return runs

    def byte_ns(self) -> float:
        """
        Returns the time per byte of copies of a set of buffers, since the root is so far ahead.
        """
        near = min(self.parts["copies"], key=lambda copy: abs(copy["bytes"] - QUEUE / SETS))
        return max(near["in_ns"], near["out_ns"]) / near["bytes"]

    def launch(self) -> list[tuple[tuple[int, int], dict[str, Any]]]:
        """Returns [((bytes, f), figure)] of each f in turn."""
        found = []
        for f in FRAGMENTS:
            answer = self.run(
                "bench-team",
                "--coll",
                "nothing,bcast",
                "--bytes",
                ",".join(str(size) for size in self.sizes),
                HUDDLE_BCAST="queue",
                HUDDLE_LAB_BCAST_QUEUE_FRAGMENT=str(f),
                HUDDLE_LAB_BCAST_QUEUE_BUDGET=str(QUEUE),
                HUDDLE_LAB_BCAST_QUEUE_SETS=str(SETS),
                HUDDLE_LAB_BCAST_QUEUE_TREE=self.tree,
            )
            for figure in answer["figures"]:
                if figure["collective"] == "nothing":
                    self.nothing.append(figure["median_ns"])
                elif not figure["refused"]:
                    found.append(((figure["bytes"], f), figure))
        return found

    def predicted(self, model: dict[str, float]) -> dict[tuple[int, int], float]:
        """Returns {(bytes, f): ns}."""
        keys = list(self.measured)
        points = [
            {"bytes": size, "fragment": f, "buffers": QUEUE / f, "sets": SETS} for size, f in keys
        ]
        times = self.layout.question("model", {"ask": "queue", "model": model, "points": points})[
            "ns"
        ]
        return {key: ns + self.overhead_ns for key, ns in zip(keys, times)}

    def fitted(self) -> dict[str, float]:
        """
        Returns the model with t and t_w of least relative squares, and t_wo and t_a as measured.
        Takes their factors from the model itself.
        """
        rest = self.predicted({**self.model, "byte_ns": 0, "notify_ns": 0})
        per_byte, per_notice = (
            {
                key: ns - rest[key]
                for key, ns in self.predicted(
                    {**self.model, "byte_ns": 0, "notify_ns": 0, name: 1}
                ).items()
            }
            for name in ("byte_ns", "notify_ns")
        )
        rows = [
            (per_byte[key] / ns, per_notice[key] / ns, (ns - rest[key]) / ns)
            for key, ns in self.measured.items()
        ]
        t, t_w = least_squares(rows)
        return {**self.model, "byte_ns": t, "notify_ns": t_w}

    def errors(self, model: Any) -> Any:
        """Returns {(bytes, f): predicted over measured, less 1}."""
        return {key: ns / self.measured[key] - 1 for key, ns in self.predicted(model).items()}

    def best_fragment(self, model: Any) -> Any:
        if model["notify_ns"] <= 0 or model["byte_ns"] <= 0:
            return None
        return self.layout.question(
            "model", {"ask": "choose", "model": model, "wishes": [{"queue": QUEUE}]}
        )["forms"][0]["exact"]

    def as_json(self) -> dict[str, Any]:
        fitted = self.fitted()
        return {
            "ranks": self.ranks,
            "bind": self.bind,
            "tree": self.tree,
            "parts": self.parts,
            "overhead_ns": self.overhead_ns,
            "model": self.model,
            "fitted": fitted,
            "line_ns": self.lines,
            "doubts": self.doubts,
            "rows": [
                {
                    "bytes": size,
                    "fragment": f,
                    "measured_ns": self.measured[size, f],
                    "predicted_ns": self.predicted(self.model)[size, f],
                    "fitted_ns": self.predicted(fitted)[size, f],
                }
                for size, f in self.measured
            ],
        }


def line_text(lines: Any) -> Any:
    return f"{min(lines):.0f}-{max(lines):.0f} ns" if lines else "not measured"


def model_text(model: Any) -> Any:
    ratio = f", t_w / t {model['notify_ns'] / model['byte_ns']:.0f} B" if model["byte_ns"] else ""
    return (
        f"t {model['byte_ns']:.4f} ns per byte, t_w {model['notify_ns']:.0f} ns, t_wo"
        f" {model['enter_ns']:.0f} ns, t_a {model['leave_ns']:.1f} ns{ratio}"
    )


def error_text(part: Any) -> Any:
    return f"{100 * part:+.0f} %"


def middle(errors: Any) -> Any:
    return f"{100 * statistics.median(abs(part) for part in errors.values()):.0f} %"


def show(fit: Any) -> None:
    print(
        f"The four times of paper 01's model on this machine: {fit.ranks} ranks,"
        f" {'bound to cores' if fit.bind == 'core' else 'unbound'}, announced along {fit.tree};"
        f" line transfer {line_text(fit.lines)}"
    )
    fitted = fit.fitted()
    heading("Copies of fresh data, ns per byte: into a queue of this many bytes, and out of it")
    table(
        ["bytes", "in", "out"],
        [
            [
                bytes_text(c["bytes"]),
                f"{c['in_ns'] / c['bytes']:.4f}",
                f"{c['out_ns'] / c['bytes']:.4f}",
            ]
            for c in fit.parts["copies"]
        ],
        right=(0, 1, 2),
    )
    print(f"  measured one by one: {model_text(fit.model)}")
    print(f"  best fit:            {model_text(fitted)}")
    heading(
        f"bcast/queue of {written(QUEUE)} in {SETS} sets, us; predicted from the times measured one"
        " by one, and from the best fit"
    )
    one, two = fit.errors(fit.model), fit.errors(fitted)
    predicted, best = fit.predicted(fit.model), fit.predicted(fitted)
    table(
        ["bytes", "f", "measured", "predicted", "error", "best fit", "error"],
        [
            [
                bytes_text(size),
                written(f),
                f"{ns / 1000:.2f}",
                f"{predicted[size, f] / 1000:.2f}",
                error_text(one[size, f]),
                f"{best[size, f] / 1000:.2f}",
                error_text(two[size, f]),
            ]
            for (size, f), ns in sorted(fit.measured.items())
        ],
        right=range(7),
    )
    print(f"  error, median: {middle(one)} one by one, {middle(two)} of the best fit")
    for name, model in (("one by one", fit.model), ("best fit", fitted)):
        best_f = fit.best_fragment(model)
        print(
            f"  f* of the queue, {name}: {best_f:.0f} B"
            if best_f
            else f"  f* of the queue, {name}: as small as possible"
        )
    largest = max(size for size, _ in fit.measured)
    if fit.doubts:
        more = f"; and {len(fit.doubts) - SHOWN} more" if len(fit.doubts) > SHOWN else ""
        print(f"  not reliable: {'; '.join(fit.doubts[:SHOWN])}{more}")
    print(
        f"  best of those measured at {bytes_text(largest)}:"
        f" {written(min((ns, f) for (size, f), ns in fit.measured.items() if size == largest)[1])}"
    )
