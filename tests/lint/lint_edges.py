#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""
Edges of the algorithms: every call that posts or waits has the label of its edge, and the file's
head declares each edge.

usage: lint_edges.py [FILE...]     (default: all algorithms, and the core's protocols)

cmake/edges.py describes how edges are declared and labelled.  One label may be on several lines.
"""

import pathlib
import sys

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "cmake"))
from edges import files, full_name, read  # also used to make the library's table of labels

WANTED = {
    "post": ({"R"},),
    "send": ({"R"},),
    "await": ({"A"},),
    "peek": ({"A"},),
    "arrived": ({"A"},),
    "add": ({"R"}, {"A"}, {"R", "A"}),
}


def complaints(path):
    edges, sites = read(path)
    used = {label for site in sites for label in site.labels}
    declared = {label for edge in edges for label in edge}
    for site in sites:
        kinds = [label[0] for label in site.labels]
        if site.call == "":
            yield site.line, f"label {', '.join(site.labels)} on a line without a call"
        elif site.call not in WANTED:
            yield site.line, f"{site.call}: one call a line, so that its label is plain"
        elif set(kinds) not in WANTED[site.call] or len(kinds) != len(set(kinds)):
            what = " or ".join(
                "".join(f"/* {kind}n */" for kind in sorted(kinds))
                for kinds in WANTED[site.call][:2]
            )
            yield site.line, f"{full_name(site.call)} needs {what}"
    for label in sorted(declared - used):
        yield 1, f"edge {label} is declared in the head and used nowhere"
    for label in sorted(used - declared):
        yield 1, f"edge {label} is used and not declared in the head"


def main(paths):
    bad = 0
    for path in paths or files(ROOT / "src", ROOT / "lab"):
        for line, what in complaints(path):
            print(f"{path}:{line}: {what}")
            bad = 1
    return bad


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
