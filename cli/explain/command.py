# SPDX-License-Identifier: BSD-3-Clause
"""
The questions of huddle explain: which algorithm would serve a call, and why; on this machine or on
one that is described.
"""

import json

from ..common import machines, refused
from ..common.collectives import HELP, find
from ..common.layout import Trouble
from ..common.options import MAPS, MAX_TEAM, whole, within
from ..common.sizes import written
from ..common.text import bytes_text, count_text, heading, parameters_text, single_copy_text, table
from . import choices, evidence, nodes
from .sizes import LISTED, ONE, cut, sizes_of

RANKS = f"N or LOW:HIGH, from 1 to {choices.MAX_TEAM}, LOW at most HIGH"


def ranks_of(text):
    """'8' -> (8, 8); '2:64' -> (2, 64)"""
    low, colon, high = text.partition(":")
    words = [low, high if colon else low]
    if not all(word.isdecimal() and len(word) < 9 for word in words):
        raise refused.argument(text, RANKS)
    first, last = map(int, words)
    if not 1 <= first <= last <= choices.MAX_TEAM:
        raise refused.argument(text, RANKS)
    return first, last


def add_arguments(parser):
    parser.add_argument("collective", nargs="?", default="bcast", help=HELP)
    parser.add_argument(
        "--bytes",
        metavar="SIZES",
        help=(
            "of the message: 1M; several (8,4K,1M or 8:1M:8) or a range (8:1M, or 8: without an"
            " end) give a table (default: all sizes)"
        ),
    )
    parser.add_argument(
        "--ranks",
        type=ranks_of,
        metavar="N",
        help=(
            "ranks of the team, all on one node; a range (2:64) gives the table of all choices"
            " (default: with --bytes one per processor, else that table)"
        ),
    )
    parser.add_argument(
        "--map", choices=MAPS, default="core", help="how the ranks are bound (default: core)"
    )
    parser.add_argument(
        "--machine",
        default=machines.THIS,
        metavar="NAME",
        help="a machine that is described; list: which there are (default: this one)",
    )
    parser.add_argument(
        "--nodes",
        type=whole(2, 1 << 16),
        metavar="N",
        help="of a communicator that spans N nodes instead (default of --ranks then: N)",
    )
    parser.add_argument(
        "--json",
        action="store_true",
        help=(
            "the answer as JSON; of several sizes a list with an answer for each, of a range with"
            " one for the first size of each line of the table"
        ),
    )


def refuse(error):
    """Of a bad setting, which leaves all calls to the MPI; None: all are good."""
    if error:
        raise Trouble(f"{error}: huddle handles no calls", 2)


