# SPDX-License-Identifier: BSD-3-Clause
"""What huddle explain prints of one call: which algorithm serves it here, and why."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ..common import wisdom_place
from ..common.text import bytes_text, count_text, heading, parameters_text, single_copy_text, table
from . import choices, evidence, learned, served

if TYPE_CHECKING:
    from .command import Asked

# Kinds of calls -> their names, as words behind a choice.
KINDS = {
    served.EXACT: "of reductions whose bits do not depend on the order of the ranks",
    served.INEXACT: "of reductions whose bits depend on the order of the ranks",
    served.ORDERED: "of operations that do not commute",
}


class Group:
    """
    The kinds of a collective's calls with the same choices.  pieces: the algorithm for each range
    of sizes.
    """

    def __init__(self, kind: str, pieces: list[dict[str, Any]]) -> None:
        self.kinds, self.pieces = [kind], pieces

    @property
    def text(self) -> str:
        """
        Returns '' for calls without a name: calls of any kind, or all calls with a commutative
        operation.
        """
        is_usual = self.kinds[0] == "" or {served.EXACT, served.INEXACT} <= {*self.kinds}
        return "" if is_usual else " and ".join(KINDS[kind] for kind in self.kinds)


def groups(asked: Asked, answer: dict[str, Any]) -> list[Group]:
    """Returns the algorithms for the team's calls, with kinds of the same algorithm in a group."""
    found: list[Group] = []
    for kind in asked.kinds:
        pieces = asked.pieces(answer, kind)
        like = next((group for group in found if group.pieces == pieces), None)
        if like:
            like.kinds.append(kind)
        else:
            found.append(Group(kind, pieces))
    return found


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


def because_text(asked: Asked, piece: dict[str, Any]) -> str:
    (because,) = evidence.why_texts(asked.layout, [piece], evidence.long_text)
    file = evidence.file_of(piece["why"])
    return f"{because} of {file}" if file else because


def show_choice(asked: Asked, piece: dict[str, Any], kinds: str) -> None:
    """Prints the algorithm that serves a call, and the first choice without known choices."""
    serves = piece["serves"]
    words = [kinds, serves["doc"] if serves else ""]
    more = "".join(f": {text}" for text in words if text)
    print(f"  serves   {choices.name_of(serves)}{more}")
    if parameters := parameters_text(serves):
        print(f"  with     {parameters}")
    print(f"  because  {because_text(asked, piece)}")
    if first := piece.get("first"):
        print(f"  else     {choices.name_of(first['serves'])}, {because_text(asked, first)}")


def show_choices(asked: Asked, answer: dict[str, Any]) -> None:
    for group in groups(asked, answer):
        piece = served.at(group.pieces, answer["bytes"])
        if group.kinds != [served.ORDERED]:
            show_choice(asked, piece, group.text)
        else:
            because = because_text(asked, piece)
            print(f"  in order {choices.name_of(piece['serves'])}, {because}: {group.text}")


def unused_texts(asked: Asked, answer: dict[str, Any]) -> list[str]:
    """Returns the known choices for the call that are not used, and why."""
    if not asked.known:
        return []
    texts = []
    older = {id(line): why for line, why in asked.known.file.older}
    for kind in asked.kinds:
        used = asked.piece(answer, kind)["why"]
        others = learned.of_team((line for line, _ in asked.known.file.older), answer, kind)
        for line in (*asked.lines(answer, kind), *others):
            text = asked.text(line)
            if learned.is_about(line, answer["bytes"]) and text != used.get("text"):
                why = asked.known.unused or older.get(id(line))
                if why and why == asked.known.file.not_used:
                    why = "programs refuse the file"
                texts.append(f"{text}; not used: {why or 'not a candidate for such calls here'}")
    return list(dict.fromkeys(texts))


def show_known(asked: Asked, below_table: bool = False) -> None:
    """
    Prints the file of the known choices, and the remedy if a program refuses the file.
    below_table: prints nothing without a file, unless the user has named an MPI.
    """
    if not asked.known or (below_table and not asked.known.file.path and not asked.known.file.mpi):
        return
    known, file = asked.known, asked.known.file
    also = f"; others have: {', '.join(known.others)} (--mpi)" if known.others else ""
    refused = file.not_used or file.not_written
    if not file.path:
        mpi = f" with {file.mpi}" if file.mpi else ""
        print(f"  wisdom   nothing is learned here{mpi} yet; huddle tune measures now{also}")
        if known.elsewhere:
            files = count_text(known.elsewhere, "file")
            print(f"           not used: {files} of other machines (huddle wisdom)")
        return
    print(f"  wisdom   {file.mpi or file.path}{also}")
    if refused:
        does = "refuse this file" if file.not_used else "use this file, and add nothing to it"
        print(f"           programs {does}: {refused}")
        print(f"           {wisdom_place.remedy(file.path)}")
    elif file.older:
        cases = count_text(len(file.older), "case")
        print(f"           {cases} of other versions of algorithms: programs learn these again")


def tried_texts(asked: Asked, answer: dict[str, Any]) -> list[str]:
    """
    Lists the choices tried against the serving choice.  They include the first choice if a known
    choice serves.
    """
    algorithms, texts = asked.algorithms, []
    for group in groups(asked, answer):
        piece = served.at(group.pieces, answer["bytes"])
        if group.kinds == [served.ORDERED] or not piece["others"]:
            continue
        first = [algorithms.of_serves(piece["first"]["serves"])] if "first" in piece else []
        tried = [*first, *map(algorithms.of_text, piece["others"])]
        serves = algorithms.of_serves(piece["serves"])
        texts.append(", ".join(algorithms.text(one) for one in tried if one != serves))
    return list(dict.fromkeys(texts))


def show(asked: Asked, answer: dict[str, Any]) -> None:
    size = "" if asked.unsized else f"{bytes_text(answer['bytes'])} "
    facts = answer["facts"]
    print(f"{size}{answer['collective']}, {asked.words()}")
    show_choices(asked, answer)
    for text in unused_texts(asked, answer):
        print(f"  known    {text}")
    show_known(asked)
    for text in tried_texts(asked, answer):
        print(f"  or       tried against it (HUDDLE_WISDOM): {text}")
    if answer["no_room"]:
        algorithms = asked.algorithms
        named = ", ".join(algorithms.text(algorithms.of_text(name)) for name in answer["no_room"])
        print(f"  no room  in the communicator's memory (HUDDLE_LEASE), so not tried: {named}")
    levels = ", ".join(
        f"{level['groups']} by {level['level']}"
        if level["level"] != "team"
        else "all ranks in one group"
        for level in facts["groups"]
    )
    many = "oversubscribed: more ranks than processors"
    print(
        f"  facts    {many if facts['oversubscribed'] else 'a processor for each rank'};"
        f" within one {facts['within']}{', divided by a level' if facts['divided'] else ''};"
        f" {single_copy_text(facts)} between ranks;"
        f" groups: {levels}"
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
