# SPDX-License-Identifier: BSD-3-Clause
"""
Joins several runs of the micro-measurements of huddle lab machine, and finds figures that are
not reliable.
"""

from __future__ import annotations

import itertools
from typing import Any

from cli.common.stability import AGREE, settled

DIFFERENCES = (
    "revoke_ns",
    "revoke_each_ns",
    "home_ns",
    "enter_ns",
    "data_ns",
    "reduce_ns",
)  # differences of two times: small, and either time may be wrong
RATIO = 1.15  # largest ratio of two runs that agree
SLACK_NS, SLACK_OF_DIFFERENCES_NS = 1, 10


def name_of(number: dict[str, Any]) -> str:
    return f"{number['table']}.{number['key']}"


def slack_of(key: str) -> int:
    return (
        SLACK_OF_DIFFERENCES_NS if key.startswith(DIFFERENCES) else SLACK_NS if "_ns" in key else 0
    )


def is_measured(number: dict[str, Any]) -> bool:
    return number["note"].startswith("measured")


def by_name(runs: list[list[dict[str, Any]]]) -> dict[str, list[dict[str, Any]]]:
    """
    Returns {name: its numbers in all runs}.  The names are in the order of the runs, which list the
    classes of a table from near to far.
    """
    names: list[str] = []
    found: dict[Any, Any] = {}
    for run in runs:
        at = 0
        for number in run:
            name = name_of(number)
            if name not in found:
                names.insert(at, name)
            at = names.index(name) + 1
            found.setdefault(name, []).append(number)
    return {name: found[name] for name in names}


def joined(
    runs: list[list[dict[str, Any]]],
) -> tuple[list[dict[str, Any]], dict[str, tuple[float, float]]]:
    """
    Returns the joint numbers of all runs, and {name: (low, high)} of the numbers that did not
    agree.  Leaves out a number found by a single run of several.  Keeps the assumption of a run if
    fewer than two runs measured the number.
    """
    numbers, unsteady = [], {}
    for some in by_name(runs).values():
        if len(runs) > 1 and len(some) < 2:
            continue
        measured = [number for number in some if is_measured(number)]
        if len(measured) < 2:
            numbers.append(next((n for n in some if not is_measured(n)), some[0]))
            continue
        number, values = measured[0], [one["value"] for one in measured]
        value, agree = settled(
            values, more="_gbps" in number["key"], slack=slack_of(number["key"]), ratio=RATIO
        )
        note = (
            number["note"]
            if agree
            else (
                f"{number['note']}; not steady: {min(values):.4g} to {max(values):.4g} in"
                f" {len(values)} runs"
            )
        )
        unsteady.update({} if agree else {name_of(number): (min(values), max(values))})
        numbers.append({**number, "value": value, "note": note})
    return numbers, unsteady


def missing(runs: list[list[dict[str, str]]], there: list[dict[str, Any]]) -> list[dict[str, str]]:
    """
    Returns the numbers and words missing from `there`, each with a reason.  runs: what each run
    could not measure.
    """
    names = {name_of(one) for one in there}
    found = {name_of(one): one for one in itertools.chain(*runs)}
    return [one for name, one in found.items() if name not in names]


def disagreeing(runs: list[list[dict[str, str]]]) -> list[str]:
    """
    Returns texts about the words of the description that are not the same in all runs.  runs: the
    list of words of each run.
    """
    values: dict[Any, Any] = {}
    for word in itertools.chain(*runs):
        values.setdefault(name_of(word), []).append(word["value"])
    return [
        f"{name} {' or '.join(sorted(set(found)))}"
        for name, found in values.items()
        if len(set(found)) > 1
    ]


def of_table(values: dict[str, float], name: str) -> list[tuple[str, float]]:
    """
    Returns [(key, value)] of a table by class, nearest first.  A number without classes is the only
    pair.
    """
    return [
        (key, value) for key, value in values.items() if key == name or key.startswith(name + ".")
    ]


def impossible(numbers: list[dict[str, Any]]) -> list[str]:
    """Returns texts about contradictions of measured numbers that no machine can have."""
    values = {name_of(number): number["value"] for number in numbers if is_measured(number)}
    found = []

    def demand(slower: str, faster: str, gbps: bool) -> None:
        """
        Notes a contradiction if the first is faster than the second.  gbps: the values are rates,
        not times.
        """
        if (
            slower in values
            and faster in values
            and (
                values[slower] > values[faster] * AGREE
                if gbps
                else values[slower] * AGREE + SLACK_NS < values[faster]
            )
        ):
            found.append(f"{slower} {values[slower]:.4g}, but {faster} {values[faster]:.4g}")

    near_to_far = [key for key, _ in of_table(values, "lines.transfer_ns")]
    for near, far in zip(near_to_far, near_to_far[1:]):
        demand(far, near, gbps=False)
    for key in near_to_far:
        demand(key, "lines.hit_ns", gbps=False)
    for table in ("copy.cached_gbps", "copy.memory_gbps", "copy.shared_gbps", "copy.kernel_gbps"):
        for key, _ in of_table(values, table):
            demand(
                key,
                (
                    "copy.nearest_gbps.own"
                    if "copy.nearest_gbps.own" in values
                    else "copy.cached_gbps.own"
                ),
                gbps=True,
            )
    demand("copy.memory_gbps.local", "memory.node_gbps", gbps=True)
    return found


def words(unsteady: dict[str, tuple[float, float]], contradictions: list[str]) -> str | None:
    """Formats which figures are not reliable.  Returns None if all are."""
    parts = [
        f"{name} {low:.4g} to {high:.4g}" for name, (low, high) in unsteady.items()
    ] + contradictions
    return (
        "; ".join(parts[:4]) + (f"; and {len(parts) - 4} more" if len(parts) > 4 else "")
        if parts
        else None
    )
