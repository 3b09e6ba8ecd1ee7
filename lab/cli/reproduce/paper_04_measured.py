# SPDX-License-Identifier: BSD-3-Clause
"""
Paper 04's own experiment, measured with huddle's trees on the nodes of a job (huddle lab reproduce
04 --measure COMMAND): the best degree and the best segment, compared with the paper's formulas for
the alpha and beta that the same jobs have measured.

The paper has 16 nodes of 8 processes on Gigabit Ethernet.  One machine can have 16 nodes that are
network namespaces, as root (tests/mpi/namespaces.py):

    python3 tests/mpi/namespaces.py --rate 200mbit 16x1 \\
        build/bin/huddle lab reproduce 04 --measure '{ompi4}'

Settings take turns and least times count, since other work on the nodes only adds.
"""

from __future__ import annotations

import os
import secrets
import shlex
from collections import defaultdict
from collections.abc import Iterator
from typing import Any

from cli.common import jobs, network
from cli.common.pictures import Figure
from cli.common.progress import Progress

from .rows import Row, found

ROUNDS, LIMIT_S, CALLS = 2, 120, 6
CLOSE, FACTOR = 1.05, 1.5
WHOLE_BYTES, CUT_BYTES = 64 << 10, 512 << 10  # messages in one piece and in segments
MIN_SEGMENT, MAX_SEGMENT = 256, 64 << 10
MEASURED = "measured"
PRELOAD = 'export LD_PRELOAD="$0${LD_PRELOAD:+:$LD_PRELOAD}"; exec "$@"'


class Bench:
    """The jobs on the nodes: the shortest broadcast by settings, and all measured networks."""

    def __init__(self, lab: Any, job: list[str]) -> None:
        self.lab, self.job = lab, job
        hosts = jobs.run([*job, "hostname"], limit_s=LIMIT_S).split()
        self.ranks, self.nodes = len(hosts), len(set(hosts))
        self.networks: list[network.Network] = []
        self.least: defaultdict[Any, float] = defaultdict(lambda: 1e18)

    def time(self, tree: Any, degree: Any, segment: Any, size: Any) -> Any:
        """Measures a point and keeps its lowest time, in us."""
        layout, key = self.lab.layout, (tree, degree, segment, size)
        loader = os.path.join(layout.plugins, "libhuddle-loader.so")
        settings = {
            "HUDDLE_JOB": secrets.token_hex(16),
            "HUDDLE_NODES": "on",
            "HUDDLE_LAB_NODES_TREE": tree,
            "HUDDLE_LAB_NODES_DEGREE": degree,
            "HUDDLE_LAB_NODES_FRAGMENT": segment,
            "HUDDLE_TUNING": "off",
            "HUDDLE_WISDOM": "off",
            "HUDDLE_STATS": "1",
        }
        rank = ["env", *(f"{name}={value}" for name, value in settings.items())]
        rank += ["sh", "-c", PRELOAD + " 2>&1", loader, layout.program("nodes-openmpi")]
        output = jobs.run([*self.job, *rank, f"bcast:{size}:{CALLS}"], limit_s=LIMIT_S)
        measured = network.measured(output)
        if not measured:
            raise jobs.JobFailed("no message crossed nodes")
        self.networks.append(measured)
        (line,) = [line for line in output.splitlines() if line.startswith("nodes ")]
        self.least[key] = min(self.least[key], *map(float, line.split()[3:]))
        return self.least[key]

    def model(self) -> Any:
        """Returns the lowest alpha and beta of all jobs, as for times."""
        return {
            name: min(getattr(measured, name) for measured in self.networks)
            for name in ("alpha_ns", "beta_ns")
        }

    def formula(self, tree: Any, size: Any) -> Any:
        point = {"tree": tree, "ranks": self.nodes, "degree": 2, "bytes": size, "segment": 0}
        return self.lab.model("trees", model=self.model(), points=[point])["points"][0]


# huddle's tree, the paper's name of it, and what is tried: degrees, or segments
DEGREES = (("kary", "k-ary", (2, 3, 4, 6, 8)), ("knomial", "k-nomial", (2, 3, 4, 8)))
SEGMENTS = (("chain", "chain", "figure-9"), ("kary", "binary pipelined", "figure-12"))
SEGMENTS_TRIED = [MIN_SEGMENT << i for i in range(1, 9)]


def agree(tried: Any, times: Any, best: Any) -> Any:
    """
    Returns the criterion of a flat optimum: a value near the formula's is as good as the best here.
    """
    near = [time for x, time in zip(tried, times) if 1 / FACTOR <= x / best <= FACTOR]
    return found(
        f"one within a factor of {FACTOR} is within {100 * (CLOSE - 1):.0f} % of the best",
        bool(near) and min(near) <= CLOSE * min(times),
    )


def all_points() -> Iterator[Any]:
    for tree, _, degrees in DEGREES:
        yield from ((tree, degree, WHOLE_BYTES, WHOLE_BYTES) for degree in degrees)
    for tree, _, _ in SEGMENTS:
        yield from ((tree, 2, segment, CUT_BYTES) for segment in SEGMENTS_TRIED)


def judged(bench: Any, what: Any, unit: Any, tried: Any, points: Any, best: Any) -> Any:
    times = [bench.least[point] / 1e3 for point in points]
    here = min(zip(times, tried))[1]
    return Row.judged(what, unit, best, here, MEASURED, agree(tried, times, best)), times


def rows_of(bench: Any) -> Any:
    """Returns rows whose published figure is the formula's, and figures."""
    rows, figures, over_k = [], [], []
    where = f"{bench.nodes} nodes"
    for tree, name, degrees in DEGREES:
        points = [(tree, k, WHOLE_BYTES, WHOLE_BYTES) for k in degrees]
        best = bench.formula(name, WHOLE_BYTES)["best_degree"]
        what = f"{name} tree: best k, {where}, {WHOLE_BYTES >> 10} KB; published: the formula's"
        row, times = judged(bench, what, "", degrees, points, best)
        rows.append(row)
        over_k.append((name, list(degrees), times, True))
    figures.append(Figure("figure-6-measured", f"Time over k, {where}", "k", "ms", "", over_k))
    for tree, name, figure in SEGMENTS:
        points = [(tree, 2, s, CUT_BYTES) for s in SEGMENTS_TRIED]
        best = bench.formula(name, CUT_BYTES)["best_segment"]
        what = f"{name}: best segment, {where}, {CUT_BYTES >> 10} KB; published: the formula's"
        row, times = judged(bench, what, "B", SEGMENTS_TRIED, points, best)
        rows.append(row)
        lines = [(name, SEGMENTS_TRIED, times, True)]
        title = f"{name}: time over the segment, {where}"
        figures.append(Figure(f"{figure}-measured", title, "segment, bytes", "ms", "x", lines))
    return rows, figures


def measure(lab: Any) -> Any:
    """Returns (rows, figures), both empty with a note if the jobs fail."""
    rounds = 1 if lab.brief else ROUNDS
    try:
        bench, points = Bench(lab, shlex.split(lab.measure)), list(all_points())
        with Progress(rounds * len(points), "measuring on nodes") as progress:
            for point in rounds * points:
                bench.time(*point)
                progress.step()
    except jobs.JobFailed as failure:
        lab.note(f"--measure: {shlex.quote(str(failure).splitlines()[0])}")
        return [], []
    model = bench.model()
    lab.note(
        f"measured on {bench.nodes} nodes, {bench.ranks} ranks: alpha"
        f" {model['alpha_ns'] / 1000:.1f} us, beta {model['beta_ns']:.1f} ns per byte"
    )
    return rows_of(bench)
