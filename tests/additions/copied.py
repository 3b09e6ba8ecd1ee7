# SPDX-License-Identifier: BSD-3-Clause
"""
Makes and builds a copy of the tree in which an algorithm and a collective are added.

usage: copied.py SOURCE SCRATCH

The algorithm is the one that docs/howto/adding-an-algorithm.md adds: its file is
examples/algorithm/ring.c, its row is taken from the text.  The collective is made up: its files are
in neighbor_alltoall/, its rows are below.  Both are in one copy, which is built once;
worked_example.py and made_up.py try it.
"""

import os
import re
import shutil
import subprocess
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(HERE, "..", "lint"))
import tree

PAGE = "docs/howto/adding-an-algorithm.md"
ALGORITHM = "src/alg/bcast/ring.c"
NAME = "neighbor_alltoall"
# The changes that add the collective: files, then rows of tables, each inserted before the first
# line with this beginning.
SOURCES = {"meaning.c": f"src/coll/{NAME}.c", "whole.c": f"src/alg/{NAME}/whole.c"}
ROWS = {
    "src/coll/coll.def": (
        "COLL(ALLGATHER,",
        f'COLL({NAME.upper()}, {NAME}, "MPI_Neighbor_alltoall", NULL, COLL_BLOCKS,'
        ' "exchanges with neighbors")\n',
    ),
    "src/alg/alg.def": ("ALG(bcast,", f"ALG({NAME}, whole)\n"),
    "src/host/signatures.def": (
        "HANDLED_BLOCKS(Alltoall,",
        f"HANDLED_BLOCKS(Neighbor_alltoall, {NAME}, {NAME.upper()},"
        " in, ins, in_type, out, outs, out_type, comm)\n",
    ),
}
# The collective's row replaces this row, which falls back to the MPI.
REPLACED = ("src/host/signatures.def", "NEIGHBORS(Alltoall,")
TARGETS = ("sim_check", "example_team", "query", "huddle_loader", "huddle_launch")
IF_THERE = re.compile(
    r"^(bench_openmpi|openmpi-[\d.]+|huddle_mpich|simulate|model)$", re.MULTILINE
)  # targets, with an MPI, or with the laboratory


def run(copy, command):
    """Runs a command and returns its output, which is printed if the command fails."""
    print("$", command, flush=True)
    words = ["bash", "-c", command]
    out, both = subprocess.PIPE, subprocess.STDOUT
    done = subprocess.run(words, cwd=copy, stdout=out, stderr=both, text=True, check=False)
    if done.returncode != 0:
        print(done.stdout, flush=True)
        sys.exit(f"status {done.returncode}: {command}")
    return done.stdout


def make(source, scratch, without=None):
    """Copies the tree, apart from paths that begin so, and returns where the copy is."""
    copy = os.path.join(scratch, "tree")
    shutil.rmtree(scratch, ignore_errors=True)
    for path in tree.files(source):
        if without and path.startswith(without):
            continue
        os.makedirs(os.path.dirname(os.path.join(copy, path)), exist_ok=True)
        shutil.copy2(os.path.join(source, path), os.path.join(copy, path))
    return copy


def write(copy, path, text):
    os.makedirs(os.path.dirname(os.path.join(copy, path)), exist_ok=True)
    with open(os.path.join(copy, path), "w", encoding="utf-8") as file:
        file.write(text)


def insert(copy, path, before, row):
    text = tree.read(copy, path)
    assert "\n" + before in text, f"no line of {path} begins with {before}"
    write(copy, path, text.replace("\n" + before, "\n" + row + before, 1))


def remove(copy, path, beginning):
    text = tree.read(copy, path)
    lines = text.splitlines(keepends=True)
    left = [line for line in lines if not line.startswith(beginning)]
    assert len(left) == len(lines) - 1, f"not one line of {path} begins with {beginning}"
    write(copy, path, "".join(left))


def row_of(text):
    """Returns the only C block of a text."""
    found = re.findall(r"^```c\n(.*?)^```", text, re.DOTALL | re.MULTILINE)
    assert len(found) == 1, f"{PAGE} should have one C block: the row"
    return found[0]


def main(source, scratch):
    copy = make(source, scratch)
    write(copy, ALGORITHM, tree.read(source, "examples/algorithm/ring.c"))
    insert(copy, "src/alg/alg.def", "ALG(bcast,", row_of(tree.read(source, PAGE)))
    for name, path in SOURCES.items():
        assert not os.path.exists(os.path.join(copy, path)), path
        write(copy, path, tree.read(HERE, os.path.join(NAME, name)))
    for path, (before, row) in ROWS.items():
        insert(copy, path, before, row)
    remove(copy, *REPLACED)
    flags = "-DCMAKE_C_FLAGS_RELEASE='-O1 -DNDEBUG' -DCMAKE_CXX_FLAGS_RELEASE=-O0"  # builds fast
    lab = "ON" if os.path.exists(os.path.join(copy, "lab")) else "OFF"
    options = f"-DHUD_WERROR=ON -DHUD_LAB={lab} -DHUD_TEST_ONLY=sim -DHUD_KERNELS=-O0 {flags}"
    run(copy, f"cmake -S . -B build -G Ninja {options} >/dev/null")
    known = run(copy, "cmake --build build --target help | cut -d: -f1")
    targets = (*TARGETS, *IF_THERE.findall(known))
    run(copy, f"cmake --build build --target {' '.join(targets)}")


if __name__ == "__main__":
    main(os.path.abspath(sys.argv[1]), os.path.abspath(sys.argv[2]))
