# SPDX-License-Identifier: BSD-3-Clause
"""
Tables of choices: tuning files and the built-in table, a line per rule.  src/core/plan/rules.h has
the format.  The library refuses what is wrong in a file (Layout.tuning_error); this module only
reads what the library accepts.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from typing import NamedTuple

USUAL_NAME = "tuning.rules"
MACHINE, NETWORK = "machine", "network"  # lines that are no rules
FOLD = re.compile(r"\n(?![ \t]*->)")  # the end of a line that the next one does not continue
WIDTH = 100
WORD = re.compile(r'\s*([^\s=#]+)(?:=(?:"([^"]*)"|([^\s#]*)))?')


class Line(NamedTuple):
    """A rule, or a line about the whole file, which has no algorithm, and values as conditions."""

    name: str  # name of a collective, or MACHINE, or NETWORK
    conditions: dict[str, str]
    algorithm: str = ""
    params: dict[str, str] = {}
    notes: dict[str, str] = {}

    @property
    def is_rule(self) -> bool:
        return self.name not in (MACHINE, NETWORK)


def words_of(text: str) -> list[tuple[str, str]]:
    """
    Returns (name, value) of the words of a line without its comment.  The value is "" if a word has
    none.
    """
    found, at = [], 0
    while match := WORD.match(text, at):
        found.append((match[1], match[2] or match[3] or ""))
        at = match.end()
    return found


def parse(text: str) -> Line | None:
    """Parses a line.  Returns None if the line is empty or a comment."""
    words = words_of(text)
    if not words:
        return None
    (name, _), *words = words
    names = [word for word, _ in words]
    arrow = names.index("->") if "->" in names else len(names)
    bar = names.index("|") if "|" in names else len(names)
    return Line(
        name,
        dict(words[:arrow]),
        names[arrow + 1] if arrow + 1 < len(names) else "",
        dict(words[arrow + 2 : bar]),
        dict(words[bar + 1 :]),
    )


def word_text(name: str, value: str) -> str:
    return f'{name}="{value}"' if re.search(r"[\s#]", value) else f"{name}={value}"


def line_text(line: Line) -> str:
    """Formats the line so that `parse` reads an equal line."""
    words = [line.name, *(word_text(*pair) for pair in line.conditions.items())]
    if line.is_rule:
        words += ["->", line.algorithm, *(word_text(*pair) for pair in line.params.items())]
    notes = [word_text(*pair) for pair in line.notes.items()]
    return " ".join([*words, *(["|", *notes] if notes else [])])


def folded(line: Line) -> str:
    """Formats the line as in the built-in table, where no line is longer than 100 columns."""
    text = line_text(line)
    return text if len(text) <= WIDTH else text.replace(" -> ", "\n    -> ", 1)


def lines_in(text: str) -> list[str]:
    """Returns the lines of a text.  A rule in two lines (`folded`) is one of them."""
    return FOLD.split(text)


def content_of(path: str) -> list[str]:
    with open(path, encoding="utf-8", errors="replace") as file:
        return lines_in(file.read())


def values_of(path: str, name: str) -> dict[str, str] | None:
    """Returns the values of a file's line MACHINE or NETWORK, or None if the line is missing."""
    lines = (parse(text) for text in content_of(path))
    return next((line.conditions for line in lines if line and line.name == name), None)


def rules_of(path: str) -> list[Line]:
    return [line for line in map(parse, content_of(path)) if line and line.is_rule]


def split(texts: Iterable[str], wanted: Callable[[Line], bool]) -> tuple[list[str], list[str]]:
    """Returns (wanted lines with the comments right above them, all other lines)."""
    found: list[str] = []
    others: list[str] = []
    comments: list[str] = []
    for text in texts:
        if text.lstrip().startswith("#"):
            comments.append(text)
            continue
        line = parse(text)
        (found if line and wanted(line) else others).extend([*comments, text])
        comments = []
    return found, others + comments
