# SPDX-License-Identifier: BSD-3-Clause
"""
Follows the instructions of docs/howto/adding-an-algorithm.md, in the copy of the tree that
copied.py has made and built.

usage: worked_example.py SCRATCH

The commands of steps 3 and 4 are taken from the text.  The lint of edges, the checker, its
mutations, a team of processes and, if there is an Open MPI, the bench judge the algorithm.
lab/tests/additions.py runs the commands of the laboratory.
"""

import os
import re
import shutil
import sys

from copied import PAGE, run, tree

# Changes that make a command of the text shorter here.  Ranks that are not bound have figures on
# any cores of a virtual machine's host.
LABORATORY = "build/bin/huddle lab "  # begin of its commands
SHORTER = {
    "build/test/sim_check": ("--seeds 20", "--seeds 5"),
    "build/bin/huddle bench": ("--launches 7", "--launches 1 --shots 5 --ranks 2 --bind none"),
}


def commands(text):
    """Returns the commands of steps 3 and 4, without the build."""
    steps = text[text.index("**3. ") : text.index("**5. ")]
    found = re.findall(r"^```\n(.*?)^```", steps, re.DOTALL | re.MULTILINE)
    lines = [line for line in "".join(found).splitlines() if not line.startswith("cmake ")]
    for begin in SHORTER:
        assert any(line.startswith(begin) for line in lines), f"no {begin} in steps 3 and 4"
    return lines


def shortened(command):
    for begin, (long, short) in SHORTER.items():
        if command.startswith(begin):
            assert long in command, f"'{long}' is not in: {command}"
            return command.replace(long, short)
    return command


def check_figure(printed):
    assert re.search(r"\bring\b.*\d", printed), "no figure of ring"


def main(scratch):
    copy = os.path.join(scratch, "tree")
    bench = os.path.exists(os.path.join(copy, "build/libexec/huddle/bench-openmpi"))
    for command in commands(tree.read(copy, PAGE)):
        if command.startswith(LABORATORY):
            continue
        if command.startswith("build/bin/huddle bench") and not (bench and shutil.which("mpirun")):
            print(f"skipped, no Open MPI: {command}")
            continue
        printed = run(copy, shortened(command))
        if "/sim_check --algorithm" in command:
            assert re.search(r"\([1-9]\d* truncated\)", printed), "no truncated message was tried"
        if command.startswith("build/bin/huddle"):
            check_figure(printed)


if __name__ == "__main__":
    main(os.path.abspath(sys.argv[1]))
