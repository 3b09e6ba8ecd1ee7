# SPDX-License-Identifier: BSD-3-Clause
"""
Checks the traffic on the links between nodes by their own counters, which do not depend on load.
Nodes are network namespaces of this machine (namespaces.py).

    links.py --build BUILD [--brief]

  bytes into a node, broadcast of n                at most 1.06 n, from 4 KB on, any ranks on a node
  bytes each way, allreduce of n on N nodes        at most 1.06 x 2 n (N - 1) / N, from 64 KB on
  messages of a node, barrier                      ceil(log2 N), and at most twice as many packets

Counters are of a whole node, so they include headers and acknowledgements.  The same program
without huddle must break one of the bounds where Open MPI 4 is known to, since otherwise the test
proves nothing.  Exit status 77: nodes cannot be made here.
"""

import argparse
import json
import os
import subprocess
import sys
import tempfile

import namespaces
import peers
from run import front_end

MAX_RATIO, LIMIT_S = 1.06, 240
TRIES = 3  # acknowledgements of TCP and other traffic of a node vary: the minimum counts
KB, MB = 1 << 10, 1 << 20
BCAST, ALLREDUCE = (4 * KB, 64 * KB, MB), (64 * KB, MB)
CALLS = {0: 200, 4 * KB: 200, 64 * KB: 40, MB: 8}
BRIEF = [("ompi4", (2, 1, 3, 1))]
FULL = [
    (mpi, counts)
    for mpi in ("ompi4", "ompi5", "mpich5")
    for counts in ((1, 1), (3, 2), (2, 2, 2), (2, 1, 3, 1), (1, 1, 1, 1), (1, 2, 1, 2, 1), (2,) * 8)
]
KNOWN_TO_BREAK = "ompi4"  # sends a broadcast to each rank of a node


def words(collective, sizes):
    return [f"{collective}:{size}:{CALLS[size]}" for size in sizes]


def rounds(nodes):
    return (nodes - 1).bit_length()


def huddle_run(build, stats):
    """Returns the words that run a job with huddle on all nodes."""
    # Expectations are those of huddle's first choices.  Trials exchange other messages.
    settings = [f"HUDDLE_STATS=json:{stats}", "HUDDLE_NODES=on", "HUDDLE_TUNING=off"]
    settings += ["HUDDLE_WISDOM=off"]
    words = [word for setting in settings for word in ("--set", setting)]
    return [os.path.join(build, "bin", "huddle"), "run", *words, "--"]


class Links:
    def __init__(self, build):
        self.build = build

    def launch(self, nodes, mpi, counts, asked, huddle=True):
        """Returns ({(collective, bytes): [bytes in, bytes out, packets out]}, statistics)."""
        program = os.path.join(self.build, "libexec", "huddle", f"nodes-{peers.abi(mpi)}")
        with tempfile.TemporaryDirectory(prefix="huddle-links-") as scratch:
            stats = os.path.join(scratch, "stats.json")
            run = huddle_run(self.build, stats) if huddle else []
            job = nodes.job(peers.found(os.path.join(self.build, "peers"), mpi), counts)
            output = subprocess.run(
                nodes.enter([*run, *job, program, "--count", *asked]),
                stdin=subprocess.DEVNULL,
                stdout=subprocess.PIPE,
                timeout=LIMIT_S,
                check=True,
                text=True,
            ).stdout
            lines = [line.split() for line in output.splitlines() if line.startswith("nodes ")]
            found = {(name, int(size)): [float(n) for n in more] for _, name, size, *more in lines}
            if len(found) != len(asked):
                raise RuntimeError(f"{len(asked)} lines were expected: {output}")
            if not huddle:
                return found, None
            with open(stats, encoding="utf-8") as file:
                return found, json.load(file)


def handled(statistics, collective):
    """Yields a complaint if huddle did not handle all calls of the collective."""
    row = statistics["collectives"][collective]
    if not row["calls"] or row["handled"] != row["calls"]:
        yield f"{collective}: {row['handled']} of {row['calls']} calls handled: {row['passed']}"


def judge_barrier(found, statistics, count):
    """Yields complaints about a barrier.  Open MPI 5 may make an additional call at its end."""
    calls = CALLS[0] + CALLS[0] // 10 + 1
    each, sent = rounds(count), statistics["nodes"]["messages"]
    packets = found["barrier", 0][2]
    yield from handled(statistics, "barrier")
    if not each * calls <= sent <= each * (calls + 1):
        yield f"barrier: {sent} messages of the first node in {calls} calls, not {each} in each"
    if packets > 2 * rounds(count) + 0.5:  # each message has at most one acknowledgement of its own
        yield f"barrier: {packets} packets of a node in a call, {rounds(count)} messages"


def judge_bytes(found, count):
    for (collective, size), (came, went, _) in found.items():
        least = size if collective == "bcast" else 2 * size * (count - 1) / count
        if came > MAX_RATIO * least:
            yield f"{collective} {size}: {came / least:.3f} of the bound into a node"
        if collective == "allreduce" and went > MAX_RATIO * least:
            yield f"{collective} {size}: {went / least:.3f} of the bound out of a node"


def measure(links, nodes, mpi, counts):
    """Returns the complaints, and a text about the results."""
    count, bad = len(counts), []
    barrier, statistics = links.launch(nodes, mpi, counts, words("barrier", [0]))
    bad += judge_barrier(barrier, statistics, count)
    moving = words("bcast", BCAST) + words("allreduce", ALLREDUCE)
    found = {}
    for _ in range(TRIES):
        more, statistics = links.launch(nodes, mpi, counts, moving)
        for collective in ("bcast", "allreduce"):
            bad += handled(statistics, collective)
        found = {key: list(map(min, found.get(key, some), some)) for key, some in more.items()}
        if not list(judge_bytes(found, count)):
            break
    bad += judge_bytes(found, count)
    text = ", ".join(
        f"{name} {size} {came / size:.3f}" for (name, size), (came, *_) in found.items()
    )
    if mpi == KNOWN_TO_BREAK and max(counts) > 1:
        plain, _ = links.launch(nodes, mpi, counts, words("bcast", BCAST[:1]), huddle=False)
        if not list(judge_bytes(plain, count)):
            bad.append("without huddle the bounds hold as well: the test shows nothing")
    return bad, text


def main():
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--build", required=True)
    parser.add_argument("--brief", action="store_true")
    options = parser.parse_args()
    options.build = os.path.abspath(options.build)
    links, failed, done = Links(options.build), 0, 0
    for mpi, counts in BRIEF if options.brief else FULL:
        if not peers.installed(os.path.join(options.build, "peers"), mpi) or not front_end(
            options, mpi
        ):
            continue
        try:
            with namespaces.Nodes(len(counts), options.build) as nodes:
                bad, text = measure(links, nodes, mpi, counts)
        except namespaces.NotHere as why:
            print(f"skipped: {why}")
            return 77
        done += 1
        failed += bool(bad)
        print(f"{mpi}, {counts}: {'FAILED' if bad else 'ok'}  {text}", flush=True)
        for line in bad:
            print("    " + line, flush=True)
    return 1 if failed else 0 if done else 77


if __name__ == "__main__":
    sys.exit(main())
