# SPDX-License-Identifier: BSD-3-Clause
"""
The whole choice of a collective as one table: a row for each range of ranks and of sizes that are
served alike, with what the row rests on.  The library makes the plans of all these teams.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

from ..common.exit_status import BAD_USE
from ..common.layout import CliError, Layout
from ..common.options import MAPS, MAX_TEAM
from ..common.sizes import written
from ..common.text import heading, single_copy_text, table
from . import evidence
from .sizes import cut

if TYPE_CHECKING:
    from .command import Asked

MODEL = "*"  # mark of a row that rests on a model
MIN_TABLE_RANKS = 64  # ranks up to which the table goes unless more are asked for


class Row:
    """
    A range of sizes of a band with the same choice: its ends at the band's first and last number
    of ranks.
    """

    def __init__(self, least: int, most: int | None, words: list[str], why: dict[str, Any]) -> None:
        self.least, self.most, self.words, self.whys = [least] * 2, [most] * 2, words, [why]

    def follows(self, other: Row) -> bool:
        """
        Returns whether the row continues another row, with the same words and the same sizes.  If
        both rows rest on the same rules, sizes may also only grow or only shrink with the number of
        ranks.
        """
        ends = [
            (*mine, others[1])
            for mine, others in ((self.least, other.least), (self.most, other.most))
        ]
        moves = self.whys == other.whys and all(
            a == b == c or (None not in (a, b, c) and (a >= b >= c or a <= b <= c))
            for a, b, c in ends
        )
        return self.words == other.words and (moves or all(a == b == c for a, b, c in ends))

    def extend(self, other: Row) -> None:
        self.least[1], self.most[1] = other.least[1], other.most[1]
        self.whys = other.whys

    def sizes_text(self) -> str:
        one = self.least == self.most
        return end_text(self.least) + ("" if one else f"-{end_text(self.most)}")


class Band:
    """A range of ranks with the same choices, at sizes that may depend on the number of ranks."""

    def __init__(self, band: dict[str, Any], rows: list[Row]) -> None:
        self.min_ranks, self.max_ranks = band["min_ranks"], band["max_ranks"]
        self.oversubscribed, self.rows = band["oversubscribed"], rows

    def takes(self, other: Band) -> bool:
        """
        Extends the band by the other band, which follows, if a single band can show both.  Returns
        whether the bands were joined.
        """
        good = (
            self.max_ranks + 1 == other.min_ranks
            and self.oversubscribed == other.oversubscribed
            and len(self.rows) == len(other.rows)
            and all(a.follows(b) for a, b in zip(self.rows, other.rows))
        )
        if good:
            self.max_ranks = other.max_ranks
            for mine, others in zip(self.rows, other.rows):
                mine.extend(others)
        return good


def rows_of(
    pieces: list[dict[str, Any]], words: Callable[..., Any], low: int, high: int | None
) -> list[Row]:
    """
    Returns the rows of pieces for the sizes from low to high.  high: None for no end.
    words(piece): the words of the row of a piece.
    """
    rows: list[Any] = []
    for piece in pieces:
        ends = cut(piece, low, high)
        if not ends:
            continue
        row = Row(*ends, words(piece), piece["why"])
        if rows and rows[-1].words == row.words:
            rows[-1].most = row.most
            rows[-1].whys += row.whys
        else:
            rows.append(row)
    return rows


def bands_of(
    answer: dict[str, Any], axis: str, words: Callable[..., Any], low: int, high: int | None
) -> list[Band]:
    bands: list[Any] = []
    for band in answer["bands"]:
        if band[axis] is None:
            continue
        new = Band(band, rows_of(band[axis], words, low, high))
        if not bands or not bands[-1].takes(new):
            bands.append(new)
    return bands


def range_text(first: int, last: int) -> str:
    return str(first) if first == last else f"{first}-{last}"


def end_text(ends: Sequence[int | None]) -> str:
    first, last = (written(end) if end is not None else "" for end in ends)
    return first if first == last else f"({first}..{last})"


def changed_text(serves: dict[str, Any], defaults: dict[tuple[str, str], int | str]) -> str:
    """Formats the parameters that differ from the algorithm's own."""
    pairs = serves["parameters"].items() if serves else ()
    return " ".join(
        f"{name}={written(value) if isinstance(value, int) else value}"
        for name, value in pairs
        if value != defaults[serves["algorithm"], name]
    )


def rests_text(why: dict[str, Any], series: dict[str, dict[str, Any]]) -> str:
    if why["by"] == "tuning file":
        return f"tuning file, line {why['line']}"
    if why["by"] != "built-in table":
        return why["by"]
    return (evidence.short_text(why, series) or "nothing") + (MODEL if why["model"] else "")


