# SPDX-License-Identifier: BSD-3-Clause
"""
The text output of a simulated call: its time, the traffic of links, the waits, and the critical
path.
"""

from __future__ import annotations

from typing import Any

from cli.common.text import bytes_text, heading, parameters_text, table

from . import alternate

METHODS = {
    "single": "median time of the slowest rank, single calls from a common start",
    "loop": "mean time of the slowest rank, back-to-back calls",
}
ENTERED = (
    ", which each rank follows at random within {:g} ns; counted from the start, not from the last"
    " rank's entry"
)
WIDTH, LINES, LONGEST, LINKS, DOINGS = 72, 64, 10, 24, 3
SIGNS = {"wait": ".", "queue": ":", "line": "-", "copy": "#", "reduce": "+"}


def time_text(ns: float) -> str:
    """Formats a time: 812 ns, 3.41 us, 1.2 ms, 3 s."""
    for limit, scale, unit in (
        (999.5, 1, "ns"),
        (999.5e3, 1e3, "us"),
        (999.5e6, 1e6, "ms"),
        (float("inf"), 1e9, "s"),
    ):
        if ns < limit:
            return f"{ns / scale:.3g} {unit}" if ns / scale < 1000 else f"{ns / scale:.0f} {unit}"
    return ""


def parameters_of(call: dict[str, Any]) -> str:
    return parameters_text(call) if call else ""


def cell(call: dict[str, Any] | None, named: bool = False) -> str:
    if call is None:
        return "not handled"
    time = time_text(call["times"]["time_ns"]) if call.get("times") else "no time"
    return f"{time} ({call['algorithm']})" if named else time


def spread_text(times: dict[str, float]) -> str:
    return (
        ""
        if times["min_ns"] == times["max_ns"]
        else f", {time_text(times['min_ns'])} to {time_text(times['max_ns'])}"
    )


def show_call(simulation: Any, call: dict[str, Any], timeline: bool) -> None:
    size = f"{bytes_text(call['bytes'])} " if call["bytes"] else ""
    checker, times = call["checker"], call.get("times")
    print(f"simulated {size}{simulation.collective}, {simulation.words()}")
    print(
        "  simulated by  "
        f" {call['algorithm']}{', ' + parameters_text(call) if call['parameters'] else ''}"
    )
    if times:
        entered = ENTERED.format(call['skew_ns']) if call.get('skew_ns') else ''
        print(
            f"  simulated time {time_text(times['time_ns'])}{spread_text(times)}:"
            f" {METHODS[call['method']]} of {call['repetitions']}{entered}"
        )
    if times and alternate.text(call, time_text):
        print(f"  {alternate.text(call, time_text)}")
    print(
        f"  simulated run  {checker['posts']} posts, the longest chain has {checker['hops']};"
        f" the race checker found no fault in {checker['events']} steps"
    )
    if times:
        show_links(
            call["links"],
            ("the last call" if call["method"] == "single" else "all calls, including warm-up"),
        )
    if times and timeline:
        show_timeline(call)
        show_waits(call)
        show_path(call)


def show_links(links: list[dict[str, Any]], calls: str) -> None:
    """Prints all links with traffic, or the busiest of many."""
    used = [link for link in links if link["bytes"]]
    shown = used if len(used) <= LINKS else sorted(used, key=lambda link: -link["busy"])[:LINKS]
    if not shown:
        return
    heading(
        "Simulated traffic of"
        f" {calls}{f': the busiest of {len(used)}' if len(shown) < len(used) else ''}"
    )
    table(
        ["link", "simulated bytes", "busy"],
        [
            [link["name"], bytes_text(link["bytes"]), f"{100 * link['busy']:.1f} %"]
            for link in shown
        ],
        right=(1, 2),
    )


# ---- the last call in detail: spans are {"rank", "begin_ns", "end_ns", "what", ...} from its start
# ----


def timeline_row(spans: list[dict[str, Any]], end_ns: float, width: int = WIDTH) -> str:
    """
    Returns a rank's spans as a line of signs.  The later of two spans at the same place is visible.
    """
    signs = [" "] * width
    for span in spans:
        first, last = (
            min(width - 1, int(span[key] / end_ns * width)) for key in ("begin_ns", "end_ns")
        )
        for i in range(first, last + 1):
            signs[i] = SIGNS[span["what"]]
    return "".join(signs)


def end_of(call: dict[str, Any]) -> float:
    return max(span["end_ns"] for span in call["spans"])


def show_timeline(call: dict[str, Any]) -> None:
    end, step = end_of(call), -(-call["ranks"] // LINES)
    some = f", one rank of {step}" if step > 1 else ""
    heading(f"Simulated timeline of the last call, 0 to {time_text(end)}{some}")
    print(
        "  "
        + ", ".join(f"{sign} {what}" for what, sign in SIGNS.items())
        + "; blank: none of these, or the rank has returned"
    )
    for rank in range(0, call["ranks"], step):
        spans = [span for span in call["spans"] if span["rank"] == rank]
        print(f"  {rank:5d} |{timeline_row(spans, end)}|")


def show_waits(call: dict[str, Any]) -> None:
    """Prints, for each rank and place that others wait for, the longest wait."""
    waits: dict[Any, Any] = {}
    for span in call["spans"]:
        if span["what"] == "wait":
            waits.setdefault((span["for"], span["at"]), []).append(span)
    rows = sorted(
        (
            [max(spans, key=lambda s: s["end_ns"] - s["begin_ns"]), spans]
            for spans in waits.values()
        ),
        key=lambda row: row[0]["begin_ns"] - row[0]["end_ns"],
    )
    if rows:
        heading("Simulated waits, longest first")
        table(
            ["waits", "longest", "of rank", "for rank", "at"],
            [
                [
                    len(spans),
                    time_text(longest["end_ns"] - longest["begin_ns"]),
                    longest["rank"],
                    longest["for"],
                    longest["at"],
                ]
                for longest, spans in rows[:LONGEST]
            ],
            right=(0, 1, 2, 3),
        )


def stays(path: list[dict[str, Any]]) -> list[list[dict[str, Any]]]:
    """Splits the path where it moves to another rank, into lists of spans."""
    cut: list[Any] = []
    for span in path:
        if cut and cut[-1][-1]["rank"] == span["rank"]:
            cut[-1].append(span)
        else:
            cut.append([span])
    return cut


def doings(spans: list[dict[str, Any]]) -> str:
    """
    Returns the longest calls of some spans, the longest first: "copies out 4.81 us at
    src/alg/queue/bcast.c:107, ...".
    """
    spent: dict[Any, float] = {}
    for span in spans:
        key = span["call"], span["at"]
        spent[key] = spent.get(key, 0) + span["end_ns"] - span["begin_ns"]
    return ", ".join(
        f"{call} {time_text(ns)} at {at}"
        for (call, at), ns in sorted(spent.items(), key=lambda item: -item[1])[:DOINGS]
    )


def show_path(call: dict[str, Any]) -> None:
    """
    Prints the critical path from the start to the last exit: its ranks, each of which waits for the
    one before, and their work.
    """
    heading("Simulated critical path")
    table(
        ["from", "to", "rank", "what takes longest"],
        [
            [time_text(s[0]["begin_ns"]), time_text(s[-1]["end_ns"]), s[0]["rank"], doings(s)]
            for s in stays(call["path"])
        ],
        right=(0, 1, 2),
    )
