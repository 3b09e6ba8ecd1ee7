# SPDX-License-Identifier: BSD-3-Clause
"""The figures of `huddle bench` as tables of text: (title, headers, rows, columns of numbers)."""

from __future__ import annotations

import statistics
from typing import TYPE_CHECKING, Any

from ..common.text import bytes_text, gain_interval_text, gain_text
from ..common.transfers import ANY
from .stats import BARE, BARRIERS, panels, summaries

if TYPE_CHECKING:
    from .stats import Cell, Ratio, Row

LARGE = 64 << 10  # bytes from which on copying dominates
PLACED = {"core": "one core per rank", "shared": "more than cores, not bound", "none": "not bound"}
MAX_COLUMNS = 12  # variants side by side; with more, one below the other


def us(ns: float) -> str:
    """Formats nanoseconds as microseconds: 0.21, 32.0, 1250.  Returns an empty text for None."""
    if ns is None:
        return ""
    value = ns / 1000
    return f"{value:.0f}" if value >= 100 else f"{value:.1f}" if value >= 10 else f"{value:.2f}"


def ratio_text(ratio: Ratio | None) -> str:
    return "" if ratio is None else gain_interval_text(ratio.value, ratio.low, ratio.high)


def line_text(ns: float) -> str:
    return "" if ns is None else f"{ns:.0f}"


def interval_text(cell: Cell) -> str:
    return "" if cell.low_ns is None else f"{us(cell.low_ns)} - {us(cell.high_ns)}"


def setting_text(ranks: int, bind: str, line: str, rows: list[Row]) -> str:
    if line == ANY:
        return f"{ranks} ranks, {PLACED[bind]}"
    lines = sorted(row.line_ns for row in rows)
    between = {
        "nearest": "threads of one core, or a small shared cache",
        "near": "one cache",
        "far": "two caches, or sockets",
    }[line]
    return (
        f"{ranks} ranks, {PLACED[bind]}; a cache line crosses"
        f" in {lines[len(lines) // 2]:.0f} ns ({line}: {between})"
    )


def variants_of(rows: list[Row]) -> list[str]:
    """Returns the variants of these rows in the order of their turns."""
    turns = {name: cell.turn for row in rows for name, cell in row.cells.items()}
    return sorted(turns, key=turns.__getitem__)


def best_of(row: Row) -> str | None:
    """Returns the fastest variant, except the bare one."""
    real = {name: cell.median_ns for name, cell in row.cells.items() if name != BARE}
    return min(real, key=real.__getitem__) if real else None


def ratio_to_bare(row: Row, name: str) -> float | None:
    """
    Returns a variant's time divided by the bare form's time, or None if either time is unknown.
    """
    return (
        row.cells[name].median_ns / row.cells[BARE].median_ns
        if BARE in row.cells and name in row.cells
        else None
    )


def side_by_side(rows: list[Row]) -> tuple[list[str], list[list[str]], tuple[int, ...]]:
    """
    Returns a line per size and a column per variant, with * at the fastest.  Adds the gain of
    huddle over the fastest other variant if huddle has a single variant.  Names this other variant
    if there are several.
    """
    variants = variants_of(rows)
    ours = [name for name in variants if any(name in row.ratios for row in rows)]
    compared = len(ours) == 1
    bare = compared and BARE in variants
    best = list(dict.fromkeys(row.best for row in rows if row.best))
    several = len(best) > 1
    body = []
    for row in rows:
        cells = [bytes_text(row.bytes)]
        cells += [
            (
                us(row.cells[name].median_ns)
                + ("*" if name == best_of(row) and len(variants) > 1 else "")
                if name in row.cells
                else ""
            )
            for name in variants
        ]
        cells += [row.best or ""] if several and compared else []
        cells += [ratio_text(row.ratios.get(ours[0]))] if compared else []
        ratio = ratio_to_bare(row, ours[0]) if bare else None
        body.append(cells + ([gain_text(ratio) if ratio else ""] if bare else []))
    headers = [
        "size",
        *variants,
        *(["fastest other"] if several and compared else []),
        *([f"{ours[0]} vs {'it' if several else (best or ['-'])[0]}"] if compared else []),
        *([f"{ours[0]} vs {BARE}"] if bare else []),
    ]
    return headers, body, tuple(range(1 + len(variants)))


