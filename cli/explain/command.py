# SPDX-License-Identifier: BSD-3-Clause
"""
The questions of huddle explain: which algorithm would serve a call, and why; on this machine or on
one that is described.
"""

from __future__ import annotations

import functools
import json
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from ..common import machines, validators
from ..common.collectives import HELP, find
from ..common.command_line import Argument, Command, Option
from ..common.layout import CliError, Layout
from ..common.options import MAPS, MAX_TEAM, whole, within
from ..common.sizes import written
from ..common.text import bytes_text, count_text, heading, parameters_text, single_copy_text, table
from ..common.types import Options
from . import choices, evidence, learned, nodes
from .sizes import LISTED, ONE, cut, sizes_of

if TYPE_CHECKING:
    from ..common.wisdom import Wisdom
    from .sizes import Sizes

RANKS = f"N or LOW:HIGH, from 1 to {MAX_TEAM}, LOW at most HIGH"


def ranks_of(text: str) -> tuple[int, int]:
    """Parses --ranks: '8' is (8, 8), '2:64' is (2, 64)."""
    low, colon, high = text.partition(":")
    words = [low, high if colon else low]
    if not all(word.isdecimal() and len(word) < 9 for word in words):
        raise validators.argument(text, RANKS)
    first, last = map(int, words)
    if not 1 <= first <= last <= MAX_TEAM:
        raise validators.argument(text, RANKS)
    return first, last


PARAMETERS = (
    Argument("collective", required=False, default="bcast", help=HELP),
    Option(
        "--bytes",
        metavar="SIZES",
        help=(
            "size of the message: 1M; several sizes (8,4K,1M or 8:1M:8) or a "
            "range (8:1M, or 8: without an end) print a table (default: all "
            "sizes)"
        ),
    ),
    Option(
        "--ranks",
        type=ranks_of,
        metavar="N",
        help=(
            "number of ranks, all on one node; a range (2:64) prints the table "
            "of all choices (default: with --bytes one rank per processor, "
            "otherwise that table)"
        ),
    ),
    Option(
        "--map",
        choices=MAPS,
        default="core",
        help=(
            "order in which ranks are bound: to cores in turn, round-robin over"
            " NUMA nodes or sockets; none: not bound (default: core)"
        ),
    ),
    Option(
        "--machine",
        default=machines.THIS,
        metavar="NAME",
        help="a described machine; list: print the known machines (default: this machine)",
    ),
    Option(
        "--nodes",
        type=whole(2, 1 << 16),
        metavar="N",
        help="explain calls of a communicator that spans N nodes (default of --ranks then: N)",
    ),
    Option(
        "--json",
        is_flag=True,
        help=(
            "print JSON; for several sizes a list with one answer per size, for"
            " a range with one answer per line of the table, for its first size"
        ),
    ),
)


def refuse(error: str | None) -> None:
    """
    Raises CliError for a bad setting, with which huddle handles no calls.  error: None if all are
    good.
    """
    if error:
        raise CliError(f"{error}: huddle handles no calls", 2)


class Asked:
    """The question, but for the size."""

    def __init__(self, options: Options, layout: Layout) -> None:
        found = find(layout, options.collective, "explain")
        self.is_here = options.machine == machines.THIS
        self.layout, self.collective, self.map = layout, found.name, options.map
        self.unsized = found.unsized
        if self.unsized and options.bytes is not None:
            raise CliError(
                f"--bytes {options.bytes}: {self.unsized} (accepted: huddle explain"
                f" {self.collective}, without it)",
                2,
            )
        machine = machines.load(layout, options.machine)
        self.machine = machine["name"] if machine else "this machine"
        self.machine_words = machines.asked(layout, options.machine, machine)
        self.ranks = 1
        first = self.answer(0)
        refuse(first["error"])
        self.processors = first["facts"]["processors"]
        self.ranks = self.processors if options.ranks is None else options.ranks[0]
        within("--ranks", self.ranks, 1, MAX_TEAM)

    def answer(self, size: int) -> dict[str, Any]:
        return self.layout.ask(
            "explain", self.collective, str(size), str(self.ranks), self.map, *self.machine_words
        )

    @functools.cached_property
    def known(self) -> list[Wisdom]:
        """Returns what was learned on this machine, or nothing for a described machine."""
        return learned.files(self.layout) if self.is_here else []

    def words(self) -> str:
        oversubscribed = (
            f", oversubscribed: more than its {self.processors} processors"
            if self.ranks > self.processors
            else ""
        )
        return (
            f"{count_text(self.ranks, 'rank')} {MAPS[self.map]}, on {self.machine}{oversubscribed}"
        )


