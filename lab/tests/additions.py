# SPDX-License-Identifier: BSD-3-Clause
"""
Simulates the algorithm and the collective that tests/additions/copied.py has added to a copy of the
tree.  The commands for the algorithm are those of docs/howto/adding-an-algorithm.md.

usage: additions.py SCRATCH
"""

import os
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(HERE, "..", "..", "tests", "additions"))
from copied import NAME, PAGE, run, tree
from worked_example import LABORATORY, check_figure, commands

WORDS = "--machine kunpeng-920 --ranks 8 --bytes 8 --algorithm whole"


def main(scratch):
    copy = os.path.join(scratch, "tree")
    own = [line for line in commands(tree.read(copy, PAGE)) if line.startswith(LABORATORY)]
    assert own, f"{PAGE} simulates nothing"
    for command in own:
        check_figure(run(copy, command))
    answer = run(copy, f"{LABORATORY}simulate {NAME} {WORDS}")
    assert "whole" in answer, f"{NAME} is not simulated"


if __name__ == "__main__":
    main(os.path.abspath(sys.argv[1]))
