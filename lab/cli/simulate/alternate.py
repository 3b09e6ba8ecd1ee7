# SPDX-License-Identifier: BSD-3-Clause
"""
huddle lab simulate --alternate: before each call, one of another algorithm, from which the team's
window is taken over (src/alg/window.c).
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

from cli.common.collectives import find
from cli.common.exit_status import BAD_USE, FAILED
from cli.common.layout import CliError, Layout
from cli.common.text import bytes_text


class Alternate:
    """The calls between the counted calls: COLLECTIVE, or COLLECTIVE/ALGORITHM."""

    def __init__(self, asked: str, rows: list[dict[str, Any]], layout: Layout) -> None:
        collective, slash, self.name = asked.partition("/")
        self.asked, self.about = asked, find(layout, collective, "simulate --alternate")
        known = [row["name"] for row in rows if row["collective"] == self.about.name]
        if slash and self.name not in known:
            raise CliError(
                f"--alternate {asked}: {self.about.name} has no such algorithm (accepted:"
                f" {', '.join(f'{self.about.name}/{name}' for name in known)})",
                BAD_USE,
            )

    def forced(self) -> dict[str, str]:
        """Returns the algorithm as a setting."""
        return {f"HUDDLE_{self.about.name.upper()}": self.name} if self.name else {}

    def request(self, serves: dict[str, Any], why: str, size: int) -> dict[str, Any]:
        """Returns its part of the simulator's request."""
        if not serves:
            raise CliError(
                f"--alternate {self.asked}: falls back to the MPI for {bytes_text(size)}: {why}",
                FAILED,
            )
        return {
            "collective": self.about.name,
            "algorithm": serves["algorithm"],
            "parameters": serves["parameters"],
            "slot_bytes": serves["slot_bytes"],
            "shared": serves["shared"],
            "bytes": size if self.about.moves else 0,
        }


def without_handover(request: dict[str, Any]) -> dict[str, Any]:
    """
    Returns the same calls with a separate window for each of the two algorithms, so that there is
    no handover.
    """
    return {
        **request,
        "trace": False,
        "shared": False,
        "alternate": {**request["alternate"], "shared": False},
    }


def text(call: dict[str, Any], time_text: Callable[..., Any]) -> str | None:
    """Returns a line about the cost of a call's handover, or None if there are no calls between."""
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


def note(calls: Iterable[Any]) -> str | None:
    """Returns a line about the table's calls without a handover, or None if there are none."""
    none = [
        f"{bytes_text(call['bytes'])} {call['algorithm']}"
        for call in calls
        if call and call["alternate"] and not call["alternate"]["handover"]
    ]
    return f"no handover, since a window is not shared: {', '.join(none)}" if none else None
