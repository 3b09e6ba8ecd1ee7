# SPDX-License-Identifier: BSD-3-Clause
"""
Does what CONTRIBUTING.md says about adding an algorithm, in a copy of the tree.  worked_example.py
SOURCE SCRATCH

The file and the row are taken from the text; the checker, its mutations, the lint of edges, the
layout and a team of processes judge them.
"""

import os
import re
import shutil
import subprocess
import sys

import tree

FILE = "src/alg/barrier/ring.c"


def run(copy, *words, **environment):
    print("$", *words, flush=True)
    subprocess.run(words, cwd=copy, env={**os.environ, **environment}, check=True)


def blocks(text):
    """The C blocks: the file, and the row."""
    found = re.findall(r"^```c\n(.*?)^```", text, re.DOTALL | re.MULTILINE)
    assert (
        len(found) == 2 and found[0].count("\n") > 20
    ), "CONTRIBUTING.md should have two C blocks: the file, then its row"
    return found


def main(source, scratch):
    copy = os.path.join(scratch, "tree")
    shutil.rmtree(scratch, ignore_errors=True)
    for path in tree.files(source):
        os.makedirs(os.path.dirname(os.path.join(copy, path)), exist_ok=True)
        shutil.copy2(os.path.join(source, path), os.path.join(copy, path))
    algorithm, row = blocks(tree.read(source, "CONTRIBUTING.md"))
    with open(os.path.join(copy, FILE), "w", encoding="utf-8") as file:
        file.write(algorithm)
    rows = tree.read(source, "src/alg/alg.def").replace("ALG(bcast,", row + "ALG(bcast,", 1)
    with open(os.path.join(copy, "src/alg/alg.def"), "w", encoding="utf-8") as file:
        file.write(rows)
    run(
        copy,
        "cmake",
        "-S",
        ".",
        "-B",
        "build",
        "-G",
        "Ninja",
        "-DHUD_WERROR=ON",
        "-DHUD_TEST_ONLY=sim",
    )
    run(copy, "cmake", "--build", "build", "--target", "sim_check", "example_team")
    run(copy, sys.executable, "tests/lint/lint_edges.py", FILE)
    run(copy, "build/test/sim_check", "--algorithm", "barrier/ring", "--seeds", "5")
    run(copy, sys.executable, "tests/sim/mutate.py", "--checker", "build/test/sim_check", FILE)
    run(copy, "build/examples/team", "8", HUDDLE_BARRIER="ring")
    shutil.rmtree(scratch)


if __name__ == "__main__":
    main(os.path.abspath(sys.argv[1]), os.path.abspath(sys.argv[2]))