class Asked:
    """The question, but for the size."""

    def __init__(self, options, layout):
        found = find(layout, options.collective, "explain")
        self.layout, self.collective, self.map = layout, found.name, options.map
        self.unsized = found.unsized
        if self.unsized and options.bytes is not None:
            raise Trouble(
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

    def answer(self, size):
        return self.layout.ask(
            "explain", self.collective, str(size), str(self.ranks), self.map, *self.machine_words
        )

    def words(self):
        oversubscribed = (
            f", oversubscribed: more than its {self.processors} processors"
            if self.ranks > self.processors
            else ""
        )
        return (
            f"{count_text(self.ranks, 'rank')} {MAPS[self.map]}, on {self.machine}{oversubscribed}"
        )


def why_text(why, rests):
    """rests: what the row rests on, in words."""
    line = f"{why['by']}, line {why['line']}" if "line" in why else why["by"]
    line = f"{line}, and the time model" if why.get("model") else line
    return f"{line} ({rests})" if rests else line


def why_texts(asked, pieces, text=evidence.short_text):
    """why_text() of each piece."""
    series = evidence.of_pieces(asked.layout, pieces)
    whys = [piece["why"] for piece in pieces]
    return [why_text(why, text(why, series) if "evidence" in why else "") for why in whys]


def file_of(why):
    return why["file"] if why["by"] == "tuning file" else None


def show_one(asked, answer):
    size = "" if asked.unsized else f"{bytes_text(answer['bytes'])} "
    facts, serves, why = answer["facts"], answer["serves"], answer["why"]
    print(f"{size}{answer['collective']}, {asked.words()}")
    print(f"  serves   {choices.name_of(serves)}{': ' + serves['doc'] if serves else ''}")
    if serves and serves["parameters"]:
        print(f"  with     {parameters_text(serves)}")
    ordered = answer["ordered"] or []
    because, *whys = why_texts(asked, [answer, *ordered], evidence.long_text)
    print(f"  because  {because}{' of ' + file_of(why) if file_of(why) else ''}")
    for piece in answer["pieces"]:
        if piece.get("second") and cut(piece, answer["bytes"], answer["bytes"]):
            name = choices.name_of(piece["second"])
            print(
                f"  or       {name}, if that is faster in a team's first calls of a size"
                " (HUDDLE_ADAPT)"
            )
    for piece, in_order in zip(ordered, whys):
        if cut(piece, answer["bytes"], answer["bytes"]):
            print(
                f"  in order {choices.name_of(piece['serves'])}, {in_order}: of operations"
                " that do not commute"
            )
    groups = ", ".join(
        f"{level['groups']} by {level['level']}" if level["level"] != "team" else "one of all"
        for level in facts["groups"]
    )
    many = 'oversubscribed: more ranks than processors'
    print(
        f"  facts    {many if facts['oversubscribed'] else 'a processor for each rank'};"
        f" within one {facts['within']}{', divided by a level' if facts['divided'] else ''};"
        f" {single_copy_text(facts)} between ranks;"
        f"{' Intel processors;' if facts['intel'] else ''}"
        f" groups: {groups}"
    )
    slots = ", ".join(
        f"{slot['collective']}/{slot['algorithm']} {bytes_text(slot['bytes'])}"
        f"{' (shared)' if slot['shared'] else ''}"
        for slot in answer["lease"]["slots"]
    )
    print(
        f"  memory   {bytes_text(answer['lease']['bytes'])} of each"
        f" rank{': ' + slots if slots else ''}"
    )
    heading("Rules, in the order in which they are asked")
    table(
        ["rule", "algorithm", "verdict"],
        [
            [f"{rule['file']}:{rule['line']}", rule["algorithm"], rule["verdict"]]
            for rule in answer["rules"]
        ],
    )


def range_text(least, most):
    return f"{written(least)}-{written(most) if most is not None else ''}"


def show_axis(asked, pieces, low, high):
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


def show_pieces(asked, answer, low, high):
    print(f"{answer['collective']}, {asked.words()}")
    files = show_axis(asked, answer["pieces"], low, high)
    if answer["ordered"]:
        heading("Operations that do not commute")
        files |= show_axis(asked, answer["ordered"], low, high)
    for file in sorted(files - {None}):
        print(f"  tuning file: {file}")


def show_sizes(asked, sizes):
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


def asks_for_all(options):
    """All choices of a collective, not those of one team."""
    if options.ranks is None:
        return options.bytes is None
    return options.ranks[0] != options.ranks[1]


def show_choices(options, asked, sizes):
    if sizes.form == LISTED:
        raise Trouble(f"--bytes {options.bytes}: of many teams (accepted: a size, or LOW:HIGH)", 2)
    choices.explain(asked, options.ranks, (sizes.low, sizes.high), options.json)


def show(asked, sizes):
    if sizes.form == LISTED:
        show_sizes(asked, sizes.listed)
    elif asked.unsized or sizes.form == ONE:
        show_one(asked, asked.answer(sizes.low))
    else:
        show_pieces(asked, asked.answer(sizes.low), sizes.low, sizes.high)


def with_evidence(asked, answer):
    pieces = [*answer.get("pieces", ()), *(answer.get("ordered") or ())]
    return {**answer, "evidence": evidence.of_pieces(asked.layout, pieces)}


def as_json(options, asked, sizes):
    """The library's answer; of several sizes a list, of a range with one for each piece."""
    first = asked.answer(sizes.low)
    if options.bytes is None or sizes.form == ONE:
        return with_evidence(asked, first)
    ends = (cut(piece, sizes.low, sizes.high) for piece in first["pieces"])
    wanted = sizes.listed or [least for least, _ in filter(None, ends)]
    return [with_evidence(asked, asked.answer(one)) for one in wanted]


def main(options, _command, layout):
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
