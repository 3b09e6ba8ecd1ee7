# SPDX-License-Identifier: BSD-3-Clause
"""Measures collectives of a job that spans nodes, with and without huddle: times, and link bytes.

    python3 bench/nodes.py --job ompi4='mpirun -H a:4,b:4 -np 8' --job mpich5='mpiexec ...'
    [--layout '2 x 4, 1 Gbit/s'] [--count] [--build build] [--csv FILE]

A job is NAME=COMMAND: the command starts a program on the nodes, with its arguments.  NAME begins
with ompi for Open MPI; any other name means the MPICH family.  Jobs without huddle and with each
--nodes setting take turns, --launches times.  Times are of the slowest rank, in us: median and
minimum of the calls of all launches.  MPIs named by --plain run only without huddle.

--count: afterwards, the bytes that a call brings into the busiest node and out of it, per byte of
the message, and its packets out, by the counters of the links.

Without a cluster, on nodes of network namespaces:
    python3 tests/mpi/namespaces.py --rate 1gbit 4x4 python3 bench/nodes.py --job ompi4='{ompi4}'
"""

import argparse
import csv
import os
import secrets
import shlex
import statistics
import subprocess
import sys
from collections import defaultdict
from pathlib import Path

from fresh import AS_ROOT, UNLEARNED
from startup import build_of

WORDS = (
    "barrier:0:40,bcast:8:40,bcast:512:40,bcast:4096:40,bcast:65536:20,bcast:1048576:8,"
    "bcast:4194304:4,allreduce:8:40,allreduce:4096:40,allreduce:65536:20,allreduce:1048576:6,"
    "allreduce:4194304:3,reduce_scatter:1048576:6,reduce_scatter:4194304:3,allgather:1048576:6,"
    "allgather:4194304:3"
)
COUNTED = "barrier:0:200,bcast:4096:200,bcast:1048576:10,allreduce:65536:100,allreduce:1048576:10"
PRELOAD = 'export LD_PRELOAD="$0${LD_PRELOAD:+:$LD_PRELOAD}"; exec "$@"'


def job_of(text):
    name, equals, command = text.partition("=")
    if not equals or not name or not command:
        raise argparse.ArgumentTypeError(f"{text!r} is not understood (accepted: NAME=COMMAND)")
    return name, shlex.split(command)


def abi(name):
    return "openmpi" if name.startswith("ompi") else "mpich"


def wrapped(build, nodes, command):
    """Returns the command of a rank.  nodes: HUDDLE_NODES, or None without huddle."""
    if nodes is None:
        return [str(word) for word in command]
    loader = build / "lib/huddle/libhuddle-loader.so"
    settings = [f"HUDDLE_JOB={secrets.token_hex(16)}", f"HUDDLE_NODES={nodes}"]
    settings += [f"{name}={value}" for name, value in UNLEARNED.items()]
    return ["env", *settings, "sh", "-c", PRELOAD, str(loader), *map(str, command)]


def launch(job, command, limit_s):
    """Returns [(collective, bytes, [us])] as far as a job has printed them."""
    try:
        done = subprocess.run(
            [*job, *command],
            env={**os.environ, **AS_ROOT},
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            timeout=limit_s,
            check=False,
            text=True,
        )
    except subprocess.TimeoutExpired as late:
        output = (late.stdout or b"").decode()
        print(f"{shlex.join(job)}: did not end within {limit_s} s", file=sys.stderr)
    else:
        output = done.stdout
        if done.returncode != 0:
            print(f"{shlex.join(job)}: status {done.returncode}", file=sys.stderr)
    lines = [line.split() for line in output.splitlines() if line.startswith("nodes ")]
    return [(name, int(size), [float(us) for us in times]) for _, name, size, *times in lines]


def variants(options, name):
    return [None] if name in options.plain else [None, *options.nodes]


def measure(options, build, programs):
    times, moved = defaultdict(list), {}
    for turn in range(options.launches + bool(options.count)):
        counts = turn == options.launches
        for name, job in options.job:
            for nodes in variants(options, name):
                print(f"{turn + 1}: {name}, {nodes or 'without huddle'}", file=sys.stderr)
                words = ["--count", *options.counted] if counts else options.words
                command = wrapped(build, nodes, [programs[abi(name)], *words])
                for collective, size, found in launch(job, command, options.limit):
                    if counts:
                        moved[collective, size, name, nodes] = found
                    else:
                        times[collective, size, name, nodes] += found
    return times, moved


def per_byte(size, moved):
    """Returns the bytes in and out per byte of the message, and the packets."""
    return [*(f"{bytes_moved / max(size, 1):.3f}" for bytes_moved in moved[:2]), *moved[2:]]


def rows(options, times, moved):
    for what in {**times, **moved}:
        collective, size, name, nodes = what
        us = times.get(what)
        figures = [f"{statistics.median(us):.1f}", f"{min(us):.1f}", len(us)] if us else [""] * 3
        counts = per_byte(size, moved[what]) if what in moved else [""] * 3
        yield [options.layout, collective, size, name, nodes or "without", *figures, *counts]


def parse():
    parser = argparse.ArgumentParser(description=__doc__.strip().split("\n\n")[0])
    parser.add_argument("--build", default="build")
    parser.add_argument("--job", type=job_of, action="append", required=True)
    parser.add_argument("--plain", type=lambda t: t.split(","), default=[], metavar="NAMES")
    parser.add_argument("--nodes", type=lambda t: t.split(","), default=["on", "auto"])
    parser.add_argument("--layout", default="")
    parser.add_argument("--words", type=lambda t: t.split(","), default=WORDS.split(","))
    parser.add_argument("--launches", default=3, type=int)
    parser.add_argument("--count", action="store_true")
    parser.add_argument("--counted", type=lambda t: t.split(","), default=COUNTED.split(","))
    parser.add_argument("--limit", default=60, type=int, metavar="S")
    parser.add_argument("--csv", metavar="FILE", help="rows are appended")
    return parser.parse_args()


def main():
    options = parse()
    build = build_of(options.build)[1]
    programs = {kind: build / "libexec/huddle" / f"nodes-{kind}" for kind in ("openmpi", "mpich")}
    table = list(rows(options, *measure(options, build, programs)))
    new = not options.csv or not os.path.exists(options.csv) or not Path(options.csv).stat().st_size
    with open(options.csv or os.devnull, "a", encoding="utf-8", newline="") as file:
        for out in (file, sys.stdout):
            writer = csv.writer(out, lineterminator="\n")
            if new or out is sys.stdout:
                out.write("# python3 bench/nodes.py: collectives that span nodes, us\n")
                names = "layout,collective,bytes,mpi,huddle,median,least,calls,in,out,packets"
                writer.writerow(names.split(","))
            writer.writerows(table)


if __name__ == "__main__":
    main()
