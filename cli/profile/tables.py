# SPDX-License-Identifier: BSD-3-Clause
"""The tables of a profile as text."""

from __future__ import annotations

import contextlib
from typing import Any, TextIO

from ..common.text import bytes_text, count_text, heading, table
from . import plots

ROWS = 12  # rows shown of a long table; the JSON and the page have all

COLUMNS = ("calls", "handled", "bytes", "seconds", "waiting", "moving", "not handled")
SAVING = ("collective", "handled", "covered", "seconds", "without huddle", "saved", "of it")
SECONDS = ("seconds", "without_huddle_seconds", "saved_seconds")


def passed_text(row: dict[str, Any]) -> str:
    words = [f"{calls} {why}" for why, calls in row["fell_back"].items()]
    words += [f"{row['empty']} of zero bytes"] if row["empty"] else []
    return ", ".join(words) or "none"


def seconds_text(value: float | None) -> str:
    return "?" if value is None else f"{value:.4f}"


def figures(row: dict[str, Any]) -> list[int | str]:
    return [
        row["calls"],
        row["handled"],
        bytes_text(row["bytes"]),
        seconds_text(row["seconds"]),
        seconds_text(row["waiting_seconds"]),
        seconds_text(row["moving_seconds"]),
        passed_text(row),
    ]


def listed(title: str, heads: list[str], keys: list[str], rows: list[dict[str, Any]]) -> None:
    heading(title + (f" (the first {ROWS} of {len(rows)})" if len(rows) > ROWS else ""))
    right = range(len(keys), len(keys) + len(COLUMNS) - 1)
    lines = [[row[key] for key in keys] + figures(row) for row in rows[:ROWS]]
    table([*heads, *COLUMNS], lines, right=tuple(right))


def share_of(facts: dict[str, Any]) -> float | None:
    """Returns the share of the ranks' time, or None if no time was observed."""
    total = sum(row["in_collectives_seconds"] for row in facts["lateness"])
    observed = sum(row["observed_seconds"] for row in facts["lateness"])
    return total / observed if observed else None


def share_text(facts: dict[str, Any]) -> str:
    share = share_of(facts)
    return "?" if share is None else f"{100 * min(1, share):.0f} %"


def excess_text(facts: dict[str, Any]) -> str:
    """Returns why times add up to more than the elapsed time, "" if they do not."""
    share = share_of(facts)
    if share is None or share <= 1:
        return ""
    why = (
        "calls of several threads overlap"
        if facts["threads"]
        else "a timed call represents up to 16 calls, also one that other work has delayed"
    )
    return f" They add up to {100 * share:.0f} % of the time that there was: {why}."


def basis_text(facts: dict[str, Any]) -> str:
    """Returns how the times were obtained."""
    timed = ""
    if facts["timed_calls"] < facts["calls"]:
        timed = (
            f" Times are estimated: the clock was read in {facts['timed_calls']} of"
            f" {facts['calls']} calls."
        )
    return (
        "Seconds are sums over ranks. Waiting is split by"
        f" {facts['matched_calls']} calls that all their ranks have stamped.{timed}"
        f"{excess_text(facts)}"
    )


def saved_text(seconds: float) -> str:
    return f"{'-' if seconds < 0 else ''}{plots.time_text(abs(seconds))}"


def saving_title(facts: dict[str, Any]) -> str:
    """Returns the title of an existing estimate."""
    per_rank = facts["saving"]["saved_seconds"] / facts["ranks_seen"]
    run = f"in a run of {facts['seconds']:.2f} s"
    return f"Saved by huddle, an estimate: {saved_text(per_rank)} per rank, {run}"


def saving_basis(saving: dict[str, Any]) -> list[str]:
    """Returns sentences about what the estimate rests on, or why there is none."""
    if saving["unknown"]:
        return [f"What huddle saves is not estimated: {saving['unknown']}."]
    missing = ", ".join(f"{calls} {why}" for why, calls in saving["not_covered"].items())
    return [
        f"It rests on {saving['file']}: {saving['measured_with']}, {saving['measured']}.",
        f"It covers {saving['covered']} of {saving['handled']} handled calls."
        + (f" Not covered: {missing}." if missing else ""),
        "Seconds are of covered calls, as sums over ranks. huddle compare measures the saved time.",
    ]


def saving_rows(saving: dict[str, Any]) -> list[list[int | str]]:
    rows = []
    for row in [*saving["collectives"], {**saving, "collective": "in all"}]:
        here, without, saved = (row[key] for key in SECONDS)
        rows.append([row["collective"], row["handled"], row["covered"]])
        rows[-1] += [seconds_text(here), seconds_text(without)]
        rows[-1] += [
            "?" if saved is None else saved_text(saved),
            f"{100 * saved / without:.0f} %" if without else "?",
        ]
    return rows


def show_saving(facts: dict[str, Any]) -> None:
    saving = facts["saving"]
    heading(saving_title(facts) if saving.get("covered") else "Saved by huddle")
    for sentence in saving_basis(saving):
        print(f"  {sentence}")
    if saving.get("covered"):
        table(SAVING, saving_rows(saving), right=range(1, len(SAVING)))


def show_lateness(rows: list[dict[str, Any]]) -> None:
    heading("Ranks, in calls that wait for all (the first 12 by the waiting that they caused)")
    rows = sorted(rows, key=lambda row: -row["caused_seconds"])[:ROWS]
    table(
        ["rank", "calls stamped", "came last", "mean late us", "caused waiting s", "waited s"],
        [
            [
                row["rank"],
                row["calls"],
                row["last"],
                f"{row['mean_late_seconds'] * 1e6:.1f}",
                f"{row['caused_seconds']:.4f}",
                f"{row['waited_seconds']:.4f}",
            ]
            for row in rows
        ],
        right=range(6),
    )


def show(facts: dict[str, Any], stream: TextIO) -> None:
    with contextlib.redirect_stdout(stream):
        state = "with huddle" if facts["huddle"] else "without huddle"
        heading(
            f"{facts['mpi']} {state}: {facts['ranks_seen']} of"
            f" {count_text(facts['ranks'], 'rank')}, {facts['seconds']:.2f} s,"
            f" {share_text(facts)} of it in collectives"
        )
        print(f"  {basis_text(facts)}")
        listed("Collectives", ["collective"], ["collective"], facts["collectives"])
        show_saving(facts)
        keys = ["communicator", "collective"]
        listed("Communicators", keys, keys, facts["communicators"])
        keys = ["caller", "collective", "sizes"]
        listed("Callers and sizes", keys, keys, facts["callers"])
        show_lateness(facts["lateness"])
        for line in facts["notes"]:
            print(f"huddle: {line}")