def one_below_the_other(rows: list[Row]) -> tuple[list[str], list[list[str]], tuple[Any, ...]]:
    """Returns one line per size and variant with everything known about them."""
    timed = any(cell.cpu_ns for row in rows for cell in row.cells.values())
    body = []
    for row in rows:
        for name, cell in row.cells.items():
            body.append(
                [
                    bytes_text(row.bytes) if rows[0].collective not in BARRIERS else "",
                    name,
                    us(cell.median_ns),
                    interval_text(cell),
                    us(cell.p99_ns),
                    us(cell.min_ns),
                    us(cell.mean_ns),
                    us(cell.max_ns),
                    *([us(cell.cpu_ns)] if timed else []),
                    line_text(row.line_ns),
                    ratio_text(row.ratios.get(name)),
                    row.best if name in row.ratios else "",
                    str(cell.launches),
                ]
            )
    headers = [
        "size",
        "variant",
        "median",
        "95 %",
        "p99",
        "min",
        "avg",
        "max",
        *(["cpu"] if timed else []),
        "line ns",
        "gain",
        "over",
        "launches",
    ]
    return (
        headers,
        body,
        tuple(
            i for i, name in enumerate(headers) if name not in ("variant", "gain", "over", "95 %")
        ),
    )


def remark_of(rows: list[Row]) -> str:
    """Returns how to read the table of these rows."""
    variants = variants_of(rows)
    if len(variants) > 1:
        return ". Microseconds; * marks the fastest"
    alone = f". Microseconds; only {variants[0]} has a figure"
    return alone if rows[0].line != ANY else ". Microseconds"


def tables(
    rows: list[Row], details: bool = False
) -> list[tuple[str, list[str], list[Any], tuple[Any, ...]]]:
    """
    Returns [(title, headers, rows, right)]. Tables with a comparison come first, and tables of a
    class with a single variant last.
    """
    compared: list[Any] = []
    alone: list[Any] = []
    for (ranks, bind, line), mine in panels(rows):
        for collective in dict.fromkeys(row.collective for row in mine):
            some = [row for row in mine if row.collective == collective]
            wide = (
                not details
                and len({row.bytes for row in some}) > 1
                and len(variants_of(some)) <= MAX_COLUMNS
            )
            (compared if any(row.ratios for row in some) else alone).append(
                (
                    f"{collective}, {setting_text(ranks, bind, line, some)}{remark_of(some)}",
                    *(side_by_side if wide else one_below_the_other)(some),
                )
            )
    return compared + alone


def summary_lines(rows: list[Row]) -> list[Any]:
    best = {row.best for row in rows if row.best}
    whose = best.pop() if len(best) == 1 else "each size's best peer"
    return [
        f"{collective}, {ranks} ranks, {line}: {name} is {gain_text(mean)} than {whose}"
        f" (geometric mean of {sizes} sizes)"
        for ranks, _bind, collective, line, name, mean, sizes in summaries(rows)
    ]


def missing_lines(missing: list[Any]) -> list[Any]:
    return [f"not measured, because not found here: {', '.join(missing)}"] if missing else []


def bare_lines(rows: list[Row]) -> list[Any]:
    """
    Returns lines that compare huddle with the bare forms, for barriers and for large messages.
    """
    lines = []
    for (ranks, _bind, line), mine in panels(rows):
        for name in dict.fromkeys(
            name for row in mine for name in row.cells if name.startswith("huddle")
        ):
            ratios = [(row, ratio) for row in mine if (ratio := ratio_to_bare(row, name))]
            gains = [
                f"{gain_text(ratio)} with barriers"
                for row, ratio in ratios
                if row.collective == "barrier"
            ]
            large = [ratio for row, ratio in ratios if row.bytes >= LARGE]
            if large:
                mean = gain_text(statistics.geometric_mean(large))
                gains.append(
                    f"{mean} from {bytes_text(LARGE)} up (geometric mean; slowest:"
                    f" {gain_text(max(large))})"
                )
            if gains:
                lines.append(
                    f"{name}, {ranks} ranks, {line}, compared with the bare forms:"
                    f" {', '.join(gains)}"
                )
    return lines
