# SPDX-License-Identifier: BSD-3-Clause
"""Computes the regret of a table of choices from the recorded times of this folder.

usage: build/venv/bin/python lab/evidence/regret.py [OPTIONS] [TABLE...]

A place is a series, a machine, a class of line transfer, a number of ranks and a size.  The regret
of a table at a place is the time of its choice over that of the fastest candidate measured there.
Prints the geometric mean and the worst by collective and by class of machine.  With several tables
(default: src/core/plan/builtin.rules), only places count at which the choices of all have times.

  --rules        prints the regret of each rule, and the algorithm that would have the least
  --cite         writes the note `evidence` of each rule: measured series with times of its
                 algorithm for calls that it serves, or else simulated ones
  --huddle FILE  the command, which lists the algorithms (default: build/bin/huddle)
"""

import argparse
import collections
import csv
import functools
import json
import math
import pathlib
import re
import subprocess
import sys
from statistics import geometric_mean as mean

import ranges
import series
import tomllib

sys.path.insert(0, str(series.ROOT))

from cli.common import rules

TABLE = series.ROOT / "src" / "core" / "plan" / "builtin.rules"
CELLS = [8, 16, 32, 64, 112, *(1 << bits for bits in range(7, 26))]  # classes of sizes (plan.h)
DIRECT = ("cma_read", "cma_write")  # algorithms that need access to other ranks' memory
KERNEL = ("cma", "piece", "tiled")  # parameters of parts that the kernel copies
UNSIZED = ("barrier", "alltoallv", "gatherv", "scatterv")  # no rank knows the bytes of all
NEAR_NS = 150  # below this line transfer the ranks share a cache
CITED = 3  # maximum number of series that a rule names
PRIOR = "prior"
FLAGS = {"yes": True, "no": False}
FACTS = ("oversubscribed", "direct", "quick", "divided")


class Library:
    """The algorithms that the library may choose.  None of the laboratory is among them."""

    huddle = series.ROOT / "build" / "bin" / "huddle"

    @staticmethod
    @functools.cache
    def algorithms():
        """Returns {(collective, name): {parameter: default}}."""
        text = (series.ROOT / "src/alg/alg.def").read_text(encoding="utf-8")
        product = set(re.findall(r"^ALG\((\w+), (\w+)\)", text, re.MULTILINE))
        done = subprocess.run(
            [Library.huddle, "info", "--json"], stdout=subprocess.PIPE, check=True
        )
        found = {}
        for about in json.loads(done.stdout)["algorithms"]:
            key = about["collective"], about["name"]
            if key in product:
                found[key] = {p["name"]: Library.default(p) for p in about["parameters"]}
        return found

    @staticmethod
    def default(parameter):
        words, value = parameter["words"], parameter["default"]
        return words[value - parameter["min"]] if words else series.written(value)


def canonical(collective, algorithm):
    """
    Returns the algorithm with its parameters that are not defaults, in order, or None if the
    algorithm is no candidate.
    """
    name, *words = algorithm.split()
    defaults = Library.algorithms().get((collective, name))
    given = dict(word.split("=") for word in words)
    if defaults is None or set(given) - set(defaults):
        return None
    changed = [f"{key}={value}" for key, value in given.items() if value != defaults[key]]
    return " ".join([name, *sorted(changed)])


def needs_kernel(algorithm):
    name, *words = algorithm.split()
    return name in DIRECT or any(word.partition("=")[0] in KERNEL for word in words)


# ---- places ----


@functools.cache
def machines():
    """Returns {name in a series, and stem of the file: topology} of the described machines."""
    found = {}
    for path in (series.ROOT / "lab/machines").rglob("*.toml"):
        about = tomllib.loads(path.read_text(encoding="utf-8"))
        found[about["name"]] = found[path.stem] = about["topology"]
    return found


@functools.cache
def slow():
    """Returns the machines whose kernel copies slowly: those of series with quick = false."""
    numbers = [number for number, about in series.load().items() if not about.get("quick", True)]
    return {line["machine"] for number in numbers for line in series.read(number)[1]}


def is_divided(machine, ranks, regime):
    """Reports whether a level of a described machine has the ranks in several units."""
    cores, smallest = 1, ranks
    for count in re.findall(r":(\d+)", re.sub(r"\(.*?\)", "", machines()[machine]))[::-1]:
        cores *= int(count)
        smallest = cores if 1 < cores < smallest else smallest
    return smallest < ranks or regime != series.MAPS["core"]


