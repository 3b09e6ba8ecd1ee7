# SPDX-License-Identifier: BSD-3-Clause
"""Tables: with rich if it is installed, otherwise aligned plain text."""

import sys

from .sizes import written


def bytes_text(count):
    """8 B, 64 KB, 4 MB; exact if possible."""
    for unit in ("B", "KB", "MB", "GB", "TB"):
        if count < 1024 or unit == "TB":
            return f"{count:.0f} {unit}" if count == int(count) else f"{count:.1f} {unit}"
        count /= 1024


def count_text(count, noun):
    """1 rank, 2 ranks, 2 processes."""
    ending = "" if count == 1 else "es" if noun.endswith("s") else "s"
    return f"{count} {noun}{ending}"


def ranges_text(numbers):
    """[0, 1, 2, 5] -> "0-2,5"."""
    runs = []
    for n in sorted(numbers):
        if runs and n == runs[-1][1] + 1:
            runs[-1][1] = n
        else:
            runs.append([n, n])
    return ",".join(str(a) if a == b else f"{a}-{b}" for a, b in runs)


def parameters_text(serves):
    pairs = serves["parameters"].items() if serves else ()
    return ", ".join(
        f"{name} {written(value) if isinstance(value, int) else value}" for name, value in pairs
    )


def heading(words):
    print(f"\n{words}")


def plain(headers, rows, right):
    widths = [max(len(line[i]) for line in [headers, *rows]) for i in range(len(headers))]
    for line in [headers, *rows]:
        cells = (
            c.rjust(w) if i in right else c.ljust(w) for i, (c, w) in enumerate(zip(line, widths))
        )
        print("  " + "  ".join(cells).rstrip())


def table(headers, rows, right=()):
    """Prints rows of strings under their headers; `right` are the columns of numbers."""
    rows = [[str(cell) for cell in row] for row in rows]
    try:
        if not sys.stdout.isatty():
            raise ImportError
        from rich.console import Console
        from rich.table import Table
    except ImportError:
        plain(headers, rows, right)
        return
    drawn = Table(box=None, header_style="bold", pad_edge=True)
    for i, name in enumerate(headers):
        drawn.add_column(name, justify="right" if i in right else "left", overflow="fold")
    for row in rows:
        drawn.add_row(*row)
    Console(markup=False, highlight=False).print(drawn)


def single_copy_text(facts):
    """Of the library's facts about ranks: what they know about each other's memory."""
    if not facts["direct"]:
        return "no single copy"
    return "quick single copy" if facts["quick"] else "slow single copy"
