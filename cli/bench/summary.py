# SPDX-License-Identifier: BSD-3-Clause
"""
What `huddle bench --summary` makes of figures: by collective and class of line transfer, how huddle
compares with the fastest other MPI, and with the same MPI alone.

A case is a size of a collective, in a setting and a class.  With several front ends of huddle the
slowest counts.  A case is compared only where all of them and all other MPIs have a figure in that
class: without the fastest MPI's huddle would seem too fast.
"""

from __future__ import annotations

import csv
import statistics
from collections import Counter, defaultdict, namedtuple
from collections.abc import Callable
from typing import Any

from ..common.exit_status import BAD_USE
from ..common.layout import CliError
from ..common.sizes import written
from ..common.text import count_text, gain_text
from ..common.transfers import ANY, CLASSES, class_of, usable
from .stats import BARE

SMALL, LARGE = 4 << 10, 16 << 10  # bytes up to which, and from which, ratios have a mean
CLEARLY = 1.05  # a ratio above it is no noise

# loop: calls back to back in a sample, 0: single ones.  root: "shift", or the rank.
Setting = namedtuple("Setting", "ranks bind loop root")
# host: the MPI of the slowest front end; peer: the fastest MPI; ratio: of their times, None: not
# compared.  own: MPI -> time with huddle by that without.  launches: the fewest of a variant.
Case = namedtuple(
    "Case", "setting collective bytes line host huddle_ns peer peer_ns ratio own launches"
)
# A collective in a class, or all of them.  mean, small, large: of ratios, None: there are none.
# worst: the Case with the largest ratio; own: the largest (ratio, MPI, bytes); None: there is none.
Line = namedtuple("Line", "collective line cases above clearly mean small large worst own")

# Columns of a file of figures.
WHOLE = ("ranks", "loop", "launch", "bytes", "shots", "late", "refused", "wrong")
NS = ("line_before", "line_after", "median", "p99", "min", "mean", "max", "cpu")


def setting_of(sample: dict[str, Any]) -> Setting:
    return Setting(sample["ranks"], sample["bind"], sample["loop"], sample["root"])


def order(case: Case) -> tuple[int, int]:
    lines = [*(name for name, _ in CLASSES), ANY]
    return case.bytes, lines.index(case.line)


def case_of(
    key: tuple[Setting, str, int, str],
    figures: dict[tuple[str, str], list[float]],
    everyone: set[tuple[str, str]],
) -> Case:
    """
    Returns the case.  `figures` is {(host, variant): ns of its launches}; `everyone` has all pairs
    that were measured for any size.
    """
    ns = {who: statistics.median(values) for who, values in figures.items()}
    hosts = {host: value for (host, _), value in ns.items() if host}
    peers = {name: value for (host, name), value in ns.items() if not host}
    own = {host: value / peers[host] for host, value in hosts.items() if host in peers}
    slowest, fastest = (
        max(hosts, key=hosts.__getitem__),
        min(peers, key=peers.__getitem__, default=None),
    )
    ratio = hosts[slowest] / peers[fastest] if fastest and set(ns) == everyone else None
    launches = min(map(len, figures.values()))
    return Case(
        *key, slowest, hosts[slowest], fastest, peers.get(fastest or ""), ratio, own, launches
    )


def cases_of(samples: list[dict[str, Any]]) -> list[Case]:
    """
    Returns the cases in which huddle has a figure, with settings and collectives in the order of
    measurement.
    """
    groups: defaultdict[Any, defaultdict[Any, list[float]]] = defaultdict(lambda: defaultdict(list))
    everyone: defaultdict[Any, set[Any]] = defaultdict(set)
    for sample in samples:
        if usable(sample) and not sample["wrong"] and sample["variant"] != BARE:
            what = setting_of(sample), sample["collective"]
            who = sample["host"], sample["variant"]
            key = (*what, sample["bytes"], class_of(sample))
            groups[key][who].append(sample["median_ns"])
            everyone[what].add(who)
    turns = {what: turn for turn, what in enumerate(everyone)}
    found = [
        case_of(key, figures, everyone[key[:2]])
        for key, figures in groups.items()
        if any(host for host, _ in figures)
    ]
    return sorted(found, key=lambda case: (turns[case[:2]], *order(case)))


def mean_of(cases: list[Case]) -> float | None:
    return statistics.geometric_mean([case.ratio for case in cases]) if cases else None


def line_of(collective: str, line: str, cases: list[Case]) -> Line:
    """Returns the line of all cases, including the cases that are not compared."""
    compared = [case for case in cases if case.ratio]
    own = [(ratio, mpi, case.bytes) for case in cases for mpi, ratio in case.own.items()]
    return Line(
        collective,
        line,
        len(compared),
        sum(case.ratio > 1 for case in compared),
        sum(case.ratio > CLEARLY for case in compared),
        mean_of(compared),
        mean_of([case for case in compared if case.bytes <= SMALL]),
        mean_of([case for case in compared if case.bytes >= LARGE]),
        max(compared, key=lambda case: case.ratio, default=None),
        max(own, default=None),
    )


def grouped(cases: list[Case], key: Callable[..., Any]) -> dict[Any, list[Case]]:
    groups: dict[Any, Any] = {}
    for case in cases:
        groups.setdefault(key(case), []).append(case)
    return groups


