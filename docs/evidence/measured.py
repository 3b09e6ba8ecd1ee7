# SPDX-License-Identifier: BSD-3-Clause
"""Measured rows: what the series that a row names say of its algorithm and of others."""

import functools
import json
import math
import subprocess

import series
from rows import TIE, algorithm_of, same_algorithm, series_of

NEAR_NS = 150  # a shorter line transfer: the ranks share a cache
KERNEL = {"single"}  # parameters from which size on the kernel copies
REGIMES = {True: "oversubscribed", False: "bound"}


def algorithms(huddle):
    """(collective, name) -> what the library tells of an algorithm."""
    try:
        done = subprocess.run([huddle, "info", "--json"], stdout=subprocess.PIPE, check=True)
    except FileNotFoundError:
        raise SystemExit(f"{huddle}: not there (./quickstart builds it)") from None
    return {(a["collective"], a["name"]): a for a in json.loads(done.stdout)["algorithms"]}


def ends(text, unit=int):
    first, dash, last = text.partition("-")
    return unit(first), unit(last) if last else float("inf") if dash else unit(first)


def serves(row, data):
    """Whether a row of the table serves what a line of a series measured."""
    low, high = ends(row.get("ranks", "1-"))
    start, end = ends(row.get("bytes", "0-"), series.number_of)
    return (
        data["ranks"].isdigit()
        and low <= int(data["ranks"]) <= high
        and start <= series.number_of(data["bytes"]) <= end
        and REGIMES.get(row.get("oversubscribed")) in (None, data["regime"])
        and row.get("intel") in (None, "Intel" in data["machine"])
        and not row.get("divided")  # nobody has measured such ranks
    )


@functools.cache
def lines_of(number):
    return series.read(number)[1]


def speaks(collective, row, number):
    """Whether a series has a line of calls that a row serves, on whatever machine."""
    asked = {key: value for key, value in row.items() if key not in ("divided", "intel")}
    return any(
        line["collective"] == collective and serves(asked, line) for line in lines_of(number)
    )


def tried(collective, row, number):
    """Whether a series has a line of a row's algorithm, of whatever calls and parameters."""
    return any(
        line["collective"] == collective and line["algorithm"].split()[0] == row["algorithm"]
        for line in lines_of(number)
    )


def apart(line_ns):
    """Only times of one class are compared: a line transfer may take 40 ns, or 210."""
    return ("near" if series.span(line_ns)[0] < NEAR_NS else "far") if line_ns else "not known"


class Source:
    """What rows are judged by: the library's algorithms, and the series with their facts."""

    def __init__(self, known, all_series):
        self.known, self.all_series = known, all_series

    def was_quick(self, number):
        """Whether the kernel copied quickly where a series was measured."""
        return self.all_series[number].get("quick", True)

    def may_have(self, collective, row, number, algorithm):
        """Whether the row may have what a series measured."""
        name, *parameters = algorithm.split()
        about = self.known.get((collective, name))
        keys = {parameter.partition("=")[0] for parameter in parameters}
        if not about or about["baseline"] or keys - {p["name"] for p in about["parameters"]}:
            return False
        if not about["direct"] and not keys & KERNEL:
            return True
        slow = row.get("quick") is False
        return row.get("direct") is not False and not (slow and self.was_quick(number))

    def measured(self, number):
        """Lines of a series whose machine is known: not those that were only transcribed."""
        head, lines = series.read(number)
        known = not any(line.startswith(f"# {series.TRANSCRIBED}") for line in head)
        return [line for line in lines if known and line["kind"] == "measured"]

    def places_of(self, collective, row):
        """
        (series, machine, class of line transfer, ranks, regime, bytes) -> algorithm -> us, of what
        the row serves; the row's algorithm has its name in the row.  Of several times the geometric
        mean: a series may have been measured on several numbers of processors.
        """
        places, own = {}, algorithm_of(row)
        for number in series_of(row):
            if row.get("quick") is True and not self.was_quick(number):
                continue
            for line in self.measured(number):
                name = own if same_algorithm(line["algorithm"], own) else line["algorithm"]
                if line["collective"] != collective or not serves(row, line):
                    continue
                if name == own or self.may_have(collective, row, number, name):
                    team = (line["machine"], apart(line["line_ns"]), line["ranks"], line["regime"])
                    times = places.setdefault((number, *team, line["bytes"]), {})
                    times.setdefault(name, []).append(sum(series.span(line["us"])) / 2)
        return {
            where: {name: mean(some) for name, some in times.items()}
            for where, times in places.items()
        }


def mean(values):
    return math.exp(sum(map(math.log, values)) / len(values))


class Verdict:
    """Of a row: the times at all places where its algorithm was measured."""

    def __init__(self, collective, row, source):
        self.own = algorithm_of(row)
        places = source.places_of(collective, row)
        self.places = {where: times for where, times in places.items() if self.own in times}
        regime = REGIMES.get(row.get("oversubscribed"))
        self.lacking = {regime} if regime else set(REGIMES.values())
        self.lacking -= {where[4] for where in self.places}

    def mean(self, algorithm):
        """Of an algorithm's times over the row's own, the geometric mean over all places."""
        return mean([times[algorithm] / times[self.own] for times in self.places.values()])

    def candidates(self):
        """What was measured wherever the row's own algorithm was."""
        every = [set(times) for times in self.places.values()]
        return set.intersection(*every) if every else set()

    def pick(self):
        """The fastest in the mean; the row's own where nothing is clearly faster."""
        best = min(sorted(self.candidates()), key=self.mean, default=self.own)
        return best if self.places and self.mean(best) < 1 / TIE else self.own

    def contradictions(self):
        """(where, us of the row, us of the fastest, that one), where another was clearly faster."""
        for where, times in self.places.items():
            fastest = min(times, key=times.get)
            if times[self.own] > TIE * times[fastest]:
                yield where, times[self.own], times[fastest], fastest