def why_text(why: dict[str, Any], rests: str) -> str:
    """Formats why a row was chosen.  rests: what the row rests on, in words."""
    line = f"{why['by']}, line {why['line']}" if "line" in why else why["by"]
    line = f"{line}, and the time model" if why.get("model") else line
    return f"{line} ({rests})" if rests else line


def why_texts(
    asked: Asked, pieces: list[dict[str, Any]], text: Callable[..., Any] = evidence.short_text
) -> list[str]:
    """Returns why_text() of each piece."""
    series = evidence.of_pieces(asked.layout, pieces)
    whys = [piece["why"] for piece in pieces]
    return [why_text(why, text(why, series) if "evidence" in why else "") for why in whys]


def file_of(why: dict[str, Any]) -> str | None:
    return why["file"] if why["by"] == "tuning file" else None


def memory_text(answer: dict[str, Any]) -> str:
    """Formats the size of the whole lease and the slots of the collective."""
    slots = answer["lease"]["slots"]
    own = [slot for slot in slots if slot["collective"] == answer["collective"]]
    words = [
        f"{slot['algorithm']} {bytes_text(slot['bytes'])}{' (shared)' if slot['shared'] else ''}"
        for slot in own
    ]
    if len(slots) > len(own):
        words.append(f"{count_text(len(slots) - len(own), 'slot')} of other collectives")
    text = f"{bytes_text(answer['lease']['bytes'])} of each rank"
    return f"{text}: {', '.join(words)}" if words else text


def show_one(asked: Asked, answer: dict[str, Any]) -> None:
    size = "" if asked.unsized else f"{bytes_text(answer['bytes'])} "
    facts, serves, why = answer["facts"], answer["serves"], answer["why"]
    print(f"{size}{answer['collective']}, {asked.words()}")
    print(f"  serves   {choices.name_of(serves)}{': ' + serves['doc'] if serves else ''}")
    if serves and serves["parameters"]:
        print(f"  with     {parameters_text(serves)}")
    ordered = answer["ordered"] or []
    because, *whys = why_texts(asked, [answer, *ordered], evidence.long_text)
    print(f"  because  {because}{f' of {file_of(why)}' if file_of(why) else ''}")
    for found, line in learned.of_call(asked.known, answer):
        at = learned.where(asked.layout, found)
        print(f"  learned  {learned.text(found.mpi, line, at)}")
    for piece in answer["pieces"]:
        if piece["others"] and cut(piece, answer["bytes"], answer["bytes"]):
            print(f"  or       tried against it (HUDDLE_WISDOM): {', '.join(piece['others'])}")
    if answer["no_room"]:
        named = ", ".join(answer["no_room"])
        print(f"  no room  in the communicator's memory (HUDDLE_LEASE), so not tried: {named}")
    for piece, in_order in zip(ordered, whys):
        if cut(piece, answer["bytes"], answer["bytes"]):
            print(
                f"  in order {choices.name_of(piece['serves'])}, {in_order}: of operations"
                " that do not commute"
            )
    groups = ", ".join(
        f"{level['groups']} by {level['level']}"
        if level["level"] != "team"
        else "all ranks in one group"
        for level in facts["groups"]
    )
    many = 'oversubscribed: more ranks than processors'
    print(
        f"  facts    {many if facts['oversubscribed'] else 'a processor for each rank'};"
        f" within one {facts['within']}{', divided by a level' if facts['divided'] else ''};"
        f" {single_copy_text(facts)} between ranks;"
        f" groups: {groups}"
    )
    print(f"  memory   {memory_text(answer)}")
    heading("Rules, in the order in which they are tried")
    table(
        ["rule", "algorithm", "verdict"],
        [
            [f"{rule['file']}:{rule['line']}", rule["algorithm"], rule["verdict"]]
            for rule in answer["rules"]
        ],
    )


