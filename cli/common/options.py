# SPDX-License-Identifier: BSD-3-Clause
"""
Values of options: what a command gets of its parser is a number that is one.  What is impossible is
one line: the option, the value, what is accepted; the status is 2.

What depends on more than the option (a machine's cores, an algorithm's parameters) a command checks
itself, with `within`.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable
from typing import Any

from . import validators
from .exit_status import BAD_USE
from .layout import CliError
from .sizes import number, written

MAX = (1 << 63) - 1  # maximum of a whole number, in JSON too
MAX_BYTES, MAX_SIZES = (1 << 31) - 1, 64
MAX_TEAM = 32767  # ranks of a team
MAX_STARTED = 1024  # ranks that a command starts by itself

# How ranks are bound: the values of --map, and their texts.
MAPS = {
    "core": "bound to cores in turn",
    "numa": "bound to NUMA nodes in turn",
    "socket": "bound to sockets in turn",
    "none": "unbound",
}


def whole(low: int = 0, high: int = MAX) -> Callable[..., Any]:
    """Makes the type of an option: a whole number from low to high."""

    def parse(text: str) -> int:
        found = int(text) if re.fullmatch(r"[+-]?[0-9]{1,19}", text) else None
        if found is None or not low <= found <= high:
            raise validators.argument(
                text,
                (
                    f"{low} to {high}"
                    if high < MAX
                    else f"a whole number of {low} or more, below 2^63"
                ),
            )
        return found

    return parse


def real(low: float, high: float) -> Callable[..., Any]:
    """Returns a parser of a finite number in a range."""

    def parse(text: str) -> float:
        try:
            found = float(text)
        except ValueError:
            found = math.nan
        if not low <= found <= high:
            raise validators.argument(text, f"a number from {low:g} to {high:g}")
        return found

    return parse


def span(low: int, high: int, factor: int) -> list[int]:
    """Returns low, low * factor, ... up to high."""
    found = [low]
    while found[-1] * factor <= high:
        found.append(max(1, found[-1]) * factor)
    return found


def sizes_of(text: str) -> list[int]:
    """Parses '8:4M', '8:4M:4', '8,1K,1M' or a mix into sizes in ascending order."""
    found = set()
    for part in text.split(","):
        low, colon, rest = part.partition(":")
        high, _, factor = rest.partition(":")
        step = number(factor) if factor else 2
        if colon and (step < 2 or number(low) > number(high)):
            raise validators.argument(part, "LOW:HIGH or LOW:HIGH:FACTOR", "not a range")
        found.update(span(number(low), number(high), step) if colon else [number(low)])
    if max(found) > MAX_BYTES or len(found) > MAX_SIZES:
        raise validators.argument(text, f"at most {MAX_SIZES} sizes, each below 2G")
    return sorted(found)


def within(option: str, value: int, low: int, high: int, show: Any = str) -> None:
    """Refuses a value outside low to high.  show: how to print it."""
    if not low <= value <= high:
        raise CliError(
            f"{option} {show(value)}: not possible (accepted: {show(low)} to {show(high)})", BAD_USE
        )


def bytes_within(option: str, value: int, low: int, high: int) -> None:
    within(option, value, low, high, written)
