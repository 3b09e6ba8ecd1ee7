# SPDX-License-Identifier: BSD-3-Clause
"""
Simulated rows: the times of their candidates over the range of a machine's two assumed numbers
(range.csv), and the regrets of these.
"""

import csv
import itertools
import pathlib
import re
import sys
import tempfile
import tomllib
from concurrent.futures import ThreadPoolExecutor, as_completed

import series
from rows import TIE

CELLS = series.HERE / "table.toml"
RANGE = series.HERE / "range.csv"
FACTORS = {"1/3": 1 / 3, "1": 1.0, "3": 3.0}  # of gap_ns, and of serve_ns
POINTS = list(itertools.product(FACTORS, FACTORS))
COLUMNS = "collective,ranks,regime,bytes,algorithm,gap,serve,us,machine".split(",")
STAY = 1.15  # times the least worst regret: the row stays as it is


def load_cells():
    with open(CELLS, "rb") as file:
        return tomllib.load(file)["cell"]


def read_range():
    """(collective, team, bytes, algorithm, gap, serve) -> us; team: (machine, ranks, regime)."""
    if not RANGE.exists():
        return {}
    lines = RANGE.read_text(encoding="utf-8").splitlines()
    rows = csv.DictReader(line for line in lines if not line.startswith("#"))
    return {
        (
            row["collective"],
            (row["machine"], int(row["ranks"]), row["regime"]),
            row["bytes"],
            row["algorithm"],
            row["gap"],
            row["serve"],
        ): float(row["us"])
        for row in rows
    }


def write_range(data):
    text = "# Times over a third to three times gap_ns and serve_ns of each machine.\n"
    text += f"# Simulated by: {series.PYTHON.replace('series.py', 'table.py')} --simulate\n"
    with open(RANGE, "w", encoding="utf-8", newline="") as file:
        file.write(text)
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow(COLUMNS)
        for (collective, team, size, algorithm, gap, serve), us in data.items():
            machine, ranks, regime = team
            row = [collective, ranks, regime, size, algorithm, gap, serve, f"{us:.4g}", machine]
            writer.writerow(row)


def team_of(text):
    """'xeon-8358 --ranks 32' -> (machine, ranks, regime)"""
    words = text.split()
    regime = series.MAPS[series.option(words, "--map", "core")]
    return words[0], int(series.option(words, "--ranks")), regime


def sizes_of(cell):
    return cell.get("sizes", "0").split(",")


def keys_of(cell, point):
    """What the data needs for a cell at a point, as (team's text, algorithm) -> keys."""
    for text, algorithm in itertools.product(cell["teams"], cell["candidates"]):
        yield (text, algorithm), [
            (cell["collective"], team_of(text), size, algorithm, *point) for size in sizes_of(cell)
        ]


def described_at(folder, machine, point):
    return pathlib.Path(folder) / f"{machine}-{'-'.join(point).replace('/', '_')}.toml"


def describe(folder, machine, point):
    """Writes the machine's description with other numbers."""
    text = (series.ROOT / "machines" / f"{machine}.toml").read_text(encoding="utf-8")
    for key, factor in zip(("(?:scan_)?gap_ns", "serve_ns"), point):
        text, found = re.subn(
            rf"^({key}\.\w+ = )([0-9.]+)",
            lambda match, by=FACTORS[factor]: f"{match[1]}{float(match[2]) * by:.4g}",
            text,
            flags=re.MULTILINE,
        )
        if not found:
            raise SystemExit(f"table.py: {machine}: no {key}")
    described_at(folder, machine, point).write_text(text, encoding="utf-8")


def simulate(huddle, folder, job):
    (text, algorithm), point, keys = job
    machine, *rest = text.split()
    name, *parameters = algorithm.split()
    words = [
        *("huddle", "simulate", keys[0][0]),
        *("--machine", str(described_at(folder, machine, point)), *rest, "--algorithm", name),
        *(word for parameter in parameters for word in ("--param", parameter)),
    ]
    if keys[0][2] != "0":
        words += ["--bytes", ",".join(key[2] for key in keys)]
    answer = series.answer_of(huddle, " ".join(words))
    return dict(zip(keys, (call["times"]["time_ns"] / 1000 for call in answer["calls"])))


def fill(cells, options):
    """Simulates what is not there yet; what is done is kept when it is stopped."""
    data = {} if options.anew else read_range()
    wanted = {
        key: None for cell in cells for p in POINTS for _, keys in keys_of(cell, p) for key in keys
    }
    jobs = [
        (how, point, missing)
        for cell in cells
        for point in POINTS
        for how, keys in keys_of(cell, point)
        if (missing := [key for key in keys if key not in data])
    ]
    machines = {how[0].split()[0] for how, _, _ in jobs}
    with tempfile.TemporaryDirectory() as folder, ThreadPoolExecutor(options.jobs) as pool:
        for machine, point in itertools.product(machines, POINTS):
            describe(folder, machine, point)
        futures = [pool.submit(simulate, options.huddle, folder, job) for job in jobs]

        def keep():
            write_range({key: data[key] for key in wanted if key in data})

        try:
            for done, future in enumerate(as_completed(futures), 1):
                data.update(future.result())
                print(f"[{done}/{len(jobs)}]", end="\r", file=sys.stderr, flush=True)
                if done % 100 == 0:
                    keep()
        finally:
            pool.shutdown(cancel_futures=True)
            keep()


class Verdict:
    """Of each candidate: its greatest regret at each point, over all teams and sizes."""

    def __init__(self, cell, data):
        self.regret = {name: {} for name in cell["candidates"]}
        for point in POINTS:
            times = {}
            for (_, algorithm), keys in keys_of(cell, point):
                times[algorithm] = [data[key] for key in keys] + times.get(algorithm, [])
            least = [min(of_all) for of_all in zip(*times.values())]
            for algorithm, some in times.items():
                self.regret[algorithm][point] = max(a / b for a, b in zip(some, least))

    def worst(self, algorithm):
        return max(self.regret[algorithm].values())

    def best_points(self, algorithm):
        """At how many points nothing is clearly better, for no team and size."""
        return sum(regret <= TIE for regret in self.regret[algorithm].values())

    def pick(self, present):
        """The candidate with the least worst regret; the present one where it is about as good."""
        least = min(self.regret, key=self.worst)
        good = present in self.regret and self.worst(present) <= STAY * self.worst(least)
        return present if good else least

    def holds(self, algorithm):
        return f"{self.best_points(algorithm)}/{len(POINTS)} {self.worst(algorithm):.2f}"
