# SPDX-License-Identifier: BSD-3-Clause
"""What rows of the built-in table rest on: the series of lab/evidence."""

from __future__ import annotations

import csv
import os
from collections.abc import Callable
from typing import Any

from ..common.layout import Layout
from .served import LEARNED

DATA = ".csv"
PRIOR = "prior"  # the note of a row without a series


def read(layout: Layout, number: str) -> dict[str, Any]:
    """
    Returns {"kind": "measured" or "simulated", "title", "data", "machines"} of a number like E7.  A
    value is None where the installation has no such series.
    """
    base = os.path.join(layout.evidence, number)
    found: dict[str, Any] = {"kind": None, "title": None, "data": None, "machines": None}
    if os.path.isfile(base + DATA):
        with open(base + DATA, encoding="utf-8") as file:
            lines = file.read().splitlines()
        found["data"] = base + DATA
        found["title"] = lines[0].partition(": ")[2].rstrip(".")
        rows = list(csv.DictReader(line for line in lines if not line.startswith("#")))
        found["kind"] = " and ".join(sorted({row["kind"] for row in rows})) or None
        found["machines"] = sorted({row["machine"] for row in rows})
    return found


def order(item: tuple[str, dict[str, Any]]) -> int:
    """Returns the key that sorts E7 before E12. item: an item of the result of of_pieces()."""
    return int(item[0][1:])


def numbers_of(why: dict[str, Any]) -> list[str]:
    """Returns the numbers of the series that a choice's rule names."""
    return [number for number in why.get("evidence", "").split() if number != PRIOR]


def of_pieces(layout: Layout, pieces: list[dict[str, Any]]) -> dict[str, dict[str, Any]]:
    """Returns {number: result of read()} for all numbers in the pieces of a choice."""
    numbers = {number for piece in pieces for number in numbers_of(piece["why"])}
    return dict(sorted(((n, read(layout, n)) for n in numbers), key=order))


def kinds_of(why: dict[str, Any], series: dict[str, dict[str, Any]]) -> dict[str, list[str]]:
    """Returns {"measured": [numbers], "simulated": [numbers]} of what a row rests on."""
    kinds: dict[str, Any] = {}
    for number in numbers_of(why):
        kinds.setdefault(series[number]["kind"] or "", []).append(number)
    return kinds


def short_text(why: dict[str, Any], series: dict[str, dict[str, Any]]) -> str:
    """Formats what a row rests on: 'E7 E12 simulated', or '' if there is no series."""
    return ", ".join(
        " ".join([*numbers, kind]).strip() for kind, numbers in kinds_of(why, series).items()
    )


def machines_text(numbers: list[str], series: dict[str, dict[str, Any]]) -> str:
    names = {name for number in numbers for name in series[number]["machines"] or ()}
    return " and ".join(sorted(names))


def long_text(why: dict[str, Any], series: dict[str, dict[str, Any]]) -> str:
    """
    Formats what a row rests on, with machines: 'E10: measured on AMD EPYC, 4 cores; E7: simulated'.
    """
    parts = []
    for kind, numbers in kinds_of(why, series).items():
        found = f"measured on {machines_text(numbers, series)}" if kind == "measured" else kind
        parts.append(": ".join(part for part in (" ".join(numbers), found) if part))
    nothing = "no series has times of such calls" if why["evidence"] == PRIOR else ""
    return "; ".join(parts) or nothing


def legend(series: dict[str, dict[str, Any]]) -> list[str]:
    """Returns lines with the machine of each measured series."""
    machines: dict[str, Any] = {}
    for number, about in series.items():
        if about["kind"] == "measured":
            machines.setdefault(machines_text([number], series), []).append(number)
    return [f"measured on {name}: {' '.join(numbers)}" for name, numbers in machines.items()]


def why_text(why: dict[str, Any], rests: str) -> str:
    """Formats why a row was chosen.  rests: what the row rests on, in words."""
    if why["by"] == LEARNED:
        return f"learned {why['text']}"
    line = f"{why['by']}, line {why['line']}" if "line" in why else why["by"]
    line = f"{line}, and the time model" if why.get("model") else line
    return f"{line} ({rests})" if rests else line


def why_texts(
    layout: Layout, pieces: list[dict[str, Any]], text: Callable[..., str] = short_text
) -> list[str]:
    """Returns why_text() of each piece."""
    series = of_pieces(layout, pieces)
    whys = [piece["why"] for piece in pieces]
    return [why_text(why, text(why, series) if "evidence" in why else "") for why in whys]


def file_of(why: dict[str, Any]) -> str | None:
    """Returns the tuning file of a choice, or None if the choice is not from a tuning file."""
    return why["file"] if why["by"] == "tuning file" else None
