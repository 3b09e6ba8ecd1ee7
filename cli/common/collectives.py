# SPDX-License-Identifier: BSD-3-Clause
"""The collectives, as the library describes them."""

from . import refused
from .layout import Trouble

HELP = "as 'huddle settings' names them: bcast, allreduce, ... (default: bcast)"


class Collective:
    """A row of the library's topic "collectives": name, rooted, reduces, sized, moves, ..."""

    def __init__(self, row):
        self.row, self.name = row, row["name"]

    def __getattr__(self, name):
        try:
            return self.row[name]
        except KeyError:
            raise AttributeError(name) from None

    @property
    def unsized(self):
        """Why a size does not choose its algorithm; None: it does."""
        if self.sized:
            return None
        return (
            f"each rank knows only its own bytes of {self.name}"
            if self.moves
            else f"a {self.name} has none"
        )


# Whose entries the exit of a rank waits for: those of all ranks; of the root; of all ranks, but at
# the root only; of the ranks before it.
ALL, ROOT, ALL_AT_ROOT, BEFORE = "all", "root", "all at root", "before"


def awaits(layout):
    """{name in MPI, in lower case: whose entries it awaits}"""
    rows = layout.ask("info", "collectives")
    return {name: row["awaits"] for row in rows for name in (row["name"], row["also"]) if name}


def known(layout):
    """Every collective, in the library's order."""
    return [Collective(row) for row in layout.ask("info", "collectives")]


def find(layout, name, command):
    """The collective of that name, or the one that serves it."""
    rows = known(layout)
    for row in rows:
        if name in (row.name, row.also):
            return row
    raise Trouble(
        f"{command} {refused.shown(name)}: huddle has no such collective (accepted:"
        f" {', '.join(sorted(row.name for row in rows))})",
        2,
    )
