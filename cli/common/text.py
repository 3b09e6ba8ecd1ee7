# SPDX-License-Identifier: BSD-3-Clause
"""Tables and other texts: on a terminal drawn by rich, elsewhere in plain columns."""

from __future__ import annotations

import sys
import textwrap
from collections.abc import Container, Iterable, Sequence
from typing import Any

from .sizes import written

WIDTH = 80  # characters of a paragraph


def bytes_text(count: float) -> str:
    """Formats a number of bytes, exactly if possible: 8 B, 64 KB, 4 MB."""
    units = iter(("B", "KB", "MB", "GB", "TB"))
    unit = next(units)
    while count >= 1024 and unit != "TB":
        count, unit = count / 1024, next(units)
    return f"{count:.0f} {unit}" if count == int(count) else f"{count:.1f} {unit}"


def us_text(ns: float) -> str:
    """Formats nanoseconds as microseconds with three digits: 0.213, 32, 1250."""
    return f"{ns / 1000:.3g}" if ns < 1e6 else f"{ns / 1000:.0f}"


def count_text(count: int, noun: str) -> str:
    """Formats a number and its noun: 1 rank, 2 ranks, 2 processes."""
    ending = "" if count == 1 else "es" if noun.endswith(("s", "ch")) else "s"
    return f"{count} {noun}{ending}"


def gain_text(ratio: float) -> str:
    """Formats a ratio of times, new to old, as a gain: .5 is 2.00x faster, 2 is 2.00x slower."""
    return f"{1 / ratio:.2f}x faster" if ratio <= 1 else f"{ratio:.2f}x slower"


def gain_interval_text(value: float, low: float | None, high: float | None) -> str:
    """Formats the gain of a ratio with its interval.  low, high: None if there is no interval."""
    if low is None or high is None:
        return gain_text(value)
    return f"{gain_text(value)} ({gain_text(high)} to {gain_text(low)})"


def warn(*lines: str) -> None:
    for line in lines:
        print(f"huddle: {line}", file=sys.stderr)


def ranges_text(numbers: list[int]) -> str:
    """Formats numbers as ranges: [0, 1, 2, 5] -> "0-2,5"."""
    runs: list[list[int]] = []
    for n in sorted(numbers):
        if runs and n == runs[-1][1] + 1:
            runs[-1][1] = n
        else:
            runs.append([n, n])
    return ",".join(str(a) if a == b else f"{a}-{b}" for a, b in runs)


def parameter_text(name: str, value: int | str) -> str:
    """Formats a parameter: 'budget 128K', 'tree nested'."""
    text = str(value)
    return f"{name} {written(int(text)) if text.isdecimal() else text}"


def parameters_text(serves: dict[str, Any] | None) -> str:
    """
    Formats the parameters of a choice.  Leaves out parameters of 0, because the algorithm derives
    such values or does not need them.
    """
    pairs = serves["parameters"].items() if serves else ()
    return ", ".join(parameter_text(*pair) for pair in pairs if pair[1] != 0)


def wrapped(text: str) -> list[str]:
    """Returns the lines of a paragraph of WIDTH characters, further lines with an indentation."""
    return textwrap.wrap(
        text, WIDTH, initial_indent="  ", subsequent_indent="    ", break_on_hyphens=False
    )


def show_paragraph(text: str) -> None:
    print("\n".join(wrapped(text)))


def heading(words: str) -> None:
    print(f"\n{words}")


def plain(headers: Sequence[str], rows: list[list[str]], right: Container[int] = ()) -> None:
    widths = [max(len(line[i]) for line in [headers, *rows]) for i in range(len(headers))]
    for line in [headers, *rows]:
        cells = (
            c.rjust(w) if i in right else c.ljust(w) for i, (c, w) in enumerate(zip(line, widths))
        )
        print("  " + "  ".join(cells).rstrip())


def table(
    headers: Sequence[str], rows: Iterable[Sequence[object]], right: Container[int] = ()
) -> None:
    """Prints rows of strings under their headers; `right` are the columns of numbers."""
    lines = [[str(cell) for cell in row] for row in rows]
    if not sys.stdout.isatty():
        plain(headers, lines, right)
        return
    from rich.console import Console
    from rich.table import Table

    drawn = Table(box=None, header_style="bold", pad_edge=True)
    for i, name in enumerate(headers):
        drawn.add_column(name, justify="right" if i in right else "left", overflow="fold")
    for row in lines:
        drawn.add_row(*row)
    Console(markup=False, highlight=False).print(drawn)


def single_copy_text(facts: dict[str, Any]) -> str:
    """Returns whether the ranks can read each other's memory directly, as text."""
    if not facts["direct"]:
        return "no single copy"
    return "quick single copy" if facts["quick"] else "slow single copy"
