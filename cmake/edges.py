#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Reads the edges of an algorithm from its source: its head's declarations and the labelled calls.

In the head comment `R1 -> A1` declares that everything before the calls labelled R1 happens before
everything after the calls labelled A1.  In the code mem_post and net_send carry /* Rn */,
mem_await, mem_peek and net_arrived carry /* An */, and mem_add carries either or both, on the line
of the call.

usage: edges.py OUTPUT SRC [LAB]     writes a C table of the labels of all waits below the folders
SRC and LAB: file, line, label
"""

import pathlib
import re
import sys
from typing import NamedTuple

PROTOCOLS = ("alg/window.c", "core/watch/rollcall.c", "core/slice/team_leave.c")
CALL = re.compile(r"\b(?:mem|net)_(post|await|peek|add|send|arrived)(?:_cell)?\s*\(")
COMMENT = re.compile(r"/\*(.*?)\*/")
LABEL = re.compile(r"\b([RA]\d+)\b")
EDGE = re.compile(r"\b(R\d+) -> (A\d+)\b")


def full_name(call):
    """Returns the full name of a call that a site names."""
    return ("net_" if call in ("send", "arrived") else "mem_") + call


class Site(NamedTuple):
    """A line of code that posts or waits."""

    line: int
    call: str  # "post", "await", ...
    labels: tuple


def read(path):
    """
    Returns the declared edges of a file, and its sites.  A line with labels but no call is a site
    with call ''.
    """
    text = pathlib.Path(path).read_text(encoding="utf-8")
    # The head is the first comment after the licence line.
    comments = [m for m in re.finditer(r"/\*.*?\*/", text, re.S) if "SPDX" not in m[0]]
    head = comments[0].end() if comments else 0
    edges = EDGE.findall(text[:head])
    sites = []
    for number, line in enumerate(text[head:].splitlines(), text[:head].count("\n") + 1):
        labels = tuple(
            label
            for comment in COMMENT.findall(line)
            if re.fullmatch(r"[RA\d,\s]+", comment)
            for label in LABEL.findall(comment)
        )
        calls = CALL.findall(COMMENT.sub("", line))
        if calls or labels:
            sites.append(Site(number, calls[0] if len(calls) == 1 else ",".join(calls), labels))
    return edges, sites


def algorithms(folder):
    """Returns the algorithms below a folder, and the headers of families that post or wait."""
    shared = [path for path in sorted(folder.glob("alg/*/*.h")) if read(path)[1]]
    return sorted(folder.glob("alg/*/*.c")) + shared


def files(src, lab=None):
    """
    Returns the algorithms of both folders, and the protocols around them.  lab: the laboratory's
    folder, or None.
    """
    more = algorithms(lab) if lab else []
    return algorithms(src) + more + [src / name for name in PROTOCOLS]


def place(path, src):
    """Returns the name of a file in messages: below src, or from lab on."""
    return path.relative_to(src if src in path.parents else src.parent).as_posix()


def main(output, *folders):
    src, *lab = map(pathlib.Path, folders)
    rows = [
        f'{{ "{place(path, src)}", {site.line}, "{", ".join(site.labels)}" }},'
        for path in files(src, *lab)
        for site in read(path)[1]
        if site.call and site.labels
    ]
    text = "/* Written by edges.py: where the source posts and waits. */\n" + "\n".join(rows) + "\n"
    target = pathlib.Path(output)
    if not target.exists() or target.read_text(encoding="utf-8") != text:
        target.write_text(text, encoding="utf-8")


if __name__ == "__main__":
    main(*sys.argv[1:])
