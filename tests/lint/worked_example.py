# SPDX-License-Identifier: BSD-3-Clause
"""
Does what CONTRIBUTING.md says about adding an algorithm, in a copy of the tree.

usage: worked_example.py SOURCE SCRATCH

The file, the row and the commands of the steps 3 and 4 are taken from the text.  The lint of edges,
the checker, its mutations, a team of processes, the simulator and, where there is an Open MPI, the
bench judge them.
"""

import os
import re
import shutil
import subprocess
import sys

import tree

FILE = "src/alg/bcast/ring.c"
TARGETS = ("sim_check", "example_team", "simulate", "probe", "huddle_loader")
SHORTER = {  # what makes a command of the text shorter here
    "build/test/sim_check": ("--seeds 20", "--seeds 5"),
    "build/bin/huddle bench": ("--launches 7", "--launches 1 --shots 5 --ranks 2"),
}


def run(copy, command):
    print("$", command, flush=True)
    words = ["bash", "-c", command]
    done = subprocess.run(words, cwd=copy, stdout=subprocess.PIPE, text=True, check=False)
    print(done.stdout, flush=True)
    assert done.returncode == 0, f"status {done.returncode}: {command}"
    return done.stdout


def blocks(text):
    """The C blocks: the file, and the row."""
    found = re.findall(r"^```c\n(.*?)^```", text, re.DOTALL | re.MULTILINE)
    assert (
        len(found) == 2 and found[0].count("\n") > 20
    ), "CONTRIBUTING.md should have two C blocks: the file, then its row"
    return found


def commands(text):
    """Those of the steps 3 and 4, without the build."""
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


def copy_of(source, scratch):
    copy = os.path.join(scratch, "tree")
    shutil.rmtree(scratch, ignore_errors=True)
    for path in tree.files(source):
        os.makedirs(os.path.dirname(os.path.join(copy, path)), exist_ok=True)
        shutil.copy2(os.path.join(source, path), os.path.join(copy, path))
    return copy


def write(copy, path, text):
    with open(os.path.join(copy, path), "w", encoding="utf-8") as file:
        file.write(text)


def main(source, scratch):
    copy = copy_of(source, scratch)
    text = tree.read(source, "CONTRIBUTING.md")
    algorithm, row = blocks(text)
    write(copy, FILE, algorithm)
    rows = tree.read(source, "src/alg/alg.def")
    assert "ALG(bcast," in rows
    write(copy, "src/alg/alg.def", rows.replace("ALG(bcast,", row + "ALG(bcast,", 1))
    run(copy, "cmake -S . -B build -G Ninja -DHUD_WERROR=ON -DHUD_TEST_ONLY=sim >/dev/null")
    known = run(copy, "cmake --build build --target help | cut -d: -f1").splitlines()
    bench = [name for name in known if re.fullmatch(r"bench_openmpi|openmpi-[\d.]+", name)]
    run(copy, f"cmake --build build --target {' '.join(TARGETS)} {' '.join(bench)} >/dev/null")
    for command in commands(text):
        if command.startswith("build/bin/huddle bench") and not (bench and shutil.which("mpirun")):
            print(f"skipped, no Open MPI: {command}")
            continue
        printed = run(copy, shortened(command))
        if "/sim_check --algorithm" in command:
            assert re.search(r"\([1-9]\d* truncated\)", printed), "no truncated message was tried"
        if command.startswith("build/bin/huddle"):
            assert re.search(r"\bring\b.*\d", printed), "no figure of ring"
    shutil.rmtree(scratch)


if __name__ == "__main__":
    main(os.path.abspath(sys.argv[1]), os.path.abspath(sys.argv[2]))