def lines_of(cases: list[Case]) -> list[Line]:
    """
    Returns the lines of a setting's cases: a line for each collective and class, then a line for
    all.
    """
    lines = [
        line_of(collective, line, some)
        for (collective, line), some in grouped(
            cases, lambda case: (case.collective, case.line)
        ).items()
    ]
    names = [*(name for name, _ in CLASSES), ANY]
    collectives = list(dict.fromkeys(case.collective for case in cases))
    # (of what is in no other class, only what is slower than without huddle is worth a line)
    lines = [line for line in lines if line.cases or (line.own and line.own[0] > 1)]
    lines.sort(key=lambda line: (collectives.index(line.collective), names.index(line.line)))
    return [*lines, line_of("all", "", cases)]


# ---- as text ----


def size_text(size: int) -> str:
    return f" {written(size)}" if size else ""


def setting_text(setting: Setting) -> str:
    many = {"core": "one core per rank", "shared": "more than cores", "none": "not bound"}[
        setting.bind
    ]
    calls = f"{setting.loop} calls back to back" if setting.loop else "single calls"
    roots = "roots in turn" if setting.root == "shift" else f"root {setting.root}"
    return f"{setting.ranks} ranks, {many}; {calls}, {roots}"


def mean_text(ratio: float | None) -> str:
    return "" if ratio is None else gain_text(ratio)


def slower_text(ratio: float, size: int, mpis: str) -> str:
    """Formats the slowest case: "1.20x 64K mpich5/ompi4".  Returns "" if it is not slower."""
    return f"{ratio:.{2 if ratio < 100 else 0}f}x{size_text(size)} {mpis}" if ratio > 1 else ""


def row_of(line: Line) -> list[str]:
    worst, own = line.worst, line.own
    return [
        line.collective,
        line.line,
        str(line.cases),
        str(line.above),
        str(line.clearly),
        mean_text(line.small),
        mean_text(line.large),
        slower_text(worst.ratio, worst.bytes, f"{worst.host}/{worst.peer}") if worst else "",
        slower_text(own[0], own[2], own[1]) if own else "",
    ]


HEADERS = (
    "",
    "line",
    "cases",
    "slower",
    f">{CLEARLY}x",
    "<=4K",
    ">=16K",
    "slower by: under/fastest",
    "same MPI, by",
)
RIGHT = (2, 3, 4)


def tables(cases: list[Case]) -> list[tuple[str, tuple[Any, ...], list[Any], tuple[int, ...]]]:
    """Returns [(title, headers, rows, right)], one for each setting."""
    return [
        (setting_text(setting), HEADERS, [row_of(line) for line in lines_of(some)], RIGHT)
        for setting, some in grouped(cases, lambda case: case.setting).items()
    ]


def total_lines(cases: list[Case]) -> list[str]:
    total = line_of("all", "", cases)
    sizes = grouped(cases, lambda case: (case.setting, case.collective, case.bytes))
    lone = sum(not any(case.ratio for case in some) for some in sizes.values())
    lines = [
        f"{count_text(total.cases, 'case')}, {total.above} slower,"
        f" {total.clearly} more than {CLEARLY}x slower"
    ]
    if total.cases:
        lines[0] += f"; {mean_text(total.mean)} in the geometric mean"
    if lone:
        lines.append(f"{lone} of {len(sizes)} sizes are not compared: no class has all MPIs")
    return lines


def slowest_text(cases: list[Case]) -> str:
    """
    Returns which of huddle's front ends was the slowest, and in how many cases, or "" if there is
    only one.
    """
    counts = Counter(case.host for case in cases)
    if len(counts) < 2:
        return ""
    shares = ", ".join(f"{host} in {count}" for host, count in counts.most_common())
    of = f"of {count_text(len(cases), 'case')}"
    return f"huddle's time is that of its slowest front end: {of}, {shares}"


def ns_text(samples: list[dict[str, Any]]) -> str:
    """Returns a text with the line transfer of each class."""
    found = defaultdict(list)
    for sample in samples:
        if usable(sample) and class_of(sample) != ANY and sample["line_before_ns"] >= 0:
            found[class_of(sample)].append(sample["line_before_ns"])
    return ", ".join(
        f"{name} {statistics.median(found[name]):.0f} ns" for name, _ in CLASSES if name in found
    )


def last_lines(cases: list[Case], samples: list[dict[str, Any]]) -> list[str]:
    """Returns the lines about all settings together."""
    unlabelled = sum(class_of(sample) is None for sample in samples)
    out = "left out: the line transfer was not measured, or changed its class meanwhile"
    ns, slowest = ns_text(samples), slowest_text(cases)
    return [
        *total_lines(cases),
        *([slowest] if slowest else []),
        *([f"a cache line crosses: {ns}"] if ns else []),
        *([f"{unlabelled} of {len(samples)} figures {out}"] if unlabelled else []),
    ]


# ---- figures of an earlier run ----


def read(path: str) -> list[dict[str, Any]]:
    """Reads the samples from a file that --csv has written."""
    try:
        with open(path, encoding="utf-8", newline="") as file:
            rows = list(reader := csv.DictReader(file))
        if "host" not in (reader.fieldnames or ()):
            raise KeyError("host")
        for row in rows:
            row.update({name: int(row[name]) for name in WHOLE})
            row.update({f"{name}_ns": float(row[f"{name}_ns"]) for name in NS})
    except (OSError, ValueError, KeyError) as error:
        raise CliError(
            f"--add {path}: not figures that huddle bench --csv wrote ({error})", BAD_USE
        ) from error
    return rows