class Place:
    """The times of candidates for the same call."""

    def __init__(self, about, facts, group):
        self.about, self.group, self.facts = about, group, facts
        self.times = {}

    def add(self, algorithm, us):
        self.times.setdefault(algorithm, []).append(us)

    def without_kernel(self):
        """Returns the place as if the ranks could not reach each other's memory."""
        other = Place(self.about, {**self.facts, "direct": False, "quick": False}, self.group)
        other.times = {a: us for a, us in self.times.items() if not needs_kernel(a)}
        return other

    def settle(self):
        self.times = {name: mean(us) for name, us in self.times.items()}
        self.fastest = min(self.times.values(), default=0)

    def regret(self, algorithm):
        """Returns the regret of an algorithm, or None if it was not measured here."""
        if not self.facts["direct"]:
            words = algorithm.split()
            algorithm = " ".join(w for w in words if w.partition("=")[0] not in KERNEL)
        return self.times[algorithm] / self.fastest if algorithm in self.times else None


def group_of(row, divided):
    """Returns the class of machine of a line."""
    if row["kind"] == "simulated":
        return "simulated, divided" if divided else "simulated"
    maker = "EPYC" if "EPYC" in row["machine"] else "Xeon"
    if row["regime"] == "oversubscribed":
        return f"{maker}, oversubscribed"
    near = row["line_ns"] and series.span(row["line_ns"])[0] < NEAR_NS
    return f"{maker}, {'near' if near else 'far' if row['line_ns'] else 'line not known'}"


def rows():
    """Yields (series, line) of all recorded times."""
    for number in series.load():
        yield from ((number, line) for line in series.read(number)[1])
    for line in csv.DictReader(
        line for line in ranges.RANGE.read_text(encoding="utf-8").splitlines() if line[0] != "#"
    ):
        yield "range", {"kind": "simulated", "line_ns": "", **line}


def places():
    """Returns all places at which several candidates have times."""
    found = {}
    for number, row in rows():
        algorithm = canonical(row["collective"], row["algorithm"])
        simulated = row["kind"] == "simulated"
        regimes = series.MAPS.values() if simulated else ("bound", "oversubscribed")
        if not algorithm or row["regime"] not in regimes or not row["ranks"].isdigit():
            continue
        ranks = int(row["ranks"])
        divided = simulated and is_divided(row["machine"], ranks, row["regime"])
        key = (number, row["machine"], group_of(row, divided), row["regime"], row["ranks"])
        key += (row["collective"], row["bytes"], row.get("gap"), row.get("serve"))
        if key not in found:
            facts = {"oversubscribed": row["regime"] == "oversubscribed", "divided": divided}
            facts |= {"direct": True, "quick": row["machine"] not in slow(), "ranks": ranks}
            found[key] = Place(key, facts, key[2])
        found[key].add(algorithm, mean(series.span(row["us"])))
    every = [*found.values()]
    every += [p.without_kernel() for p in every if any(map(needs_kernel, p.times))]
    for place in every:
        place.settle()
    return [place for place in every if len(place.times) > 1]


# ---- tables ----


def ends(text, unit=int):
    first, dash, last = text.partition("-")
    return unit(first), unit(last) if last else math.inf if dash else unit(first)


class Rule:
    def __init__(self, line):
        self.line, conditions = line, line.conditions
        parameters = " ".join(f"{key}={value}" for key, value in line.params.items())
        self.algorithm = canonical(line.name, f"{line.algorithm} {parameters}")
        self.ranks = ends(conditions.get("ranks", "0-"))
        self.bytes = ends(conditions.get("bytes", "0-"), series.number_of)
        self.flags = {key: FLAGS[conditions[key]] for key in FACTS if key in conditions}
        if line.algorithm in DIRECT:
            self.flags["direct"] = True

    def serves(self, place):
        """Reports whether the rule matches the calls of a place."""
        collective, size = place.about[5:7]
        number = series.number_of(size)
        cell = next((cell for cell in CELLS if number <= cell), 1 << 60)
        return (
            self.line.name == collective
            and self.ranks[0] <= place.facts["ranks"] <= self.ranks[1]
            and (collective in UNSIZED or self.bytes[0] <= cell <= self.bytes[1])
            and all(place.facts[key] == value for key, value in self.flags.items())
        )


