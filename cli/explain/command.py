# SPDX-License-Identifier: BSD-3-Clause
"""
The questions of huddle explain: which algorithm would serve a call, and why; on this machine or on
one that is described.
"""

from __future__ import annotations

import functools
import json
from typing import TYPE_CHECKING, Any

from ..common import machines, validators
from ..common.collectives import HELP, find
from ..common.command_line import Argument, Command, Option
from ..common.exit_status import BAD_USE, DONE
from ..common.layout import CliError, Layout
from ..common.options import MAPS, MAX_TEAM, whole, within
from ..common.sizes import written
from ..common.text import bytes_text, count_text, heading, parameters_text, table
from ..common.types import Options
from . import choices, evidence, learned, nodes, one, served
from .sizes import LISTED, ONE, cut, sizes_of

if TYPE_CHECKING:
    from ..common.rules import Line
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
        "--mpi",
        metavar="NAME",
        help=(
            "MPI of the program, whose wisdom is used: ompi4, mpich5, ... (default: the first MPI"
            " found of those that huddle wisdom prints)"
        ),
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
            "print JSON: one answer, or a list with an answer per size; for a range of sizes, the"
            " list has an answer for the first size of each line of the table"
        ),
    ),
)


def refuse(error: str | None) -> None:
    """
    Raises CliError for a bad setting, with which huddle handles no calls.  error: None if all are
    good.
    """
    if error:
        raise CliError(f"{error}: huddle handles no calls", BAD_USE)


class Asked:
    """The question without the size."""

    def __init__(self, options: Options, layout: Layout) -> None:
        found = find(layout, options.collective, "explain")
        is_here = options.machine == machines.THIS
        self.layout, self.collective, self.map = layout, found.name, options.map
        self.unsized = found.unsized
        self.kinds = tuple(one.KINDS) if found.reduces else ("",)
        if self.unsized and options.bytes is not None:
            raise CliError(
                f"--bytes {options.bytes}: {self.unsized} (accepted: huddle explain"
                f" {self.collective}, without it)",
                BAD_USE,
            )
        machine = machines.load(layout, options.machine)
        self.machine = machine["name"] if machine else "this machine"
        self.machine_words = machines.words(machine, options.machine) if machine else []
        if options.mpi is not None and not is_here:
            raise CliError(f"--mpi {options.mpi}: not with --machine {options.machine}", BAD_USE)
        self.ranks = 1
        first = self.first(options.machine)
        refuse(first["error"])
        self.processors = first["facts"]["processors"]
        self.ranks = self.processors if options.ranks is None else options.ranks[0]
        within("--ranks", self.ranks, 1, MAX_TEAM)
        self.known = learned.read(layout, options.mpi) if is_here else None

    def answer(self, size: int) -> dict[str, Any]:
        return self.layout.ask(
            "explain", self.collective, str(size), str(self.ranks), self.map, *self.machine_words
        )

    def first(self, machine: str) -> dict[str, Any]:
        """
        Returns the first answer.  The topology is the only argument that is still unchecked then.
        """
        try:
            return self.answer(0)
        except CliError as error:
            if not self.machine_words:
                raise
            topology = validators.shown(self.machine_words[0])
            raise CliError(
                f"--machine {machine}: topology: {topology} is not understood (accepted: such as"
                " 'pack:2 core:8 pu:1', or the path of hwloc's XML)",
                BAD_USE,
            ) from error

    @functools.cached_property
    def algorithms(self) -> served.Algorithms:
        return served.Algorithms(self.layout.ask("info", "algorithms"), self.collective)

    def lines(self, answer: dict[str, Any], kind: str) -> list[Line]:
        """Returns what is known of the team's calls."""
        known = self.known.file.last if self.known else ()
        return list(learned.of_team(known, answer, kind))

    def text(self, line: Line) -> str:
        """Formats what is known."""
        return learned.text(self.known.file.mpi, line, self.known.where) if self.known else ""

    def pieces(self, answer: dict[str, Any], kind: str) -> list[dict[str, Any]]:
        """Returns what serves calls of a kind, by their sizes."""
        in_order = kind == served.ORDERED and answer["ordered"]
        pieces = answer["ordered"] if in_order else answer["pieces"]
        return served.split(self.algorithms, self.known, self.lines(answer, kind), pieces)

    def piece(self, answer: dict[str, Any], kind: str) -> dict[str, Any]:
        """Returns what serves the call of a kind."""
        return served.at(self.pieces(answer, kind), answer["bytes"])

    def words(self) -> str:
        oversubscribed = (
            f", oversubscribed: more than its {self.processors} processors"
            if self.ranks > self.processors
            else ""
        )
        return (
            f"{count_text(self.ranks, 'rank')} {MAPS[self.map]}, on {self.machine}{oversubscribed}"
        )


def range_text(least: int, most: int | None) -> str:
    return f"{written(least)}-{written(most) if most is not None else ''}"


def learned_text(because: str) -> str:
    """Shortens why a known choice serves for a table: 'learned here on 2026-11-28'."""
    return because.partition(" from ")[0] if because.startswith("learned ") else because


def show_axis(
    asked: Asked, pieces: list[dict[str, Any]], low: int, high: int | None
) -> set[str | None]:
    """Prints a table of pieces, in which neighbours with the same words are one row."""
    rows: list[tuple[int, int | None, list[str]]] = []
    files = set()
    for piece, because in zip(pieces, evidence.why_texts(asked.layout, pieces)):
        ends = cut(piece, low, high)
        if not ends:
            continue
        serves = piece["serves"]
        words = [choices.name_of(serves), parameters_text(serves), learned_text(because)]
        least = rows.pop()[0] if rows and rows[-1][2] == words else ends[0]
        rows.append((least, ends[1], words))
        files.add(evidence.file_of(piece["why"]))
    table(
        ["bytes", "algorithm", "parameters", "because"],
        [[range_text(least, most), *words] for least, most, words in rows],
    )
    return files


