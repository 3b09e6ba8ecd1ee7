# SPDX-License-Identifier: BSD-3-Clause
"""How many minutes a run would have needed, by what it has measured in its own."""

import math

from .budget import AGAINST, PARTS, TAIL_SHARE

LAUNCH_S, SIZE_S = 1, 0.1  # of a launch and of a size in the first look, about: a guess
WORK = 60 * (1 - TAIL_SHARE)  # seconds of a minute


def text(minutes):
    """For --minutes: tenths below 1, whole ones above, rounded up."""
    return f"{math.ceil(10 * minutes) / 10:g}" if minutes < 1 else str(math.ceil(minutes))


def for_choices(minutes, sizes, missing, teams):
    """missing: of the sizes, those that were not measured.  Contests need more in any case."""
    if missing < sizes:
        return max(2 * minutes, minutes * sizes / (sizes - missing))
    first_look = LAUNCH_S * teams + SIZE_S * sizes
    return max(2 * minutes, first_look / (dict(PARTS)["screen"] * WORK))


def for_times(minutes, launches, launch_s):
    """Launches of other MPIs, and of huddle with them."""
    return max(2 * minutes, launches * launch_s / (AGAINST * WORK))
