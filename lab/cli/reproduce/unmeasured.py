# SPDX-License-Identifier: BSD-3-Clause
"""
The range of a simulated figure over what nobody has measured of its machine: each such number alone
at both ends (lab/docs/machines.md).
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from .rows import Row

THIRD = 1 / 3
ENDS = (  # keys of [lines] that change together, and what they are multiplied by
    (("gap_ns", "scan_gap_ns"), THIRD),
    (("gap_ns", "scan_gap_ns"), 3),
    (("serve_ns",), THIRD),
    (("serve_ns",), 3),
    (("home_busy_ns",), 0),
    (("home_busy_ns",), 5),
)
WORDS = """
* a third and three times `gap_ns` (with `scan_gap_ns`);
* a third and three times `serve_ns`;
* `revoke_ns` of 0: copies are revoked in no time;
* `home_busy_ns` of 0 and five times as long.

One of them changes at a time.
"""


def scaled(value: Any, factor: float) -> Any:
    if isinstance(value, dict):
        return {name: number * factor for name, number in value.items()}
    return value * factor


def with_lines(machine: dict[str, Any], **lines: Any) -> dict[str, Any]:
    return {**machine, "lines": {**machine["lines"], **lines}}


def revoked_at_once(machine: dict[str, Any]) -> dict[str, Any]:
    """
    Returns the machine with stores that do not wait until other copies of their line are revoked.
    """
    return with_lines(machine, revoke_ns=dict.fromkeys(machine["lines"]["transfer_ns"], 0))


def ends(machine: dict[str, Any]) -> list[dict[str, Any]]:
    """Returns the machine at each end of the unmeasured numbers."""
    lines = machine["lines"]
    found = [revoked_at_once(machine)]
    for keys, factor in ENDS:
        changed = {key: scaled(lines[key], factor) for key in keys if lines.get(key)}
        if changed:
            found.append(with_lines(machine, **changed))
    return found


def ranged(rows: Any, others: list[Any]) -> Iterator[Row]:
    """
    Yields the rows with their ranges.  `others` has a list of the same rows for each end.  Numbers
    have a lowest and a highest value, and texts all different values.  A row without a value at
    some end has no range.  A verdict proves nothing about the paper if it depends on an unmeasured
    number, so a row whose verdict differs at some end does not agree.
    """
    others = [list(at_end) for at_end in others]
    for i, row in enumerate(rows):
        at_ends = [at_end[i] for at_end in others]
        values = [row.here, *(end.here for end in at_ends)]
        verdicts = {row.agrees, *(end.agrees for end in at_ends)}
        if all(isinstance(value, (int, float)) for value in values):
            row = row._replace(low=min(values), high=max(values))
        elif all(isinstance(value, str) for value in values):
            row = row._replace(texts=tuple(dict.fromkeys(values)))
        if verdicts >= {True, False}:
            row = row._replace(agrees=False, partly=row.agrees)
        yield row
