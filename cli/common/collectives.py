# SPDX-License-Identifier: BSD-3-Clause
"""The collectives, as the library describes them."""

from __future__ import annotations

from typing import Any

from . import validators
from .exit_status import BAD_USE
from .layout import CliError, Layout

HELP = "a collective as named in 'huddle settings': bcast, allreduce, ... (default: bcast)"


class Collective:
    """A row of the library's topic "collectives": name, rooted, reduces, sized, moves, ..."""

    def __init__(self, row: dict[str, Any]) -> None:
        self.row, self.name = row, row["name"]

    def __getattr__(self, name: str) -> Any:
        try:
            return self.row[name]
        except KeyError:
            raise AttributeError(name) from None

    @property
    def unsized(self) -> str | None:
        """Returns why a size does not choose its algorithm, or None if it does."""
        if self.sized:
            return None
        return (
            f"each rank knows only its own bytes of {self.name}"
            if self.moves
            else f"a {self.name} has none"
        )


# The ranks whose entries the exit of a rank waits for: all ranks; the root; all ranks, but only at
# the root; the ranks before it.
ALL, ROOT, ALL_AT_ROOT, BEFORE = "all", "root", "all at root", "before"


def awaits(layout: Layout) -> dict[str, str]:
    """Returns {MPI name in lower case: the ranks whose entries the call awaits}."""
    rows = layout.ask("info", "collectives")
    return {name: row["awaits"] for row in rows for name in (row["name"], row["also"]) if name}


def known(layout: Layout) -> list[Collective]:
    """Returns all collectives in the library's order."""
    return [Collective(row) for row in layout.ask("info", "collectives")]


def find(layout: Layout, name: str, command: str) -> Collective:
    """Returns the collective with the name, or the collective that serves the named collective."""
    rows = known(layout)
    for row in rows:
        if name in (row.name, row.also):
            return row
    raise CliError(
        f"{command} {validators.shown(name)}: huddle has no such collective (accepted:"
        f" {', '.join(sorted(row.name for row in rows))})",
        BAD_USE,
    )
