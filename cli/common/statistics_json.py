# SPDX-License-Identifier: BSD-3-Clause
"""The statistics of a job as JSON: what HUDDLE_STATS=json:FILE writes, and the times apart."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from .layout import CliError
from .totals import Row

if TYPE_CHECKING:
    from .totals import Totals

UNKNOWN_SHARE = 0.5  # share of a row's time; with more, its waiting is not known
MEMORY = (
    "arena_bytes",
    "leased_bytes",
    "leased_peak_bytes",
    "leases",
    "teams_refused",
    "pages_home",
    "pages_elsewhere",
)


def row_json(row: Row) -> dict[str, Any]:
    split = row.unsplit <= UNKNOWN_SHARE * row.seconds
    return {
        "calls": row.calls,
        "handled": row.handled,
        "passed": dict(row.passed.most_common()),
        "empty": row.empty,
        "bytes": row.bytes,
        "seconds": row.seconds,
        "waiting_seconds": row.waiting if split else None,
        "moving_seconds": row.seconds - row.waiting if split else None,
        "longest_seconds": row.max_seconds,
    }


def of(totals: Totals, status: int) -> dict[str, Any]:
    ranks, other = totals.ranks, totals.core.other()
    rows = {name: Row() for name in totals.core.names}
    rows.update(totals.by_collective())
    return {
        "mpi": ranks[0].mpi,
        "ranks": max(rank.world_size for rank in ranks),
        "ranks_seen": len(ranks),
        "finalized": sum(rank.finalized for rank in ranks),
        "status": status,
        "calls": totals.calls,
        "timed_calls": totals.timed,
        "collectives": {name: row_json(row) for name, row in rows.items()},
        "memory": {name: other[name] for name in MEMORY},
        "nodes": {"messages": other["messages"], "bytes": other["message_bytes"]},
        "learned": totals.core.learned(),
    }


def put(path: str, facts: dict[str, Any]) -> None:
    try:
        with open(path, "w", encoding="utf-8") as file:
            file.write(json.dumps(facts, indent=2) + "\n")
    except OSError as error:
        raise CliError(f"cannot write {path}: {error.strerror}") from error


def write(path: str, totals: Totals, status: int) -> None:
    put(path, of(totals, status))


def write_nothing(path: str, status: int) -> None:
    """Writes the statistics of a run without any MPI process."""
    put(path, {"mpi": None, "ranks": 0, "ranks_seen": 0, "status": status, "collectives": {}})
