# SPDX-License-Identifier: BSD-3-Clause
"""
Names for the addresses from which collectives are called: file and line where the program has
them (addr2line), else the function, else the place in its file.
"""

from __future__ import annotations

import os
import shutil
import subprocess
from collections import defaultdict
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from ..common.records import Rank

LIMIT_S = 20


def output_of(words: list[str], given: str = "") -> list[str]:
    """
    Returns the lines that a compiler's tool prints.  Returns no lines if the tool is missing or
    takes too long.
    """
    tool = shutil.which(words[0])
    if not tool:
        return []
    try:
        answer = subprocess.run(
            [tool, *words[1:]],
            input=given,
            capture_output=True,
            text=True,
            timeout=LIMIT_S,
            check=False,
        )
    except (OSError, subprocess.TimeoutExpired):
        return []
    return answer.stdout.splitlines()


def lines_of(path: str, offsets: list[int]) -> dict[Any, Any]:
    """Returns {offset: "solver.c:120 in step"} for the offsets that addr2line knows."""
    if not os.path.isfile(path):
        return {}
    # the call is before the address to which it returns; programs that are no PIE begin elsewhere
    words = [hex(offset - 1) for offset in offsets]
    found, lines = {}, output_of(["addr2line", "-f", "-C", "-e", path, *words])
    for offset, function, place in zip(offsets, lines[::2], lines[1::2]):
        file, _, line = place.partition(" ")[0].rpartition(":")
        if line.isdecimal() and file and not file.startswith("??"):
            name = f"{os.path.basename(file)}:{line}"
            found[offset] = name if function.startswith("??") else f"{name} in {function}"
    return found


def demangled(words: set[Any]) -> dict[Any, Any]:
    """Returns {mangled name: name as in the source} of C++ functions."""
    mangled = sorted(name for name in words if name.startswith("_Z"))
    return dict(zip(mangled, output_of(["c++filt", "-p"], "\n".join(mangled) + "\n")))


def names(ranks: list[Rank]) -> dict[tuple[str, int, str], str]:
    """Returns {caller: words} of all callers."""
    by_file = defaultdict(set)
    for rank in ranks:
        for cell in rank.cells:
            by_file[cell.caller[0]].add(cell.caller[1])
    known = {path: lines_of(path, sorted(offsets)) for path, offsets in by_file.items() if path}
    read = demangled({cell.caller[2] for rank in ranks for cell in rank.cells if cell.caller[2]})
    words = {}
    for rank in ranks:
        for path, offset, function in {cell.caller for cell in rank.cells}:
            place = f"{os.path.basename(path) or 'unknown'}+{offset:#x}"
            plain = read.get(function, function) or place
            words[path, offset, function] = known.get(path, {}).get(offset, plain)
    return words