def range_text(least: int, most: int | None) -> str:
    return f"{written(least)}-{written(most) if most is not None else ''}"


def show_axis(
    asked: Asked, pieces: list[dict[str, Any]], low: int, high: int | None
) -> set[str | None]:
    rows, files = [], set()
    for piece, because in zip(pieces, why_texts(asked, pieces)):
        ends = cut(piece, low, high)
        if ends:
            rows.append(
                [
                    range_text(*ends),
                    choices.name_of(piece["serves"]),
                    parameters_text(piece["serves"]),
                    because,
                ]
            )
            files.add(file_of(piece["why"]))
    table(["bytes", "algorithm", "parameters", "because"], rows)
    return files


def show_pieces(asked: Asked, answer: dict[str, Any], low: int, high: int | None) -> None:
    print(f"{answer['collective']}, {asked.words()}")
    files = show_axis(asked, answer["pieces"], low, high)
    if answer["ordered"]:
        heading("Operations that do not commute")
        files |= show_axis(asked, answer["ordered"], low, high)
    for file in sorted(filter(None, files)):
        print(f"  tuning file: {file}")


def show_sizes(asked: Asked, sizes: list[int]) -> None:
    print(f"{asked.collective}, {asked.words()}")
    rows = [(size, asked.answer(size)) for size in sizes]
    table(
        ["bytes", "algorithm", "parameters", "because"],
        [
            [bytes_text(size), choices.name_of(a["serves"]), parameters_text(a["serves"]), because]
            for (size, a), because in zip(rows, why_texts(asked, [a for _, a in rows]))
        ],
        right=(0,),
    )


def asks_for_all(options: Options) -> bool:
    """Returns whether the user asks for all choices of a collective, not for those of one team."""
    if options.ranks is None:
        return options.bytes is None
    return options.ranks[0] != options.ranks[1]


def show_choices(options: Options, asked: Asked, sizes: Sizes) -> None:
    if sizes.form == LISTED:
        raise CliError(f"--bytes {options.bytes}: of many teams (accepted: a size, or LOW:HIGH)", 2)
    choices.explain(asked, options.ranks, (sizes.low, sizes.high), options.json)


def show(asked: Asked, sizes: Sizes) -> None:
    if sizes.form == LISTED:
        show_sizes(asked, sizes.listed)
    elif asked.unsized or sizes.form == ONE:
        show_one(asked, asked.answer(sizes.low))
    else:
        show_pieces(asked, asked.answer(sizes.low), sizes.low, sizes.high)


def with_evidence(asked: Asked, answer: dict[str, Any]) -> dict[str, Any]:
    pieces = [*answer.get("pieces", ()), *(answer.get("ordered") or ())]
    found = [
        {"mpi": file.mpi, "where": learned.where(asked.layout, file), **line._asdict()}
        for file, line in learned.of_call(asked.known, answer)
    ]
    return {**answer, "evidence": evidence.of_pieces(asked.layout, pieces), "learned": found}


def as_json(options: Options, asked: Asked, sizes: Sizes) -> Any:
    """
    Returns the library's answer for one size.  Returns a list of answers for several sizes, and for
    a range a list with one answer for each piece.
    """
    first = asked.answer(sizes.low)
    if options.bytes is None or sizes.form == ONE:
        return with_evidence(asked, first)
    ends = (cut(piece, sizes.low, sizes.high) for piece in first["pieces"])
    wanted = sizes.listed or [least for least, _ in filter(None, ends)]
    return [with_evidence(asked, asked.answer(one)) for one in wanted]


def main(options: Options, _command: list[Any], layout: Layout) -> int:
    if options.machine == "list":
        machines.show(layout)
        return 0
    if options.nodes is not None:
        found = find(layout, options.collective, "explain")
        refuse(layout.ask("info", "settings")["error"])
        return nodes.main(options, layout, found)
    asked, sizes = Asked(options, layout), sizes_of(options.bytes)
    if asks_for_all(options):
        show_choices(options, asked, sizes)
    elif options.json:
        print(json.dumps(as_json(options, asked, sizes), indent=2))
    else:
        show(asked, sizes)
    return 0


COMMAND = Command(main, PARAMETERS)
