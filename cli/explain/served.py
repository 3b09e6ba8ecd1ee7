# SPDX-License-Identifier: BSD-3-Clause
"""
What serves a team's calls here: a known choice, where a wisdom file has one, and else the library's
first choice.  src/core/call/learn.c decides alike.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from ..common import wisdom
from ..common.rules import Line
from ..common.sizes import number, written
from . import learned
from .learned import Known
from .sizes import cut

LEARNED = "learned"  # the reason "by" of a known choice
OWN = "the MPI's own"
EXACT, INEXACT, ORDERED = "exact", "inexact", "ordered"  # kinds of reductions

Choice = tuple[str, frozenset[tuple[str, str]]]
Piece = dict[str, Any]


class Algorithms:
    """The algorithms of a collective: {name: row of `query info algorithms`}."""

    def __init__(self, rows: Iterable[dict[str, Any]], collective: str) -> None:
        self.rows = {row["name"]: row for row in rows if row["collective"] == collective}

    def presets(self, name: str) -> dict[str, str]:
        return {
            p["name"]: str(p["words"][p["default"] - p["min"]] if p["words"] else p["default"])
            for p in self.rows[name]["parameters"]
        }

    def choice(self, name: str, parameters: dict[str, Any]) -> Choice:
        """Returns an algorithm with the parameters that differ from its presets."""
        presets = self.presets(name) if name in self.rows else {}
        values = {word: plain(str(value)) for word, value in parameters.items()}
        return name, frozenset(pair for pair in values.items() if presets.get(pair[0]) != pair[1])

    def of_serves(self, serves: dict[str, Any] | None) -> Choice:
        if not serves:
            return wisdom.HOST, frozenset()
        return self.choice(serves["algorithm"], serves["parameters"])

    def of_text(self, text: str) -> Choice:
        """Returns the choice that a text such as 'queue budget=131072' names."""
        name, *words = text.split()
        return self.choice(name, dict(word.split("=", 1) for word in words))

    def text(self, choice: Choice) -> str:
        """Formats a choice as a file has it: 'queue budget=128K'."""
        name, pairs = choice
        order = list(self.presets(name)) if name in self.rows else []
        words = sorted(pairs, key=lambda pair: order.index(pair[0]) if pair[0] in order else 0)
        texts = [f"{word}={written(int(v)) if v.isdecimal() else v}" for word, v in words]
        return " ".join([OWN if name == wisdom.HOST else name, *texts])

    def serves(self, line: Line) -> dict[str, Any] | None:
        """Returns the choice of a line in the form of the library's answers."""
        if line.algorithm not in self.rows:
            return None
        row, presets = self.rows[line.algorithm], self.presets(line.algorithm)
        values = {**presets, **{name: plain(value) for name, value in line.params.items()}}
        return {
            "algorithm": row["name"],
            "doc": row["doc"],
            "baseline": row["baseline"],
            "parameters": {name: int(v) if v.isdecimal() else v for name, v in values.items()},
        }


def plain(value: str) -> str:
    """Returns a value without a unit: '131072' of '128K'."""
    return str(number(value)) if value[:1].isdecimal() else value


def known_piece(algorithms: Algorithms, known: Known, line: Line, piece: Piece) -> Piece:
    """Returns the part of a piece that a line serves."""
    text = learned.text(known.file.mpi, line, known.where)
    why = {"by": LEARNED, "file": known.file.path, "text": text}
    return {**piece, "serves": algorithms.serves(line), "why": why, "first": piece}


def may_serve(algorithms: Algorithms, line: Line, piece: Piece) -> bool:
    """Returns whether the choice of a line is one of the candidates of a piece."""
    names = {algorithms.of_serves(piece["serves"]), *map(algorithms.of_text, piece["others"])}
    return algorithms.choice(line.algorithm, line.params) in names


def split(
    algorithms: Algorithms, known: Known | None, lines: Iterable[Line], pieces: list[Piece]
) -> list[Piece]:
    """Cuts the library's pieces where known choices serve.  lines: those about the team's calls."""
    if known is None or known.unused:
        return pieces
    for line in lines:
        sizes = wisdom.sizes(line) or wisdom.Sizes(0, None)
        pieces = [
            part for piece in pieces for part in cut_out(algorithms, known, line, sizes, piece)
        ]
    return pieces


def cut_out(
    algorithms: Algorithms, known: Known, line: Line, sizes: wisdom.Sizes, piece: Piece
) -> list[Piece]:
    ends = cut(piece, *sizes)
    if not ends or piece["why"]["by"] == LEARNED or not may_serve(algorithms, line, piece):
        return [piece]
    low, high = ends
    parts = []
    if piece["min_bytes"] < low:
        parts.append({**piece, "max_bytes": low - 1})
    inner = {**piece, "min_bytes": low, "max_bytes": high}
    parts.append(known_piece(algorithms, known, line, inner))
    if high is not None and high != piece["max_bytes"]:
        parts.append({**piece, "min_bytes": high + 1})
    return parts


def at(pieces: list[Piece], size: int) -> Piece:
    return next(piece for piece in pieces if cut(piece, size, size))
