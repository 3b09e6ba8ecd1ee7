# SPDX-License-Identifier: BSD-3-Clause
"""The text output of `huddle who`."""

from __future__ import annotations

from typing import Any

from ..common.text import bytes_text, count_text, ranges_text
from .processes import HALTED, state_text


def plain(text: str) -> str:
    """Replaces control characters, which would affect the terminal, in a program's text."""
    return "".join(c if c.isprintable() else "?" for c in text)


def plain_texts(answer: Any) -> Any:
    """Replaces control characters in all texts within a JSON value."""
    if isinstance(answer, str):
        return plain(answer)
    if isinstance(answer, list):
        return [plain_texts(one) for one in answer]
    if isinstance(answer, dict):
        return {plain(name): plain_texts(one) for name, one in answer.items()}
    return answer


def duration(s: float) -> str:
    return f"{s:.1f} s" if s < 100 else f"{s:.0f} s" if s < 6000 else f"{s / 60:.0f} min"


def call_text(call: dict[str, Any]) -> str:
    """
    Describes a call, such as 'call 3, allreduce of 1 MB, root 2 (slices)', or names a wait outside
    an algorithm.
    """
    if not call["algorithm"]:
        return f"{call['collective']}, after call {call['call']}"
    size = f" of {bytes_text(call['bytes'])}" if call["bytes"] else ""
    root = f", root {call['root']}" if call["root"] >= 0 else ""
    return f"call {call['call']}, {call['collective']}{size}{root} ({call['algorithm']})"


def team_text(call: dict[str, Any]) -> str:
    return f"{plain(call['communicator'])} ({count_text(call['size'], 'rank')})"


def whom_text(wait: dict[str, Any]) -> str:
    """
    Describes the awaited event.  A rank that waits for a flag in its own slice waits for another
    rank's post there.
    """
    if wait["owner"] == wait["rank"]:
        return "for a partner's post"
    return f"for a post in rank {wait['owner']}'s slice" if wait["owner"] >= 0 else "for a message"


def wait_text(wait: dict[str, Any]) -> str:
    place = f"{plain(wait['file'])}:{wait['line']}" if wait["line"] else ""
    where = (
        f" at {plain(wait['label'])} ({place})"
        if wait["label"]
        else f" at {place}"
        if place
        else ""
    )
    halted = (
        f"; its process is {state_text(wait['state'], '')}" if wait["state"] in HALTED[:2] else ""
    )
    return (
        f"rank {wait['rank']} (process {wait['pid']}) has waited"
        f" {duration(wait['waited_s'])}{where} {whom_text(wait)}{halted}"
    )


def absent_text(one: dict[str, Any]) -> str:
    if one["left"]:
        return (
            "no longer has shared memory of huddle: it has called MPI_Finalize, or it has ended and"
            " another process has its number"
        )
    if one["state"] in HALTED:
        return state_text(one["state"], "")
    if one["elsewhere"]:
        return "waits elsewhere: " + "; ".join(
            f"{team_text(call)}, {call_text(call)}, for {duration(call['waited_s'])}"
            for call in one["elsewhere"]
        )
    return state_text(one["state"], one["wchan"])


def ranks_text(numbers: list[int]) -> str:
    return f"rank{'s' if len(numbers) > 1 else ''} {ranges_text(numbers)}"


def show_call(call: dict[str, Any]) -> None:
    print(f"{team_text(call)}: {call_text(call)}")
    for wait in call["waiting"]:
        print("  " + wait_text(wait))
    for one in call["absent"]:
        if one["pid"] is not None:
            print(
                f"  not waiting in this call: rank {one['rank']} (process {one['pid']}):"
                f" {absent_text(one)}"
            )
    unknown = [one["rank"] for one in call["absent"] if one["pid"] is None]
    if unknown:
        print(f"  not waiting in this call: {ranks_text(unknown)}, whose process is unknown")
    if not call["absent"]:
        print("  all ranks wait in this call")


def show(facts: dict[str, Any]) -> None:
    for problem in facts["problems"]:
        print(f"not read: {problem}")
    if facts["problems"]:
        print("so the following is incomplete")
    for call in facts["calls"]:
        show_call(call)
    if not facts["calls"]:
        print(
            f"{count_text(len(facts['ranks']), 'rank')}: none is waiting in a huddle collective"
            " (waits shorter than 50 ms are not shown)"
        )
        return
    for name, counts in facts["handled_differently"].items():
        listed = ", ".join(
            f"{calls} on {ranks_text(ranks)}"
            for calls, ranks in sorted(counts.items(), reverse=True)
        )
        print(f"calls of {name} so far, including waiting ones, over all communicators: {listed}")