def show_pieces(asked: Asked, answer: dict[str, Any], low: int, high: int | None) -> None:
    print(f"{answer['collective']}, {asked.words()}")
    files: set[str | None] = set()
    for group in one.groups(asked, answer):
        if group.text:
            heading(group.text.removeprefix("of ").capitalize())
        files |= show_axis(asked, group.pieces, low, high)
    for file in sorted(filter(None, files)):
        print(f"  tuning file: {file}")
    one.show_known(asked, below_table=True)


def show_sizes(asked: Asked, sizes: list[int]) -> None:
    print(f"{asked.collective}, {asked.words()}")
    rows = []
    for size in sizes:
        answer = asked.answer(size)
        for group in one.groups(asked, answer):
            if group.kinds != [served.ORDERED]:
                rows.append((size, group.text, served.at(group.pieces, size)))
    whys = evidence.why_texts(asked.layout, [piece for _, _, piece in rows])
    lines = [
        [
            bytes_text(size),
            choices.name_of(piece["serves"]),
            parameters_text(piece["serves"]),
            learned_text(because) + (f", {kinds}" if kinds else ""),
        ]
        for (size, kinds, piece), because in zip(rows, whys)
    ]
    table(["bytes", "algorithm", "parameters", "because"], lines, right=(0,))
    one.show_known(asked, below_table=True)


def asks_for_all(options: Options) -> bool:
    """
    Returns whether the user asks for all choices of a collective, instead of the choices of a
    single team.
    """
    if options.ranks is None:
        return options.bytes is None
    return options.ranks[0] != options.ranks[1]


def show_choices(options: Options, asked: Asked, sizes: Sizes) -> None:
    if sizes.form == LISTED:
        raise CliError(
            f"--bytes {options.bytes}: of many teams (accepted: a size, or LOW:HIGH)", BAD_USE
        )
    choices.explain(asked, options.ranks, (sizes.low, sizes.high), options.json)


def show(asked: Asked, sizes: Sizes) -> None:
    if sizes.form == LISTED:
        show_sizes(asked, sizes.listed)
    elif asked.unsized or sizes.form == ONE:
        one.show(asked, asked.answer(sizes.low))
    else:
        show_pieces(asked, asked.answer(sizes.low), sizes.low, sizes.high)


def known_lines(asked: Asked, answer: dict[str, Any]) -> list[dict[str, Any]]:
    """Returns the known choices for the call, and for each whether it serves such calls."""
    if not asked.known:
        return []
    about = {"mpi": asked.known.file.mpi, "where": asked.known.where}
    return [
        {**about, "serves": asked.text(line) == asked.piece(answer, kind)["why"].get("text")}
        | line._asdict()
        for kind in asked.kinds
        for line in asked.lines(answer, kind)
        if learned.is_about(line, answer["bytes"])
    ]


def wisdom_facts(asked: Asked) -> dict[str, Any] | None:
    """Returns the file of a program, and why the program does not use or write the file."""
    if not asked.known:
        return None
    file, unused = asked.known.file, asked.known.unused
    return {"file": file.path, "mpi": file.mpi, "not_used": unused, "not_written": file.not_written}


def with_evidence(asked: Asked, answer: dict[str, Any]) -> dict[str, Any]:
    """
    Adds the series of evidence, and the known choices for the call.  If a known choice serves calls
    with a commutative operation, the choice is in "serves" and "why", and the library's first
    choice is in "first".
    """
    pieces = [*answer.get("pieces", ()), *(answer.get("ordered") or ())]
    serving = [asked.piece(answer, kind) for kind in asked.kinds if kind != served.ORDERED]
    known = {}
    if all("first" in piece and piece["serves"] == serving[0]["serves"] for piece in serving):
        first = {"serves": answer["serves"], "why": answer["why"]}
        known = {"serves": serving[0]["serves"], "why": serving[0]["why"], "first": first}
    series = evidence.of_pieces(asked.layout, pieces)
    return {
        **answer,
        **known,
        "evidence": series,
        "wisdom": wisdom_facts(asked),
        "learned": known_lines(asked, answer),
    }


def as_json(options: Options, asked: Asked, sizes: Sizes) -> Any:
    """
    Returns the answer for a single size.  Returns a list of answers for several sizes, and for a
    range a list with an answer for each piece.
    """
    first = asked.answer(sizes.low)
    if options.bytes is None or sizes.form == ONE:
        return with_evidence(asked, first)
    ends = (cut(piece, sizes.low, sizes.high) for piece in asked.pieces(first, asked.kinds[0]))
    wanted = sizes.listed or [least for least, _ in filter(None, ends)]
    return [with_evidence(asked, asked.answer(size)) for size in wanted]


def main(options: Options, _command: list[Any], layout: Layout) -> int:
    if options.machine == "list":
        machines.show(layout)
        return DONE
    if options.nodes is not None:
        found = find(layout, options.collective, "explain")
        if options.mpi is not None:
            raise CliError(f"--mpi {options.mpi}: not with --nodes", BAD_USE)
        refuse(layout.ask("info", "settings")["error"])
        return nodes.main(options, layout, found)
    asked, sizes = Asked(options, layout), sizes_of(options.bytes)
    if asks_for_all(options):
        show_choices(options, asked, sizes)
    elif options.json:
        print(json.dumps(as_json(options, asked, sizes), indent=2))
    else:
        show(asked, sizes)
    return DONE


COMMAND = Command(main, PARAMETERS)
