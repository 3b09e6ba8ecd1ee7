# SPDX-License-Identifier: BSD-3-Clause
"""Makes the built-in table's choices from the evidence.

usage: build/venv/bin/python docs/evidence/table.py [OPTIONS]

Writes src/core/choose/builtin.toml: of each simulated row (table.toml) the candidate with the least
regret over the range of the machine's two assumed numbers, and `holds`.  Runs no simulation: the
times are in range.csv.  README.md has the rules.

  --check        writes nothing; fails where the table is not what it would write
  --report       prints regrets, and where measured times contradict a row; writes nothing
  --simulate     first simulates what range.csv lacks (--anew: all of it)
  --jobs N       commands at a time (default: 2)
  --huddle FILE  the command (default: build/bin/huddle)
"""

import argparse
import csv
import itertools
import pathlib
import re
import sys
import tempfile
import tomllib
from concurrent.futures import ThreadPoolExecutor, as_completed

import series

HERE, ROOT = series.HERE, series.ROOT
TABLE = ROOT / "src" / "core" / "choose" / "builtin.toml"
RANGE = HERE / "range.csv"
FACTORS = {"1/3": 1 / 3, "1": 1.0, "3": 3.0}  # of gap_ns, and of serve_ns
POINTS = list(itertools.product(FACTORS, FACTORS))
COLUMNS = "collective,ranks,regime,bytes,algorithm,gap,serve,us,machine".split(",")
NEAR_NS = 150  # a shorter line transfer: the ranks share a cache
TIE = 1.05  # times the least: as good
STAY = 1.15  # times the least worst regret: the row stays as it is
KEYS = (  # of a row that say which calls it serves, or what it rests on
    "ranks bytes oversubscribed direct quick intel divided within fallback evidence holds"
    " cheaper_than".split()
)


MATCHED = ("ranks", "bytes", "divided", "within", "quick")  # the same in a cell and in its row


def load_cells():
    with open(HERE / "table.toml", "rb") as file:
        return tomllib.load(file)["cell"]


# ---- the data ----


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
    text = (ROOT / "machines" / f"{machine}.toml").read_text(encoding="utf-8")
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


# ---- what a cell's row should be ----


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


def blocks_of(text):
    """The table's rows as text, comments between them included."""
    return text.split("\n\n")


def row_of(block):
    """(collective, keys) of a block, or None."""
    table = tomllib.loads(block)
    return next(((name, rows[0]) for name, rows in table.items()), None)


def algorithm_of(row):
    """'tree tree=nested fragment=4K' as in the data."""
    parameters = [f"{key}={value}" for key, value in row.items() if key not in (*KEYS, "algorithm")]
    return " ".join([row["algorithm"], *parameters])


def is_row_of(cell, block):
    found = row_of(block)
    if not found or found[0] != cell["collective"]:
        return False
    row = found[1]
    same = all(row.get(key) == cell.get(key) for key in MATCHED)
    return same and not any(row.get(key) for key in ("fallback", "oversubscribed", "intel"))


def line_of(key, value):
    return f"{key} = {value}" if str(value).isdigit() else f'{key} = "{value}"'


def rewritten(block, algorithm, holds):
    """The block with that algorithm."""
    name, *parameters = algorithm.split()
    kept = [line for line in block.split("\n") if line.split(" = ")[0] in KEYS or line[:1] in "[#"]
    head = [line for line in kept if not line.startswith(("evidence", "holds"))]
    same = same_algorithm(algorithm_of(row_of(block)[1]), algorithm)  # what its series speak of
    evidence = [line for line in kept if same and line.startswith("evidence")]
    pairs = [parameter.split("=") for parameter in parameters]
    own = [line_of("algorithm", name), *(line_of(key, value) for key, value in pairs)]
    return "\n".join([*head, *own, *evidence, line_of("holds", holds)])


def same_algorithm(one, other):
    return sorted(one.split()) == sorted(other.split())


def present_of(cell, row):
    """The row's algorithm, as the cell names it."""
    text = algorithm_of(row)
    return next((name for name in cell["candidates"] if same_algorithm(name, text)), text)


