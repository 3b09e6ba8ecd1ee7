# SPDX-License-Identifier: BSD-3-Clause
"""
huddle simulate --alternate: before each call, one of another algorithm, from which the team's
window is taken over (src/alg/window.c).
"""

from ..common.collectives import find
from ..common.layout import Trouble
from ..common.text import bytes_text


class Alternate:
    """The calls between those that count: COLLECTIVE, or COLLECTIVE/ALGORITHM."""

    def __init__(self, said, rows, layout):
        collective, slash, self.name = said.partition("/")
        self.said, self.about = said, find(layout, collective, "simulate --alternate")
        known = [row["name"] for row in rows if row["collective"] == self.about.name]
        if slash and self.name not in known:
            raise Trouble(
                f"--alternate {said}: {self.about.name} has no such algorithm (accepted:"
                f" {', '.join(f'{self.about.name}/{name}' for name in known)})",
                2,
            )

    def forced(self):
        """As a setting."""
        return {f"HUDDLE_{self.about.name.upper()}": self.name} if self.name else {}

    def request(self, serves, why, size):
        """Its part of the simulator's request."""
        if not serves:
            raise Trouble(
                f"--alternate {self.said}: falls back to the MPI for {bytes_text(size)}: {why}", 1
            )
        return {
            "collective": self.about.name,
            "algorithm": serves["algorithm"],
            "parameters": serves["parameters"],
            "slot_bytes": serves["slot_bytes"],
            "shared": serves["shared"],
            "bytes": size if self.about.moves else 0,
        }


def apart(request):
    """The same calls, with a window for each of the two algorithms: nothing is handed over."""
    return {
        **request,
        "trace": False,
        "shared": False,
        "alternate": {**request["alternate"], "shared": False},
    }


def text(call, time_text):
    """A line about a call: what the handover has cost; None: there are no calls between."""
    other = call.get("alternate")
    if not other:
        return None
    one, name = (f"{c['collective']}/{c['algorithm']}" for c in (call, other))
    if not other["handover"]:
        return f"no handover    {one} and {name} do not share a window"
    without = call["without_handover_ns"]
    return (
        f"simulated handover from {name}: {time_text(call['times']['time_ns'] - without)} of this"
        f" time; {time_text(without)} if each had a window of its own"
    )


def note(calls):
    """A line about the calls of a table in which nothing is handed over; None: there are none."""
    none = [
        f"{bytes_text(call['bytes'])} {call['algorithm']}"
        for call in calls
        if call and call["alternate"] and not call["alternate"]["handover"]
    ]
    return f"no handover, since a window is not shared: {', '.join(none)}" if none else None
