# SPDX-License-Identifier: BSD-3-Clause
"""The tables of a profile as text."""

import contextlib

from ..common.text import bytes_text, heading, table

ROWS = 12  # of a long table; the JSON and the page have all

COLUMNS = ("calls", "handled", "bytes", "seconds", "waiting", "moving", "fell back")


def passed_text(row):
    return ", ".join(f"{calls} {why}" for why, calls in row["fell_back"].items()) or "none"


def seconds_text(value):
    return "?" if value is None else f"{value:.4f}"


def figures(row):
    return [
        row["calls"],
        row["handled"],
        bytes_text(row["bytes"]),
        seconds_text(row["seconds"]),
        seconds_text(row["waiting_seconds"]),
        seconds_text(row["moving_seconds"]),
        passed_text(row),
    ]


def listed(title, heads, keys, rows):
    heading(title + (f" (the first {ROWS} of {len(rows)})" if len(rows) > ROWS else ""))
    right = range(len(keys), len(keys) + len(COLUMNS) - 1)
    lines = [[row[key] for key in keys] + figures(row) for row in rows[:ROWS]]
    table([*heads, *COLUMNS], lines, right=tuple(right))


def share_text(facts):
    total = sum(row["in_collectives_seconds"] for row in facts["lateness"])
    observed = sum(row["observed_seconds"] for row in facts["lateness"])
    return f"{100 * total / observed:.0f} %" if observed else "?"


def basis_text(facts):
    """What the times rest on."""
    timed = ""
    if facts["timed_calls"] < facts["calls"]:
        timed = (
            f" Times are estimated: the clock was read in {facts['timed_calls']} of"
            f" {facts['calls']} calls."
        )
    return (
        "Seconds are sums over ranks. Waiting is split by"
        f" {facts['matched_calls']} calls that all their ranks have stamped.{timed}"
    )


def show_lateness(rows):
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


def show(facts, stream):
    with contextlib.redirect_stdout(stream):
        state = "with huddle" if facts["huddle"] else "without huddle"
        heading(
            f"{facts['mpi']} {state}: {facts['ranks_seen']} of {facts['ranks']} ranks,"
            f" {facts['seconds']:.2f} s, {share_text(facts)} of it in collectives"
        )
        print(f"  {basis_text(facts)}")
        listed("Collectives", ["collective"], ["collective"], facts["collectives"])
        keys = ["communicator", "collective"]
        listed("Communicators", keys, keys, facts["communicators"])
        keys = ["caller", "collective", "sizes"]
        listed("Callers and sizes", keys, keys, facts["callers"])
        show_lateness(facts["lateness"])
        for line in facts["notes"]:
            print(f"huddle: {line}")