def read(path):
    return [Rule(line) for line in rules.rules_of(str(path))]


def choice(table, place):
    """Returns the rule that serves the calls of a place."""
    return next(rule for rule in table if rule.serves(place))


def regret_of(table, place):
    return place.regret(choice(table, place).algorithm)


# ---- what is printed ----


def describe(place):
    number, machine, group, regime, ranks, collective, size, *point = place.about
    where = f"{number}, {machine}, {group}" if number != "range" else f"{machine} {point}"
    kernel = "" if place.facts["direct"] else ", no kernel copies"
    return f"{collective} {size}, {ranks} ranks {regime}{kernel} ({where})"


def summary(tables, every):
    """Returns {name of a group: [(mean, worst, place of the worst) of each table]}, and the counts
    of places."""
    known = [(p, [regret_of(table, p) for table in tables]) for p in every]
    known = [(place, regrets) for place, regrets in known if None not in regrets]
    groups = collections.defaultdict(list)
    for place, regrets in known:
        for name in ("all", place.about[5], place.group):
            groups[name].append((place, regrets))
    found = {}
    for name, some in groups.items():
        found[name] = [
            (mean([r[i] for _, r in some]), *max((r[i], describe(p)) for p, r in some), len(some))
            for i in range(len(tables))
        ]
    return found, len(known)


def report(tables, every):
    found, known = summary(tables, every)
    print(f"{known} of {len(every)} places have times of the choices")
    for name, columns in found.items():
        for average, worst, where, count in columns:
            print(f"{name:24} {count:6} {average:6.3f} {worst:6.2f}  {where}")


def served(table, every):
    """Returns [(rule, its places)]."""
    by_rule = {id(rule): [] for rule in table}
    for place in every:
        by_rule[id(choice(table, place))].append(place)
    return [(rule, by_rule[id(rule)]) for rule in table]


def report_rules(table, every):
    for rule, some in served(table, every):
        print(rules.line_text(rule.line))
        regrets = [r for r in (place.regret(rule.algorithm) for place in some) if r]
        if regrets:
            print(
                f"    {mean(regrets):.3f}, worst {max(regrets):.2f}, {len(regrets)} places", end=""
            )
        names = {name for place in some for name in place.times}
        ranked = []
        for name in names:
            times = [r for r in (place.regret(name) for place in some) if r]
            if 2 * len(times) >= len(some):
                ranked.append((mean(times), max(times), len(times), name))
        for average, worst, count, name in sorted(ranked)[:2]:
            print(f"; {name}: {average:.3f}, {worst:.2f}, {count}", end="")
        print()


def cite(path, every):
    """Returns the text of a table with its notes `evidence`."""
    table, about = read(path), series.load()
    notes = {}
    for rule, some in served(table, every):
        counts = collections.Counter(
            p.about[0] for p in some if p.regret(rule.algorithm) and p.about[0] != "range"
        )
        measured = [n for n, _ in counts.most_common() if about[n]["kind"] == "measured"]
        some = measured or [n for n, _ in counts.most_common()]
        named = sorted(some[:CITED], key=lambda number: int(number[1:]))
        notes[rules.line_text(rule.line)] = ",".join(named) or PRIOR
    lines = rules.lines_in(path.read_text(encoding="utf-8"))
    for index, text in enumerate(lines):
        line = rules.parse(text)
        if line:
            note = {"evidence": notes[rules.line_text(line)]}
            lines[index] = rules.folded(line._replace(notes=note))
    return "\n".join(lines)


def main(words):
    parser = argparse.ArgumentParser(usage=__doc__.partition("usage: ")[2])
    parser.add_argument("tables", nargs="*", type=pathlib.Path)
    parser.add_argument("--rules", action="store_true")
    parser.add_argument("--cite", action="store_true")
    parser.add_argument("--huddle", default=Library.huddle)
    options = parser.parse_args(words)
    Library.huddle = options.huddle
    paths, every = options.tables or [TABLE], places()
    if options.cite:
        for path in paths:
            path.write_text(cite(path, every), encoding="utf-8")
    elif options.rules:
        for path in paths:
            report_rules(read(path), every)
    else:
        report([read(path) for path in paths], every)
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
