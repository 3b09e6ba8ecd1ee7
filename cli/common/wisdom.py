# SPDX-License-Identifier: BSD-3-Clause
"""
Wisdom files: what huddle has learned on this machine, a file for each MPI, in the user's cache
folder.  They have the form of tuning files (src/core/plan/rules.h), a line per cell.
"""

from __future__ import annotations

import os
import re
import stat
from collections.abc import Callable
from typing import NamedTuple

from . import rules
from .layout import CliError, Layout
from .rules import Line
from .sizes import number
from .text import count_text
from .wisdom_replace import locked

NAME = re.compile(r"wisdom-(.+)-([0-9a-f]{16})\.rules")
LARGEST = 256 << 10  # bytes of a file; if it grows beyond, its oldest lines go
LONGEST = 1024  # bytes of a line that is read (RULE_LINE of src/core/plan/rules.h)
HEAD = "# What huddle has learned on this machine; huddle wisdom prints it.\n"
ALIKE = ("processors", "cpu", "numa")  # words of the line `machine` on which times depend most
HOST = "mpi"  # the choice of the MPI's own collective


class Wisdom(NamedTuple):
    """
    A file of choices: its path, the values of its line `machine`, and its lines.  Of two lines
    about a cell, the first is the last decision, and the second is the winner in another state of
    the machine.  Unused lines are of another version of huddle or of an algorithm.
    """

    path: str
    machine: dict[str, str]
    cells: list[Line]
    others: tuple[str, ...] = ()  # lines that are not used
    wrong: str = ""  # what is wrong with the first line that is of no version
    unused: int = 0  # number of lines that are no decisions
    older: tuple[tuple[Line, str], ...] = ()  # those of another version of an algorithm, and why
    named: bool = False  # HUDDLE_WISDOM names the file
    here: bool = True  # programs on this machine look at the file
    elsewhere: bool = False  # it was measured on another machine
    not_used: str = ""  # the line with which programs refuse the file
    not_written: str = ""  # the line with which programs add nothing to the file

    @property
    def mpi(self) -> str:
        """
        Returns the MPI whose programs look at the file, such as 'Open MPI 4.1.4', or "" if it is
        not known.  In the user's folder the name of the file decides.
        """
        found = NAME.fullmatch(os.path.basename(self.path))
        measured = self.machine.get("mpi", "")
        return (
            measured
            if measured and (not found or alike_names(measured, found[1]))
            else (found[1] if found else "")
        )

    @property
    def last(self) -> list[Line]:
        """Returns the last decision about each cell."""
        return [lines[0] for lines in by_cell(self.cells).values()]

    @property
    def before(self) -> list[Line]:
        """Returns the winners in another state of the machine."""
        return [line for lines in by_cell(self.cells).values() for line in lines[1:]]


def alike_names(one: str, other: str) -> bool:
    """Returns whether two names are of the same MPI: 'Open MPI 4.1.4', 'openmpi-4.1.4'."""
    plain = [re.sub(r"[^a-z0-9.]", "", name.lower()) for name in (one, other)]
    return bool(plain[0]) and plain[0] == plain[1]


class Sizes(NamedTuple):
    low: int
    high: int | None  # None: no end


Key = tuple[str, frozenset[tuple[str, str]]]


def key(line: Line) -> Key:
    """
    Returns the collective and the conditions of a line, which distinguish its cell from all others.
    """
    return line.name, frozenset(line.conditions.items())


def by_cell(lines: list[Line]) -> dict[Key, list[Line]]:
    """Groups lines by cell, in their order."""
    found: dict[Key, list[Line]] = {}
    for line in lines:
        found.setdefault(key(line), []).append(line)
    return found


def range_of(text: str) -> Sizes:
    """Returns the range of a condition: '8', '32769-64K' or '9-'."""
    low, dash, high = text.partition("-")
    return Sizes(number(low), number(high) if high else None if dash else number(low))


def sizes(line: Line) -> Sizes | None:
    """Returns the sizes of a line, or None if the collective has none."""
    return range_of(line.conditions["bytes"]) if "bytes" in line.conditions else None


def ranks(line: Line) -> Sizes | None:
    """Returns the numbers of ranks of a line, or None if it is about all."""
    return range_of(line.conditions["ranks"]) if "ranks" in line.conditions else None


def timed(word: str) -> tuple[str, int] | None:
    """
    Returns the name and the nanoseconds of a word: ('queue', 5800) of 'queue:5800', None of ''.
    """
    name, colon, ns = word.rpartition(":")
    return (name, int(ns)) if colon and ns.isdecimal() else None


def count(line: Line, note: str) -> int:
    """Returns the number in a note, or 0 if the line has no such note."""
    return int(line.notes.get(note, "") or 0)


def samples_text(line: Line) -> str:
    """
    Formats how much was measured: 'from 214 samples of this case'.  They are of all candidates.
    """
    return f"from {count_text(count(line, 'samples'), 'sample')} of this case"


def choice_text(line: Line) -> str:
    """Formats the choice of a line: 'queue budget=128K'."""
    return " ".join([line.algorithm, *(rules.word_text(*pair) for pair in line.params.items())])


# ---- reading ----


def refuse(path: str, why: str, accepted: str) -> CliError:
    return CliError(f"{path}: {why} (accepted: {accepted})")


