# SPDX-License-Identifier: BSD-3-Clause
"""
What huddle tune measures: teams (how many ranks, where), collectives, sizes, and for each the
candidates.
"""

import math
import os
from collections import namedtuple

MAX_RANKS = 1024
SIZES = [8 << k for k in range(22)]  # 8 B to 16 MB

# bind: "core", in turn; "none" where ranks outnumber cores.  within: the lowest level of the
# machine that holds them all; "" where it does not matter.
Team = namedtuple("Team", "ranks bind oversubscribed within")


def cores(layout):
    return max(1, min(layout.ask("info", "machine")["cores"], len(os.sched_getaffinity(0))))


def usual_ranks(count):
    """2, 4, 8, ... and all cores; then one oversubscribed number."""
    ranks = [2 << k for k in range(count.bit_length()) if 2 << k <= count]
    crowd = 4 * count if count <= 16 else 2 * count
    return sorted({*ranks, *([count] if count > 1 else []), min(MAX_RANKS, crowd)})


def team(layout, ranks, count):
    if ranks > count:
        return Team(ranks, "none", True, "")
    if not layout.ask("info", "machine")["levels"]:
        return Team(ranks, "core", False, "")
    member = layout.ask("team", "--ranks", str(ranks), "--bind", "core", HUDDLE_TUNING="off")[
        "members"
    ][0]["team"]
    return Team(ranks, "core", False, member.get("within", ""))


TOTAL_BYTES = 64 << 20  # of all ranks' buffers at the largest size: more takes the time of many
UNIT_BYTES = 64 << 10  # of a rank: from here on the bytes of a shot take longer than the rest


def bytes_of_rank(team, size, per_pair):
    return size * (team.ranks if per_pair else 1)


def sizes(team, collective, every=1):
    """In order; [0]: it has none.  The largest stands for all beyond."""
    if not collective.moves:
        return [0]
    fit = [
        size
        for size in SIZES
        if team.ranks * bytes_of_rank(team, size, collective.blocks) <= TOTAL_BYTES
    ]
    return fit[::every]


def coarse_first(some):
    """Every fourth, then those between, then the rest: what is left out is spread evenly."""
    rank = {size: 0 if i % 4 == 0 else 1 if i % 2 == 0 else 2 for i, size in enumerate(some)}
    return sorted(some, key=lambda size: (rank[size], size))


def weight(team, size, per_pair, cores):
    """
    Of a cell's part of the time.  It grows less than a shot's time: large sizes need few shots, and
    on a busy machine small ones take as long.
    """
    turns = max(1, team.ranks / cores) ** 0.5
    return turns * (1 + math.log2(1 + bytes_of_rank(team, size, per_pair) / UNIT_BYTES))
