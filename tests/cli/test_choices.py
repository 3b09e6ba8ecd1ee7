# SPDX-License-Identifier: BSD-3-Clause
"""The choices on described machines are those of choices.txt, on any machine that asks.

test_choices.py SOURCE BUILD [--write]: write that file anew.  ./test asks one question in four,
./test --full all of them.  A line of the file: an answer (the
pieces of the axis of sizes, then those of operations that do not commute), then the questions that
have it (machine, collective, ranks, map, HUDDLE_CMA)."""

import json
import os
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor

from said import IN_BUILD, some

SOURCE, BUILD = (os.path.abspath(word) for word in sys.argv[1:3])
sys.path.insert(0, SOURCE)
from cli.common import machines  # noqa: E402
from cli.common.layout import Layout  # noqa: E402

FILE = os.path.join(SOURCE, "tests", "cli", "choices.txt")
RANKS = (2, 3, 4, 8, 9, 15, 16, 17, 32, 33, 64, 65, 128, 129, 256)


PROBE = os.path.join(BUILD, "libexec", "huddle", "probe")


def collectives():
    told = subprocess.run(
        [PROBE, "info", "collectives"], stdout=subprocess.PIPE, timeout=60, check=True
    )
    return [row["name"] for row in json.loads(told.stdout)]


def described():
    """name -> what `probe` is told of it."""
    layout = Layout(BUILD, **IN_BUILD)
    layout.machines = os.path.join(SOURCE, "machines")
    return {
        name: machines.described(layout, machines.load(layout, name))
        for name in machines.names_in(layout.machines)  # what is recorded adds nothing here
    }


MACHINES = described()
PLACES = (("core", "auto"), ("numa", "auto"), ("core", "off"))
QUESTIONS = [
    (m, c, n, *place) for m in MACHINES for c in collectives() for n in RANKS for place in PLACES
]


def words(pieces):
    """Neighbours that are served alike are one."""
    found = []
    for piece in pieces or ():
        serves = piece["serves"]
        said = "mpi"
        if serves:
            values = ",".join(f"{k}={v}" for k, v in serves["parameters"].items())
            said = f"{serves['algorithm']}({values})"
        if not found or found[-1][1] != said:
            found.append((piece["min_bytes"], said))
    return " ".join(f"{start}:{said}" for start, said in found)


def ask(question):
    machine, collective, ranks, place, cma = question
    clean = {k: v for k, v in os.environ.items() if not k.startswith("HUDDLE")}
    done = subprocess.run(
        [PROBE, "explain", collective, "0", str(ranks), place, *MACHINES[machine]],
        env={**clean, "HUDDLE_CMA": cma},
        stdout=subprocess.PIPE,
        text=True,
        timeout=60,
        check=True,
    )
    answer = json.loads(done.stdout)
    return f"{words(answer['pieces'])}|{words(answer['ordered'])}"


def main():
    write = "--write" in sys.argv
    asked_now = QUESTIONS if write else some(QUESTIONS, 4)
    with ThreadPoolExecutor(2) as pool:
        answers = dict(zip(asked_now, pool.map(ask, asked_now)))
    if write:
        groups = {}
        for question, said in answers.items():
            groups.setdefault(said, []).append("/".join(map(str, question)))
        with open(FILE, "w", encoding="utf-8") as file:
            file.writelines(f"{said}|{' '.join(asked)}\n" for said, asked in groups.items())
        return 0
    with open(FILE, encoding="utf-8") as file:
        lines = [line.rpartition("|") for line in file]
    expected = {question: said for said, _, asked in lines for question in asked.split()}
    assert len(expected) == len(QUESTIONS)
    wrong = [q for q, said in answers.items() if expected.get("/".join(map(str, q))) != said]
    for q in wrong[:5]:
        print(f"{q}: {answers[q]}\n  expected {expected.get('/'.join(map(str, q)))}")
    print(f"{len(answers)} questions compared, {len(wrong)} wrong")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
