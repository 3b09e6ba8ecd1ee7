# SPDX-License-Identifier: BSD-3-Clause
"""
What a wisdom file says, as a table that fits a screen: a row for each collective, shape of the team
and range of sizes with the same choice.
"""

from __future__ import annotations

import datetime
import statistics
from collections.abc import Callable, Iterable
from typing import Any

from ..common import wisdom, wisdom_place
from ..common.rules import Line
from ..common.sizes import written
from ..common.text import count_text, show_paragraph, table, us_text

HEADERS = ["collective", "ranks", "bytes", "choice", "time", "vs MPI", "vs first", "age"]
RIGHT = (4, 5, 6, 7)
SAME = 1.005  # a smaller ratio prints as 1.00
SCREEN = 40  # rows; with more, the ranges of sizes are not told apart
LEGEND = (
    "vs MPI: how many times as fast as the MPI's own collective; vs first: as the",
    "choice that huddle makes without measurements; -: not measured, or the same.",
    "A row of several sizes has geometric means.",
)


def shape_text(line: Line) -> str:
    """
    Formats a shape: '8 oversubscribed', '4 on 2 nodes'.  Adds nothing if all ranks are on one NUMA
    node.
    """
    words = [line.conditions.get("ranks", "any")]
    if "nodes" in line.conditions:
        words.append(f"on {line.conditions['nodes']} nodes")
    words += [name for name in ("oversubscribed", "divided") if line.conditions.get(name) == "yes"]
    return " ".join(words)


def name_text(line: Line) -> str:
    """Returns the collective, with the order of its reduction if the order matters."""
    order = line.conditions.get("reduction")
    return f"{line.name}, {order}" if order else line.name


def shape_of(line: Line) -> tuple[Any, ...]:
    """Returns all conditions but the sizes, sorted."""
    return tuple(sorted((k, v) for k, v in line.conditions.items() if k != "bytes"))


def cell_text(line: Line) -> str:
    """Formats what a line is about: 'bcast 32769-64K 2 ranks'."""
    return " ".join(filter(None, (line.name, bytes_text([line]), f"{shape_text(line)} ranks")))


def low_of(line: Line) -> int:
    found = wisdom.sizes(line)
    return found.low if found else 0


def order_of(collectives: list[str]) -> Callable[[Line], tuple[Any, ...]]:
    """Returns a key for sorting lines, in the library's order of collectives."""
    place = {name: i for i, name in enumerate(collectives)}

    def order(line: Line) -> tuple[Any, ...]:
        ranks = line.conditions.get("ranks", "")
        return (
            place.get(line.name, len(place)),
            line.conditions.get("reduction", ""),
            int(ranks) if ranks.isdecimal() else 0,
            shape_of(line),
            low_of(line),
        )

    return order


def ranges(
    cells: Iterable[Line], choice: Callable[[Line], str] = wisdom.choice_text
) -> list[list[Line]]:
    """Groups sorted cells of the same collective, shape and choice whose sizes have no gap."""
    groups: list[list[Line]] = []
    for line in cells:
        last = groups[-1][-1] if groups else None
        before = wisdom.sizes(last) if last else None
        here = wisdom.sizes(line)
        if (
            last
            and (last.name, shape_of(last), choice(last))
            == (line.name, shape_of(line), choice(line))
            and before
            and here
            and before.high is not None
            and before.high + 1 == here.low
        ):
            groups[-1].append(line)
        else:
            groups.append([line])
    return groups


def bytes_text(group: list[Line]) -> str:
    first, last = wisdom.sizes(group[0]), wisdom.sizes(group[-1])
    if not first or not last:
        return ""
    if last.high is None:
        return f"{written(first.low)}-"
    if first.low == last.high:
        return written(first.low)
    return f"{written(first.low)}-{written(last.high)}"


def time_text(group: list[Line]) -> str:
    """Formats the times of the smallest and of the largest size."""
    times = [us_text(wisdom.count(line, "ns")) for line in group if wisdom.count(line, "ns")]
    if not times:
        return ""
    return f"{times[0]} us" if len(times) == 1 else f"{times[0]} to {times[-1]} us"


def mean(ratios: list[float]) -> float | None:
    """Returns the geometric mean, or None of nothing."""
    return statistics.geometric_mean(ratios) if ratios else None


def of_mpi(line: Line) -> float | None:
    """
    Returns the time of the MPI's own collective divided by the time of the choice, or None if it
    was not measured.
    """
    ns, mpi_ns = wisdom.count(line, "ns"), wisdom.count(line, "mpi_ns")
    if line.algorithm == wisdom.HOST:
        return 1.0 if ns else None
    return mpi_ns / ns if ns and mpi_ns else None


def of_first(line: Line) -> float | None:
    """
    Returns the time of the first choice divided by the time of this choice, or None if they are the
    same or a time is missing.
    """
    ns, first = wisdom.count(line, "ns"), wisdom.timed(line.notes.get("before", ""))
    return first[1] / ns if ns and first and first[1] else None


def factors_text(ratios: Iterable[float | None]) -> str:
    """Formats the geometric mean of factors, or '-' if none is known."""
    found = mean([ratio for ratio in ratios if ratio])
    return f"{found:.2f}" if found else "-"


