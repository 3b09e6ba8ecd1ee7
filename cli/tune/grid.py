# SPDX-License-Identifier: BSD-3-Clause
"""
What huddle tune measures: teams (how many ranks, where), collectives, sizes, and for each the
candidates.
"""

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


def weight(size):
    """The weight of a size's share of the time: data take time to make and to verify."""
    return 1 + 3 * max(0, (size >> 16).bit_length()) / 8
