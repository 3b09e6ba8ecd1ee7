# SPDX-License-Identifier: BSD-3-Clause
"""Tests that the choices on described machines are those of choices.txt, on any machine.

HUD_WRITE=1 writes this file anew.  ./test asks one question in four, ./test --full all of them.  A
line of the file has an answer (the pieces of the axis of sizes, then the pieces of operations that
do not commute), then its questions (machine, collective, ranks, map, HUDDLE_CMA).
"""

import json
import os
import subprocess
from concurrent.futures import ThreadPoolExecutor

from described import CALL_NS, OWN_GBPS, TOPOLOGIES, kernel_gbps
from harness import some
from paths import BUILD, SOURCE

FILE = os.path.join(SOURCE, "tests", "cli", "choices.txt")
RANKS = (2, 3, 4, 8, 9, 15, 16, 17, 32, 33, 64, 65, 128, 129, 256)
QUERY = os.path.join(BUILD, "libexec", "huddle", "query")


def collectives():
    told = subprocess.run(
        [QUERY, "info", "collectives"], stdout=subprocess.PIPE, timeout=60, check=True
    )
    return [row["name"] for row in json.loads(told.stdout)]


# name -> the description passed to `query`
MACHINES = {
    name: (topology, f"{CALL_NS},{kernel_gbps(name)},{OWN_GBPS}")
    for name, topology in TOPOLOGIES.items()
}
PLACES = (("core", "auto"), ("numa", "auto"), ("core", "off"))
QUESTIONS = [
    (m, c, n, *place) for m in MACHINES for c in collectives() for n in RANKS for place in PLACES
]


def words(pieces):
    """Formats pieces.  Neighbours with the same service are joined."""
    found = []
    for piece in pieces or ():
        serves = piece["serves"]
        output = "mpi"
        if serves:
            values = ",".join(f"{k}={v}" for k, v in serves["parameters"].items())
            output = f"{serves['algorithm']}({values})"
        if not found or found[-1][1] != output:
            found.append((piece["min_bytes"], output))
    return " ".join(f"{start}:{output}" for start, output in found)


def ask(question):
    machine, collective, ranks, place, cma = question
    clean = {k: v for k, v in os.environ.items() if not k.startswith("HUDDLE")}
    done = subprocess.run(
        [QUERY, "explain", collective, "0", str(ranks), place, *MACHINES[machine]],
        env={**clean, "HUDDLE_CMA": cma},
        stdout=subprocess.PIPE,
        text=True,
        timeout=60,
        check=True,
    )
    answer = json.loads(done.stdout)
    return f"{words(answer['pieces'])}|{words(answer['ordered'])}"


def test_choices_match_the_file():
    write = bool(os.environ.get("HUD_WRITE"))
    asked_now = QUESTIONS if write else some(QUESTIONS, 4)
    with ThreadPoolExecutor(2) as pool:
        answers = dict(zip(asked_now, pool.map(ask, asked_now)))
    if write:
        groups = {}
        for question, output in answers.items():
            groups.setdefault(output, []).append("/".join(map(str, question)))
        with open(FILE, "w", encoding="utf-8") as file:
            file.writelines(f"{output}|{' '.join(asked)}\n" for output, asked in groups.items())
    with open(FILE, encoding="utf-8") as file:
        lines = [line.rpartition("|") for line in file]
    expected = {question: output for output, _, asked in lines for question in asked.split()}
    assert len(expected) == len(QUESTIONS)
    wrong = {
        q: output for q, output in answers.items() if expected["/".join(map(str, q))] != output
    }
    assert wrong == {}