def defaults_of(layout: Layout, collective: str) -> dict[tuple[str, str], int | str]:
    """Returns {(algorithm, parameter): default value} of a collective."""
    return {
        (row["name"], parameter["name"]): (
            parameter["words"][parameter["default"] - parameter["min"]]
            if parameter["words"]
            else parameter["default"]
        )
        for row in layout.ask("info", "algorithms")
        if row["collective"] == collective
        for parameter in row["parameters"]
    }


def show_bands(bands: list[Band], asked: Asked) -> None:
    lines, free = [], "unbound" if asked.map == "none" else "bound"
    for band in bands:
        regime = "oversubscribed" if band.oversubscribed else free
        first = [range_text(band.min_ranks, band.max_ranks), regime]
        for row in band.rows:
            sizes = [] if asked.unsized else [row.sizes_text()]
            lines.append([*first, *sizes, *row.words])
            first = ["", ""]
    sized = [] if asked.unsized else ["bytes"]
    table(["ranks", "regime", *sized, "algorithm", "parameters", "rests on"], lines)
    if any("(" in line[2] for line in lines):
        print("  (A..B): A is for the first number of ranks, B for the last")
    if any(line[-1].endswith(MODEL) for line in lines):
        print(f"  {MODEL} where the time model predicts less time than for the next algorithm")


def show_evidence(series: dict[str, dict[str, Any]], folder: str) -> None:
    heading(f"Evidence, in {folder}")
    table(
        ["number", "kind", "what it shows"],
        [[n, s["kind"] or "", s["title"] or ""] for n, s in series.items()],
    )


def name_of(serves: dict[str, Any] | None) -> str:
    if not serves:
        return "the MPI's own"
    return serves["algorithm"] + (" (baseline)" if serves.get("baseline") else "")


def last_ranks(processors: int) -> int:
    return min(MAX_TEAM, max(MIN_TABLE_RANKS, 2 * processors))


def show(
    asked: Asked,
    answer: dict[str, Any],
    series: dict[str, dict[str, Any]],
    low: int,
    high: int | None,
) -> None:
    first, last = answer["bands"][0]["min_ranks"], answer["bands"][-1]["max_ranks"]
    defaults = defaults_of(asked.layout, asked.collective)

    shown: dict[Any, Any] = {}

    def words(piece: dict[str, Any]) -> list[str]:
        serves = piece["serves"]
        shown.update((n, series[n]) for n in evidence.numbers_of(piece["why"]))
        return [name_of(serves), changed_text(serves, defaults), rests_text(piece["why"], series)]

    print(f"{asked.collective}, {range_text(first, last)} ranks {MAPS[asked.map]}")
    direct = single_copy_text(answer)
    print(f"  on {asked.machine}: {answer['processors']} processors, {direct} between ranks")
    show_bands(bands_of(answer, "pieces", words, low, high), asked)
    ordered = bands_of(answer, "ordered", words, low, high)
    if ordered:
        heading("Operations that do not commute, where they are served in another way")
        show_bands(ordered, asked)
    shown = dict(sorted(shown.items(), key=evidence.order))
    if any(series["data"] for series in shown.values()):
        show_evidence(shown, asked.layout.evidence)
    whys = [piece["why"] for band in answer["bands"] for piece in band["pieces"]]
    for line in evidence.legend(shown):
        print(f"  {line}")
    known = asked.known and not asked.known.unused and asked.known.file.last
    if any(line.name == asked.collective for line in known or ()):
        print(f"  choices known here precede this table: huddle wisdom show {asked.collective}")
    for file in sorted({why["file"] for why in whys if why["by"] == "tuning file"}):
        print(f"  tuning file: {file}")


def explain(
    asked: Asked, ranks: tuple[int, int] | None, sizes: tuple[int, int | None], as_json: bool
) -> None:
    """
    Prints the choices of a collective.  ranks: (first, last), or None for all.  sizes: (low, high),
    where high is None for no end.
    """
    first, last = ranks or (2, last_ranks(asked.processors))
    if last > MAX_TEAM:
        raise CliError(f"--ranks {first}:{last}: not possible (accepted: 1 to {MAX_TEAM})", BAD_USE)
    answer = asked.layout.ask(
        "choices", asked.collective, str(first), str(last), asked.map, *asked.machine_words
    )
    pieces = [p for b in answer["bands"] for p in [*b["pieces"], *(b["ordered"] or ())]]
    series = evidence.of_pieces(asked.layout, pieces)
    if as_json:
        print(json.dumps({**answer, "evidence": series}, indent=2))
    else:
        show(asked, answer, series, *sizes)
