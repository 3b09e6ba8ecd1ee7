#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Edges of the algorithms: every call that posts or waits carries the label of its edge, and the file's head declares each edge.

usage: lint_edges.py [FILE...]     (none: all algorithms, and the core's protocols)

In the head comment `R1 -> A1` declares that what precedes the calls labelled R1 happens before what follows the calls labelled A1.
In the code mem_post carries /* Rn */, mem_await and mem_peek carry /* An */, mem_add carries one of either or both; on the line of the call.
One label may stand on several lines.
"""
import pathlib
import re
import sys
from typing import NamedTuple

PROTOCOLS = ("rollcall.c", "vacate.c")
ROOT = pathlib.Path(__file__).resolve().parents[2]
CALL = re.compile(r"\bmem_(post|await|peek|add)\s*\(")
COMMENT = re.compile(r"/\*(.*?)\*/")
LABEL = re.compile(r"\b([RA]\d+)\b")
EDGE = re.compile(r"\b(R\d+) -> (A\d+)\b")
WANTED = {"post": ({"R"},), "await": ({"A"},), "peek": ({"A"},), "add": ({"R"}, {"A"}, {"R", "A"})}


class Site(NamedTuple):
    """A line of code that posts or waits."""
    line: int
    call: str  # "post", "await", ...
    labels: tuple


def read(path):
    """The declared edges of a file, and its sites; a line that has labels but no call is a site with call ''."""
    text = pathlib.Path(path).read_text(encoding="utf-8")
    # the head is the first comment after the licence line
    comments = [m for m in re.finditer(r"/\*.*?\*/", text, re.S) if "SPDX" not in m[0]]
    head = comments[0].end() if comments else 0
    edges = EDGE.findall(text[:head])
    sites = []
    for number, line in enumerate(text[head:].splitlines(), text[:head].count("\n") + 1):
        labels = tuple(label for comment in COMMENT.findall(line) if re.fullmatch(r"[RA\d,\s]+", comment) for label in LABEL.findall(comment))
        calls = CALL.findall(COMMENT.sub("", line))
        if calls or labels:
            sites.append(Site(number, calls[0] if len(calls) == 1 else ",".join(calls), labels))
    return edges, sites


def complaints(path):
    edges, sites = read(path)
    used = {label for site in sites for label in site.labels}
    declared = {label for edge in edges for label in edge}
    for site in sites:
        kinds = [label[0] for label in site.labels]
        if site.call == "":
            yield site.line, f"label {', '.join(site.labels)} on a line without a call"
        elif site.call not in WANTED:
            yield site.line, f"mem_{site.call}: one call a line, so that its label is plain"
        elif set(kinds) not in WANTED[site.call] or len(kinds) != len(set(kinds)):
            what = " or ".join("".join(f"/* {kind}n */" for kind in sorted(kinds)) for kinds in WANTED[site.call][:2])
            yield site.line, f"mem_{site.call} needs {what}"
    for label in sorted(declared - used):
        yield 1, f"edge {label} is declared in the head and used nowhere"
    for label in sorted(used - declared):
        yield 1, f"edge {label} is used and not declared in the head"


def labelled_files():
    """Algorithms, what they share that posts or waits, and the core's protocols."""
    shared = [path for path in sorted(ROOT.glob("src/alg/*.h")) if read(path)[1]]
    return sorted(ROOT.glob("src/alg/*/*.c")) + shared + [ROOT / "src/core" / name for name in PROTOCOLS]


def main(paths):
    bad = 0
    for path in paths or labelled_files():
        for line, what in complaints(path):
            print(f"{path}:{line}: {what}")
            bad = 1
    return bad


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
