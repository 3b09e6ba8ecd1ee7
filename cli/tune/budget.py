# SPDX-License-Identifier: BSD-3-Clause
"""
The time of a run: what was announced is a limit.  Each part of the work ends at its own moment, and
leaves what it did not need to the next.
"""

import time

# Parts of the time that measures, in order.
PARTS = (("screen", 0.48), ("contest", 0.28), ("together", 0.24))
AGAINST = 0.25  # part of the time for the other MPIs, where they are asked for
TAIL_S, TAIL_SHARE = 8, 0.15  # for files and the plot: seconds, but at most this part


class TimeUp(Exception):
    """A part of the work has used its time."""


class Budget:
    def __init__(self, seconds, against=False, now=time.monotonic):
        self.now, self.begin, self.seconds = now, now(), seconds
        work = seconds - min(TAIL_S, TAIL_SHARE * seconds)
        peers = AGAINST * work if against else 0
        self.ends, passed = {}, 0.0
        for name, share in PARTS:
            passed += share * (work - peers)
            self.ends[name] = self.begin + passed
        self.ends["peers"] = self.begin + work

    def left(self, part):
        """Seconds until that part ends; 0: it has ended."""
        return max(0.0, self.ends[part] - self.now())

    def reopen(self, part, following):
        """Half of what is left to the following part goes to one that has ended."""
        self.ends[part] = self.now() + self.left(following) / 2

    def used(self):
        """Of 1."""
        return min(1.0, (self.now() - self.begin) / self.seconds)

    def seconds_left(self):
        return self.begin + self.seconds - self.now()

    def left_text(self):
        return clock_text(self.seconds_left())


def clock_text(seconds):
    """75 -> "1:15"."""
    whole = max(0, round(seconds))
    return f"{whole // 60}:{whole % 60:02d}"
