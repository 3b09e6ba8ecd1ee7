# SPDX-License-Identifier: BSD-3-Clause
"""What huddle tune measures: teams (how many ranks, where), collectives, sizes, and for each the candidates."""
import itertools
import os
from collections import namedtuple

from .sizes import number

MAX_RANKS = 1024
HOPELESS, HOPELESS_BYTES = 2, 1 << 16
SIZES = [8 << k for k in range(22)]  # 8 B to 16 MB

# bind: "core", in turn; "none" where ranks outnumber cores.  within: the lowest level of the machine that holds them all; "" where it does not matter.
Team = namedtuple("Team", "ranks bind oversubscribed within")
# An algorithm, and its parameters where they differ from their presets.  bytes: None of a parameter that is no size.
Candidate = namedtuple("Candidate", "collective algorithm values")
Value = namedtuple("Value", "name word bytes")


def cores(layout):
    return max(1, min(layout.ask("info", "machine")["cores"], len(os.sched_getaffinity(0))))


def usual_ranks(count):
    """2, 4, 8, ... and all cores; then one number that is too many for them."""
    ranks = [2 << k for k in range(count.bit_length()) if 2 << k <= count]
    crowd = 4 * count if count <= 16 else 2 * count
    return sorted({*ranks, *([count] if count > 1 else []), min(MAX_RANKS, crowd)})


def team(layout, ranks, count):
    if ranks > count:
        return Team(ranks, "none", True, "")
    if not layout.ask("info", "machine")["levels"]:
        return Team(ranks, "core", False, "")
    member = layout.ask("team", "--ranks", str(ranks), "--bind", "core", HUDDLE_TUNING="off")["members"][0]["team"]
    return Team(ranks, "core", False, member.get("within", ""))


def values(parameter, ranks):
    """The preset (None), and what is worth trying.  Between two ranks only sizes can make a difference."""
    if ranks == 2 and parameter["unit"] != "B":
        return [None]
    words = [word for word in parameter["tune"].split(",") if word]
    return [None, *(Value(parameter["name"], word, number(word) if parameter["unit"] == "B" else None) for word in words)]


def candidates(layout, collective, ranks, baselines=False):
    found = []
    for algorithm in layout.ask("info", "algorithms"):
        if algorithm["collective"] == collective and (baselines or not algorithm["baseline"]):
            for chosen in itertools.product(*(values(parameter, ranks) for parameter in algorithm["parameters"])):
                found.append(Candidate(collective, algorithm["name"], tuple(value for value in chosen if value)))
    return found


def differs(candidate, size, others):
    """Of values in bytes that no message of this size reaches, the least stands for all."""
    reached = {(v.name, v.bytes) for other in others if other.algorithm == candidate.algorithm for v in other.values if v.bytes is not None}
    return not any(v.name == name and size <= least < v.bytes for v in candidate.values if v.bytes is not None for name, least in reached)


def worth_trying(options, size, before, figures):
    """Numbers (1, 2, ...) of the candidates to measure at a size.  From 64K on, what was half as fast as the best at the size before is left out."""
    numbers = [number for number, candidate in enumerate(options, 1) if differs(candidate, size, options)]
    if not figures or before < HOPELESS_BYTES:
        return numbers
    best = min(figure.ns for figure in figures.values())
    hopeless = {label for label, figure in figures.items() if figure.ns > HOPELESS * best}
    new = [number for number in numbers if not differs(options[number - 1], before, options)]
    return [number for number in numbers if number in new or (settings(options[number - 1]) in figures and settings(options[number - 1]) not in hopeless)]


def settings(candidate):
    """As bench-trials wants it: a line each."""
    name = f"HUDDLE_{candidate.collective.upper()}"
    return "\n".join([f"{name}={candidate.algorithm}", *(f"{name}_{candidate.algorithm.upper()}_{v.name.upper()}={v.word}" for v in candidate.values)])


def weight(size):
    """Of a size's share of the time: data take time to make and to verify."""
    return 1 + 3 * max(0, (size >> 16).bit_length()) / 8
