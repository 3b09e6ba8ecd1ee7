# SPDX-License-Identifier: BSD-3-Clause
"""
Paper 04's own experiment, measured with huddle's trees between nodes of network namespaces
(huddle lab reproduce 04 --measure): the best degree and the best segment, compared with the paper's
formulas for the alpha and beta that the same jobs have measured.

The paper has 16 nodes of 8 processes on Gigabit Ethernet.  Here 16 nodes share one machine, at a
rate that its processors allow, with as many ranks on each as half of them.  Settings take turns and
least times count, since other work on the machine only adds.
"""

from __future__ import annotations

import json
import os
import secrets
import shlex
import tempfile
from collections import defaultdict
from collections.abc import Iterator
from typing import Any

from cli.common import jobs, namespaces, peers
from cli.common.pictures import Figure
from cli.common.progress import Progress

from .rows import Row, found

NODES, RATE, ROUNDS, LIMIT_S, CALLS = 16, "200mbit", 2, 120, 6
RANKS_OF_NODE, CLOSE, FACTOR = 8, 1.05, 1.5
BRIEF_NODES, BRIEF_ROUNDS = 4, 1
WHOLE_BYTES, CUT_BYTES = 64 << 10, 512 << 10  # messages in one piece and in segments
MIN_SEGMENT, MAX_SEGMENT = 256, 64 << 10
MEASURED = "measured"
PRELOAD = 'export LD_PRELOAD="$0${LD_PRELOAD:+:$LD_PRELOAD}"; exec "$@"'


class Bench:
    """Jobs on the nodes: the least time of a broadcast by settings, and all networks measured."""

    def __init__(self, lab: Any, nodes: Any) -> None:
        self.lab, self.nodes = lab, nodes
        here = max(1, min(RANKS_OF_NODE, jobs.cores() // 2))
        self.job = nodes.job(peers.debian("ompi4"), [here] * nodes.count)
        self.ranks = here * nodes.count
        self.networks: list[Any] = []
        self.least: defaultdict[Any, float] = defaultdict(lambda: 1e18)

    def time(self, tree: Any, degree: Any, segment: Any, size: Any) -> Any:
        """Measures a point and keeps its lowest time, in us."""
        layout, key = self.lab.layout, (tree, degree, segment, size)
        loader = os.path.join(layout.plugins, "libhuddle-loader.so")
        with tempfile.TemporaryDirectory(prefix="huddle-") as scratch:
            stats = os.path.join(scratch, "stats.json")
            settings = {
                "HUDDLE_JOB": secrets.token_hex(16),
                "HUDDLE_NODES": "on",
                "HUDDLE_LAB_NODES_TREE": tree,
                "HUDDLE_LAB_NODES_DEGREE": degree,
                "HUDDLE_LAB_NODES_FRAGMENT": segment,
                "HUDDLE_TUNING": "off",
                "HUDDLE_WISDOM": "off",
                "HUDDLE_STATS": f"json:{stats}",
            }
            rank = ["env", *(f"{name}={value}" for name, value in settings.items())]
            rank += ["sh", "-c", PRELOAD, loader, layout.program("nodes-openmpi")]
            command = self.nodes.enter([*self.job, *rank, f"bcast:{size}:{CALLS}"])
            output = jobs.run(command, limit_s=LIMIT_S)
            with open(stats, encoding="utf-8") as file:
                self.networks.append(json.load(file)["network"])
        (line,) = [line for line in output.splitlines() if line.startswith("nodes ")]
        self.least[key] = min(self.least[key], *map(float, line.split()[3:]))
        return self.least[key]

    def model(self) -> Any:
        """Returns the lowest alpha and beta of all jobs, as for times."""
        return {
            name: min(network[name] for network in self.networks)
            for name in ("alpha_ns", "beta_ns")
        }

    def formula(self, tree: Any, size: Any) -> Any:
        point = {"tree": tree, "ranks": self.nodes.count, "degree": 2, "bytes": size, "segment": 0}
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
    where = f"{bench.nodes.count} nodes"
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
    """Returns (rows, figures), both empty with a note if nodes cannot be created."""
    count, rounds = (BRIEF_NODES, BRIEF_ROUNDS) if lab.brief else (NODES, ROUNDS)
    if not peers.debian("ompi4") or not os.path.exists(lab.layout.program("nodes-openmpi")):
        lab.note("--measure: Open MPI 4 (mpirun.openmpi) is not here")
        return [], []
    try:
        with namespaces.Nodes(count, RATE, lab.layout.tools) as nodes:
            bench, points = Bench(lab, nodes), list(all_points())
            with Progress(rounds * len(points), "measuring on nodes") as progress:
                for point in rounds * points:
                    bench.time(*point)
                    progress.step()
            network = bench.model()
            lab.note(
                f"measured on {count} nodes at {RATE}, {bench.ranks} ranks: alpha"
                f" {network['alpha_ns'] / 1000:.1f} us, beta {network['beta_ns']:.1f} ns per byte"
            )
            return rows_of(bench)
    except namespaces.NotHere as why:
        lab.note(f"--measure: {why}")
    except jobs.JobFailed as failure:
        lab.note(f"--measure: {shlex.quote(str(failure).splitlines()[0])}")
    return [], []
