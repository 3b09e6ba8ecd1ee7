# SPDX-License-Identifier: BSD-3-Clause
"""
What may serve a collective: an algorithm with values of its parameters, and which of them are worth
trying at a size.
"""

from __future__ import annotations

import itertools
from collections import namedtuple
from typing import Any

from cli.common.layout import Layout
from cli.common.sizes import number

# An algorithm, and its parameters that differ from their presets.  bytes: None for a parameter that
# is not a size.
Candidate = namedtuple("Candidate", "collective algorithm values")
Value = namedtuple("Value", "name word bytes")


def values(parameter: dict[str, Any], ranks: int) -> list[Value | None]:
    """
    Returns the default (None) and the values worth trying.  Between two ranks only sizes can make a
    difference.
    """
    if ranks == 2 and parameter["unit"] != "B":
        return [None]
    words = [word for word in parameter["tune"].split(",") if word]
    return [
        None,
        *(
            Value(parameter["name"], word, number(word) if parameter["unit"] == "B" else None)
            for word in words
        ),
    ]


def candidates_of(
    layout: Layout, collective: str, ranks: int, baselines: bool = False
) -> list[Candidate]:
    """Returns all combinations, except of parameters that have no effect alone."""
    found = []
    for algorithm in layout.ask("info", "algorithms"):
        if algorithm["collective"] == collective and (baselines or not algorithm["baseline"]):
            for chosen in itertools.product(
                *(
                    values(parameter, ranks)
                    for parameter in algorithm["parameters"]
                    if not parameter["tune_with"]
                )
            ):
                found.append(
                    Candidate(
                        collective, algorithm["name"], tuple(value for value in chosen if value)
                    )
                )
    return found


def differs(candidate: Candidate, size: int, others: list[Candidate]) -> bool:
    """
    Returns whether a candidate differs from the others at a size.  Only the smallest of the values
    in bytes that the message does not reach is tried.
    """
    reached = {
        (v.name, v.bytes)
        for other in others
        if other.algorithm == candidate.algorithm
        for v in other.values
        if v.bytes is not None
    }
    return not any(
        v.name == name and size <= low < v.bytes
        for v in candidate.values
        if v.bytes is not None
        for name, low in reached
    )