def content_of(path: str, own: bool) -> str:
    """
    Returns the text of a wisdom file.  Raises CliError if the file cannot be read.  own: accept
    only a file of this user or of root, and no symbolic link.
    """
    try:
        handle = os.open(path, os.O_RDONLY | os.O_NONBLOCK | (os.O_NOFOLLOW if own else 0))
        with open(handle, "rb") as file:
            about = os.fstat(handle)
            if not stat.S_ISREG(about.st_mode):
                raise refuse(path, "not a regular file", "a wisdom file")
            if own and about.st_uid not in (os.geteuid(), 0):
                raise refuse(path, "it belongs to another user", "a file of your own, or root's")
            data = file.read(LARGEST + 1)
    except OSError as error:
        link = own and os.path.islink(path)
        why = "it is a symbolic link" if link else f"cannot be read: {error.strerror}"
        raise refuse(path, why, "a wisdom file") from error
    if len(data) > LARGEST:
        raise refuse(path, "too large", f"at most {LARGEST >> 10} KB")
    return data.decode("utf-8", "replace")


def finished(text: str) -> str:
    """
    Removes an unfinished last line, which no writer leaves, but a crash of the machine may.  A text
    without any end of a line is kept.
    """
    return text[: text.rfind("\n") + 1] or text


def is_kept(words: str) -> bool:
    """
    Returns whether an unused line is kept: the line must be text, and no longer than the library
    reads.
    """
    plain = words.replace("\t", " ").rstrip("\r")
    is_text = plain.isprintable() and "\ufffd" not in plain
    return is_text and len(words.encode()) < LONGEST


def read(
    layout: Layout, path: str, own: bool = True, named: bool = False, mpi: str | None = None
) -> Wisdom:
    """
    Reads a wisdom file.  Raises CliError if the file cannot be read.  The library says which lines
    programs use.  own: as in content_of(); a file made by a user need not end with the end of a
    line.  named: HUDDLE_WISDOM names the file.  mpi: the program's MPI; None: the file's MPI.
    """
    text = content_of(path, own)
    lines = (finished(text) if own else text).split("\n")
    parsed = [
        (at, words, line) for at, words in enumerate(lines, 1) if (line := rules.parse(words))
    ]
    machine = next((line.conditions for *_, line in parsed if line.name == rules.MACHINE), {})
    found = Wisdom(path, machine, [], named=named)
    answer = layout.ask(
        *("lines", path, found.mpi if mpi is None else mpi, "named" if named else "cache"),
        stdin="\n".join(lines),
    )
    used, other = set(answer["lines"]), {row["line"]: row["why"] for row in answer["other"]}
    rest = [
        (at, words, line)
        for at, words, line in parsed
        if at not in used and line.name != rules.MACHINE
    ]
    return found._replace(
        cells=[line for at, _, line in parsed if at in used],
        others=tuple(
            words for _, words, line in rest if line.name != rules.NETWORK and is_kept(words)
        ),
        wrong=f"{answer['error']}; such lines are not used" if answer["error"] else "",
        unused=len(rest),
        older=tuple((line, other[at]) for at, _, line in rest if at in other),
        elsewhere=answer["elsewhere"],
        not_used=answer["not_used"],
        not_written=answer["not_written"],
    )


# ---- writing ----


def age(line: Line) -> str:
    """Returns the date of a line as a key for sorting, oldest first."""
    return line.notes.get("date", "")


def text(found: Wisdom, head: str = HEAD, others: tuple[str, ...] = ()) -> str:
    """
    Formats a file.  Leaves out its oldest lines if the text would be too large.  others: more
    lines, which a tuning file must not have if the library does not use them.
    """
    if found.machine:
        head += rules.line_text(Line(rules.MACHINE, found.machine)) + "\n"
    lines = [rules.line_text(cell) + "\n" for cell in found.cells]
    lines += [f"{other}\n" for other in others]
    ages = list(map(age, found.cells))
    ages += [age(line) if (line := rules.parse(other)) else "" for other in others]
    left = LARGEST - len(head.encode())
    kept = set()
    for i in sorted(range(len(lines)), key=ages.__getitem__, reverse=True):
        left -= len(lines[i].encode())
        if left < 0:
            break
        kept.add(i)
    return head + "".join(line for i, line in enumerate(lines) if i in kept)


def update(
    layout: Layout, at: Wisdom, change: Callable[[Wisdom | None], Wisdom | None]
) -> Wisdom | None:
    """
    Replaces a file by the result of change(), and returns the result.  Unused lines stay.  change()
    gets None if there is no such file.  Removes the file, and returns None, if no line is left.
    at: the file, for a program of this MPI.
    """
    path = at.path
    with locked(path) as replace:
        old = read(layout, path, named=at.named, mpi=at.mpi) if os.path.lexists(path) else None
        found, others = change(old), old.others if old else ()
        if found and (found.cells or others):
            replace(text(found, others=others))
            return found
        if os.path.lexists(path):
            os.unlink(path)
    return None


def forget(layout: Layout, found: Wisdom, names: list[str]) -> int:
    """Removes the cells of these collectives.  Returns how many there were."""
    gone: list[Line] = []

    def change(old: Wisdom | None) -> Wisdom | None:
        gone.extend(line for line in (old.cells if old else ()) if line.name in names)
        return old and old._replace(cells=[line for line in old.cells if line.name not in names])

    update(layout, found, change)
    return len(by_cell(gone))


# ---- several files ----


def alike(one: Wisdom, other: Wisdom) -> bool:
    """Returns whether two files are of machines of the same kind, and of the same MPI."""
    keys = [word for word in (*ALIKE, "mpi") if word in one.machine and word in other.machine]
    return all(one.machine[word] == other.machine[word] for word in keys)


def machine_text(machine: dict[str, str]) -> str:
    """Formats a machine: '2 processors, AMD EPYC'."""
    forms = {"processors": "{} processors", "cpu": "{}", "virtual": "virtual ({})"}
    return ", ".join(form.format(machine[word]) for word, form in forms.items() if word in machine)