def decide(cells, data, blocks):
    """[(cell, index of its block, present algorithm, the pick, verdict)]"""
    found = []
    for cell in cells:
        indices = [i for i, block in enumerate(blocks) if is_row_of(cell, block)]
        about = " ".join(str(cell.get(key, "")) for key in ("collective", "ranks", "bytes"))
        if len(indices) != 1:
            raise SystemExit(f"table.py: {about}: {len(indices)} rows of the table")
        try:
            verdict = Verdict(cell, data)
        except KeyError as error:
            raise SystemExit(f"table.py: {about}: range.csv lacks {error}; --simulate") from error
        present = present_of(cell, row_of(blocks[indices[0]])[1])
        found.append((cell, indices[0], present, verdict.pick(present), verdict))
    return found


def table_text(text, decided):
    blocks = blocks_of(text)
    end = "\n" if text.endswith("\n") else ""
    blocks[-1] = blocks[-1].rstrip("\n")
    simulated = {index for _, index, *_ in decided}
    for index, block in enumerate(blocks):  # no cell, no `holds`
        if index not in simulated:
            blocks[index] = re.sub(r"\nholds = .*", "", block)
    for _, index, _, pick, verdict in decided:
        blocks[index] = rewritten(blocks[index], pick, verdict.holds(pick))
    return "\n\n".join(blocks) + end


# ---- measured rows ----


def ends(text, unit=int):
    least, dash, most = text.partition("-")
    return unit(least), unit(most) if most else float("inf") if dash else unit(least)


def serves(row, data):
    """Whether a row of the table serves what a line of a series measured."""
    low, high = ends(row.get("ranks", "1-"))
    least, most = ends(row.get("bytes", "0-"), series.number_of)
    regime = {True: "oversubscribed", False: "bound"}.get(row.get("oversubscribed"))
    return (
        data["ranks"].isdigit()
        and low <= int(data["ranks"]) <= high
        and least <= series.number_of(data["bytes"]) <= most
        and regime in (None, data["regime"])
        and row.get("intel") in (None, "Intel" in data["machine"])
        and not row.get("divided")  # nobody has measured such ranks
    )


def apart(line_ns):
    """Only times of one class are compared: a line transfer may take 40 ns, or 210."""
    return ("near" if series.span(line_ns)[0] < NEAR_NS else "far") if line_ns else "not known"


def contradictions(collective, row):
    """(where, us of the row, us of the fastest, that one) of measured times that are longer."""
    for number in row.get("evidence", "").split():
        places = {}
        for line in series.read(number)[1]:
            if line["kind"] == "measured" and line["collective"] == collective:
                if serves(row, line):
                    team = (line["machine"], apart(line["line_ns"]), line["ranks"], line["regime"])
                    where = (number, *team, line["bytes"])
                    times = places.setdefault(where, {})
                    times[line["algorithm"]] = series.span(line["us"])
        for where, times in places.items():
            own = next((n for n in times if same_algorithm(n, algorithm_of(row))), None)
            fastest = min(times, key=lambda name: times[name][1])
            if own and times[own][0] > TIE * times[fastest][1]:
                yield where, times[own][0], times[fastest][1], fastest


def report(decided, blocks):
    for cell, _, present, pick, verdict in decided:
        about = [cell["collective"], *(f"{key}={cell[key]}" for key in MATCHED if key in cell)]
        said = f"{present}: {verdict.holds(present)}" if present in verdict.regret else present
        said += f" -> {pick}: {verdict.holds(pick)}" if pick != present else ""
        print(f"{' '.join(about)}: {said}")
    for block in blocks:
        collective, row = row_of(block) or (None, {})
        for where, us, least, fastest in contradictions(collective, row):
            print(
                f"{', '.join(where)}: {collective} {algorithm_of(row)} {us:g} us,"
                f" {fastest} {least:g} us"
            )


def options_of(words):
    parser = argparse.ArgumentParser(usage=__doc__.partition("usage: ")[2])
    for name in ("check", "report", "simulate", "anew"):
        parser.add_argument(f"--{name}", action="store_true")
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--huddle", default=str(ROOT / "build" / "bin" / "huddle"))
    return parser.parse_args(words)


def main(words):
    options, cells = options_of(words), load_cells()
    if options.simulate or options.anew:
        fill(cells, options)
    text = TABLE.read_text(encoding="utf-8")
    decided = decide(cells, read_range(), blocks_of(text))
    new = table_text(text, decided)
    if options.report:
        report(decided, blocks_of(text))
    elif options.check and new != text:
        raise SystemExit(f"table.py: {TABLE.name} is not what table.py writes")
    elif not options.check:
        TABLE.write_text(new, encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
