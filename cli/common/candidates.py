# SPDX-License-Identifier: BSD-3-Clause
"""
What may serve a collective: an algorithm with values of its parameters, and which of them are worth
trying at a size.
"""

import itertools
from collections import namedtuple

from .sizes import number

HOPELESS, HOPELESS_BYTES = 2, 1 << 16
# An algorithm, and its parameters that differ from their presets.  bytes: None for a parameter that
# is not a size.
Candidate = namedtuple("Candidate", "collective algorithm values")
Value = namedtuple("Value", "name word bytes")


def values(parameter, ranks):
    """
    The preset (None), and what is worth trying.  Between two ranks only sizes can make a
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


def candidates_of(layout, collective, ranks, baselines=False):
    """All combinations, but of parameters that do nothing alone."""
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


def differs(candidate, size, others, reach=None):
    """
    Of values in bytes that the message does not reach, only the smallest is tried.  A message
    reaches its size, or what reach has for a parameter's name.
    """
    reach = reach or {}
    reached = {
        (v.name, v.bytes)
        for other in others
        if other.algorithm == candidate.algorithm
        for v in other.values
        if v.bytes is not None
    }
    return not any(
        v.name == name and reach.get(name, size) <= low < v.bytes
        for v in candidate.values
        if v.bytes is not None
        for name, low in reached
    )


def worth_trying(options, size, before, figures):
    """
    Numbers (1, 2, ...) of the candidates to measure at a size.  From 64K on, what was half as fast
    as the best at the size before is left out.
    """
    numbers = [
        number for number, candidate in enumerate(options, 1) if differs(candidate, size, options)
    ]
    if not figures or before < HOPELESS_BYTES:
        return numbers
    best = min(figure.ns for figure in figures.values())
    hopeless = {label for label, figure in figures.items() if figure.ns > HOPELESS * best}
    new = [number for number in numbers if not differs(options[number - 1], before, options)]
    return [
        number
        for number in numbers
        if number in new
        or (
            settings_text(options[number - 1]) in figures
            and settings_text(options[number - 1]) not in hopeless
        )
    ]


def settings_text(candidate):
    """For bench-trials: one setting per line."""
    name = f"HUDDLE_{candidate.collective.upper()}"
    return "\n".join(
        [
            f"{name}={candidate.algorithm}",
            *(
                f"{name}_{candidate.algorithm.upper()}_{v.name.upper()}={v.word}"
                for v in candidate.values
            ),
        ]
    )