def days(line: Line, today: datetime.date) -> int | None:
    try:
        return max(0, (today - datetime.date.fromisoformat(line.notes["date"])).days)
    except (KeyError, ValueError):
        return None


def age_text(group: list[Line], today: datetime.date) -> str:
    """Formats the age of the oldest line in days."""
    found = [age for line in group if (age := days(line, today)) is not None]
    if not found:
        return "-"
    return "today" if max(found) == 0 else count_text(max(found), "day")


def row(
    group: list[Line], choice: Callable[[Line], str], today: datetime.date | None = None
) -> list[str]:
    return [
        name_text(group[0]),
        shape_text(group[0]),
        bytes_text(group),
        choice(group[0]),
        time_text(group),
        factors_text(map(of_mpi, group)),
        factors_text(map(of_first, group)),
        age_text(group, today or datetime.date.today()),
    ]


def rows(
    cells: list[Line],
    collectives: list[str],
    choice: Callable[[Line], str] = wisdom.choice_text,
    today: datetime.date | None = None,
) -> list[list[str]]:
    groups = ranges(sorted(cells, key=order_of(collectives)), choice)
    return [row(group, choice, today) for group in groups]


def algorithm(line: Line) -> str:
    return line.algorithm


def short_rows(
    cells: list[Line], collectives: list[str], today: datetime.date | None = None
) -> list[list[str]]:
    """
    Returns a row for each collective and shape, which names all algorithms in the order of sizes.
    """
    groups: dict[Any, list[Line]] = {}
    for line in sorted(cells, key=order_of(collectives)):
        groups.setdefault((line.name, shape_of(line)), []).append(line)
    found = [row(group, algorithm, today) for group in groups.values()]
    for cut, group in zip(found, groups.values()):
        cut[HEADERS.index("choice")] = ", ".join(dict.fromkeys(map(algorithm, group)))
    return found


def speed_text(ratio: float) -> str:
    """Formats how fast something is: '1.4 times as fast', 'as fast', '1.4 times as slow'."""
    times, word = (ratio, "fast") if ratio >= 1 else (1 / ratio, "slow")
    if times < SAME:
        return "as fast"
    return f"{times:.{2 if times < 1.1 else 1}f} times as {word}"


def summary(cells: list[Line]) -> str:
    """
    Formats a summary: '84 cases known; 31 changed: on average 1.9 times as fast as the first
    choice. ...'
    """
    changed = [ratio for line in cells if (ratio := of_first(line))]
    own = [line for line in cells if line.algorithm == wisdom.HOST]
    mpi = [ratio for line in cells if line not in own and (ratio := of_mpi(line))]
    words = [f"{count_text(len(cells), 'case')} known"]
    if changed:
        speed = speed_text(mean(changed) or 1)
        words[0] += f"; {len(changed)} changed: on average {speed} as the first choice"
    words[0] += "."
    if mpi:
        speed, cases = speed_text(mean(mpi) or 1), count_text(len(mpi), "case")
        words.append(f"In {cases} huddle is on average {speed} as the MPI's own collective.")
    if own:
        words.append(f"In {count_text(len(own), 'case')} the MPI's own is the fastest, and serves.")
    return " ".join(words)


def show_legend() -> None:
    for line in LEGEND:
        print(f"  {line}")


def show_unused(found: wisdom.Wisdom) -> None:
    """Prints the lines of a file that programs do not use, and why."""
    if found.older:
        line, why = found.older[0]
        print(
            f"  Not used: {count_text(len(found.older), 'case')}, such as {cell_text(line)}: {why}."
        )
    rest = len(found.others) - len(found.older)
    if rest:
        print(f"  Not used: {count_text(rest, 'line')} of another version of huddle.")
    if found.others:
        print("  Programs learn these cases again, and huddle tune does.")


def show_refusal(found: wisdom.Wisdom) -> None:
    """Prints why programs do not use a file, or add nothing to the file, and the remedy."""
    if found.not_used:
        print(f"  Programs refuse this file: {found.not_used}.")
    elif found.not_written:
        print(f"  Programs use this file, and add nothing to it: {found.not_written}.")
    if found.not_used or found.not_written:
        print(f"  {wisdom_place.remedy(found.path)}.")


def show(found: wisdom.Wisdom, collectives: list[str], details: bool = False) -> None:
    """Prints a file as a table.  details: show the parameters, which needs more rows."""
    about = wisdom.machine_text(found.machine)
    print(f"{found.mpi}{f', {about}' if about else ''}")
    show_paragraph(summary(found.last))
    lines = rows(found.last, collectives, wisdom.choice_text if details else algorithm)
    is_long = not details and len(lines) > SCREEN
    if is_long:
        lines = short_rows(found.last, collectives)
    table(HEADERS, lines, right=RIGHT)
    if is_long:
        print("  huddle wisdom show COLLECTIVE prints which algorithm serves which sizes.")
    if found.here:
        show_refusal(found)
    else:
        print(f"  FILE: {found.path}")
    show_unused(found)


def show_all(known: list[wisdom.Wisdom], collectives: list[str], details: bool = False) -> None:
    """Prints files as tables with an empty line between them."""
    for i, found in enumerate(known):
        print(end="\n" if i else "")
        show(found, collectives, details)
