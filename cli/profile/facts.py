# SPDX-License-Identifier: BSD-3-Clause
"""
Computes the figures of a profile, as the dictionary that --json prints.  The table and the page are
formatted from the same dictionary.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from ..common import exit_report
from ..common.layout import Layout
from ..common.sizes import written
from ..common.statistics_json import row_json
from ..common.totals import Totals
from . import callers, estimate

if TYPE_CHECKING:
    from ..common.records import Rank
    from ..common.totals import Row


def class_text(number: int) -> str:
    """Formats the sizes of a class."""
    if number == 0:
        return "0"
    return written(1 << (number - 1)) + ("+" if number > 1 else "")


def row_of(row: Row) -> dict[str, Any]:
    figures = row_json(row)
    figures["fell_back"] = figures.pop("passed")
    return figures


def listed(rows: dict[Any, Row], name: Callable[..., Any]) -> list[dict[str, Any]]:
    """Returns rows in the order of their time."""
    pairs = sorted(rows.items(), key=lambda pair: -pair[1].seconds)
    return [{**name(key), **row_of(row)} for key, row in pairs]


def lateness(totals: Totals) -> list[dict[str, Any]]:
    rows = []
    for number, rank in enumerate(totals.ranks):
        late = totals.waits.lateness[number]
        rows.append(
            {
                "rank": rank.world_rank,
                "host": rank.host,
                "calls": late.calls,
                "last": late.last,
                "mean_late_seconds": late.late_ns * 1e-9 / max(1, late.calls),
                "caused_seconds": late.caused_ns * 1e-9,
                "waited_seconds": late.waited_ns * 1e-9,
                "in_collectives_seconds": sum(cell.all_ticks for cell in rank.cells)
                * rank.ns_per_tick
                * 1e-9,
                "observed_seconds": rank.span_ns * 1e-9,
            }
        )
    return rows


def sizes_of(totals: Totals) -> list[dict[str, Any]]:
    rows = totals.rows(lambda rank, cell: (cell.name, cell.size_class))
    return listed(
        rows, lambda key: {"collective": key[0], "class": key[1], "sizes": class_text(key[1])}
    )


def collect(
    ranks: list[Rank], layout: Layout, command: list[str], status: int, folder: str
) -> dict[str, Any]:
    """Returns the facts of a profile.  `folder` has the records."""
    totals = Totals(ranks, layout)
    called = callers.names(ranks)
    comms = totals.rows(lambda rank, cell: (cell.comm.label, cell.name))
    places = totals.rows(lambda rank, cell: (called[cell.caller], cell.name, cell.size_class))
    collectives = totals.by_collective()
    return {
        "command": command,
        "status": status,
        "mpi": ranks[0].mpi,
        "huddle": bool(totals.core.ranks),
        "ranks": max(rank.world_size for rank in ranks),
        "ranks_seen": len(ranks),
        "seconds": max(rank.span_ns for rank in ranks) * 1e-9,
        "threads": any(rank.threads for rank in ranks),
        "calls": totals.calls,
        "timed_calls": totals.timed,
        "matched_calls": totals.waits.matched,
        "collectives": listed(collectives, lambda name: {"collective": name}),
        "saving": estimate.collect(totals, layout, collectives),
        "communicators": listed(comms, lambda k: {"communicator": k[0], "collective": k[1]}),
        "callers": listed(
            places, lambda k: {"caller": k[0], "collective": k[1], "sizes": class_text(k[2])}
        ),
        "sizes": sizes_of(totals),
        "lateness": lateness(totals),
        "notes": exit_report.lines(ranks, command, folder),
    }
