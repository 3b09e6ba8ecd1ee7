# SPDX-License-Identifier: BSD-3-Clause
"""Open MPI as it is against Open MPI with huddle: the same program (collectives.c) in turn, A B A B ..., and medians.

Every figure carries the line transfer measured beside it.  Figures are compared only within one class of it: a machine whose processors
wander (virtual ones do) is several machines, and a ratio across them means nothing.
"""
import json
import statistics
from collections import defaultdict, namedtuple

PLAIN, HUDDLE = "Open MPI", "with huddle"

# Name, and the line transfer in ns below which a figure belongs to it: threads of a core or a small shared cache, one L3, beyond.
CLASSES = (("nearest", 40), ("near", 150), ("far", float("inf")))

Setting = namedtuple("Setting", "ranks bound title")
SETTINGS = (Setting(2, True, "2 ranks, bound to cores"), Setting(8, False, "8 ranks, oversubscribed"))

Row = namedtuple("Row", "ranks collective bytes line line_ns plain_us huddle_us samples")


def class_of(figure):
    """None: not measured, or the processors moved between before and after."""
    seen = {next(name for name, below in CLASSES if ns < below) for ns in (figure["line_before_ns"], figure["line_after_ns"]) if ns >= 0}
    return seen.pop() if len(seen) == 1 else None


class Samples:
    """(ranks, collective, bytes, class) -> variant -> [median of a launch]."""

    def __init__(self):
        self.times = defaultdict(lambda: defaultdict(list))
        self.lines = defaultdict(list)
        self.unlabelled = 0

    def add(self, ranks, variant, answer):
        for figure in answer["figures"]:
            kind = class_of(figure)
            if kind is None or figure["shots"] == 0:
                self.unlabelled += 1
                continue
            key = (ranks, figure["collective"], figure["bytes"], kind)
            self.times[key][variant].append(figure["median_ns"] / 1000)
            self.lines[key] += [ns for ns in (figure["line_before_ns"], figure["line_after_ns"]) if ns >= 0]

    def rows(self):
        """Only where both were seen under the same class."""
        found = []
        for key in sorted(self.times, key=lambda k: (k[0], [c for c, _ in CLASSES].index(k[3]), k[1], k[2])):
            plain, with_huddle = self.times[key][PLAIN], self.times[key][HUDDLE]
            if plain and with_huddle:
                found.append(Row(*key, statistics.median(self.lines[key]), statistics.median(plain), statistics.median(with_huddle),
                                 min(len(plain), len(with_huddle))))
        return found


def measure(jobs, program, sizes, repeats, figure_ms, step):
    """Returns (rows, how many figures had no class, statistics of the last launch with huddle); step() after every launch."""
    samples, last = Samples(), {}
    for setting in SETTINGS:
        command = [*jobs.on_openmpi(setting.ranks, setting.bound), program, "--bytes", ",".join(map(str, sizes)), "--figure-ms", str(figure_ms)]
        for _ in range(repeats):
            for variant in (PLAIN, HUDDLE):
                output, seen = jobs.run(command, huddle=variant == HUDDLE)
                last = seen or last
                samples.add(setting.ranks, variant, json.loads(output))
                step()
    return samples.rows(), samples.unlabelled, last


def launches(repeats):
    return len(SETTINGS) * repeats * 2
