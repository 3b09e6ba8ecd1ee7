# SPDX-License-Identifier: BSD-3-Clause
"""
Tests placement on a machine with 4 NUMA nodes on 2 sockets.  The machine is a guest in software
emulation, so only places are tested, never speed.

    run.py --build BUILD --guest GUEST [--programs]

8 bound ranks, two per node: every page of a slice must be on its owner's node and the groups must
follow the nodes; so must huge pages, if the pool has them on that node.  Then each broadcast
algorithm is forced and its bytes must be right: with placement on, by 7 ranks, the first alone on
its node; and off, by 6 ranks, with every page on rank 0's node, which is not the machine's first.
--programs: also the differential program under Open MPI and MPICH, with its calls handled and its
pages at home: unchanged, and with each algorithm that works by NUMA node, 8 ranks and 16 on twice
the processors.  Exit status 77: there is no guest here.
"""

import argparse
import json
import os
import shutil
import subprocess
import sys
import tempfile

NODES = 4
RANKS, PER_NODE = 8, 2
BY_NODE = ("levels", "segments")
MPIS = {"openmpi": "mpirun.openmpi --bind-to core -n", "mpich": "mpirun.mpich -bind-to core -n"}
FROM_POOL = "huge, from the pool"
NODE_0 = "/sys/devices/system/node/node0/hugepages/hugepages-2048kB"
OUTSIDE = ("/tmp/", "/run/", "/dev/")  # folders of this machine that the guest does not have

# The guest's script, in a folder that it shares with us.  Every step leaves NAME.out, NAME.err and
# NAME.status.
HEAD = """
export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1
export HUDDLE_WISDOM=off # a trial of the MPI's own broadcast is not handled
step() { name=$1; shift; env "$@" >$name.out 2>$name.err; echo $? >$name.status; }
"""


def contents(folder, name):
    try:
        with open(os.path.join(folder, name)) as file:
            return file.read()
    except OSError:
        return ""


class Step:
    """A command of the guest, and a function that judges its result."""

    def __init__(self, name, words, judge):
        self.name, self.words, self.judge = name, words, judge

    def complaints(self, folder):
        status = contents(folder, self.name + ".status").strip()
        if status != "0":
            output = contents(folder, self.name + ".out") + contents(folder, self.name + ".err")
            return [f"{self.name}: status {status or 'none, it never ended'}: {output[-1500:]}"]
        return [f"{self.name}: {complaint}" for complaint in self.judge(folder)]


# ---- pages ----


def pages_wrong(member, own, home):
    """
    Returns the complaints about a member's slice, all of which should be on node `home`, and the
    member on node `own`.
    """
    pages = member["team"].get("pages", {})
    if member["team"]["state"] != "ready" or not pages.get("nodes"):
        return [f"rank {member['rank']}: {member['team']['state']}, {pages}"]
    elsewhere = 0 if home == own else len(pages["nodes"])
    if (
        set(pages["nodes"]) == {home}
        and pages["own_node"] == own
        and pages["elsewhere"] == elsewhere
    ):
        return []
    return [
        f"rank {member['rank']}: pages on nodes {sorted(set(pages['nodes']))}, {pages['elsewhere']}"
        f" elsewhere, own node said {pages['own_node']}; expected {home}"
    ]


def groups_wrong(member):
    groups = [
        [sorted(group) for group in level["groups"]] for level in member["team"].get("levels", [])
    ]
    pairs = [[2 * i, 2 * i + 1] for i in range(NODES)]
    return (
        []
        if pairs in groups
        else [f"rank {member['rank']}: no level groups the ranks by node: {groups}"]
    )


def show(name, members):
    """Prints a line per rank; each digit is the node of a page."""
    print(f"{name}:")
    for member in members:
        pages = member["team"]["pages"]
        print(
            f"  rank {member['rank']} on node {pages['own_node']}:"
            f" {''.join(map(str, pages['nodes']))}"
        )


def judge_info(folder):
    members = json.loads(contents(folder, "info.out"))["team"]["members"]
    bad = [] if len(members) == RANKS else [f"{len(members)} members"]
    for member in members:
        own = member["rank"] // PER_NODE
        bad += pages_wrong(member, own, own) + groups_wrong(member)
    return bad


def judge_huge(name, kinds):
    """
    Returns a judge: all pages at home, of the kind expected of each node; None is any but the
    pool's.
    """

    def judge(folder):
        members = json.loads(contents(folder, name + ".out"))["team"]["members"]
        bad = [] if len(members) == RANKS else [f"{len(members)} members"]
        for member in members:
            own = member["rank"] // PER_NODE
            kind, expected = member["team"]["pages"]["kind"], kinds[own]
            bad += pages_wrong(member, own, own)
            if kind != expected if expected else kind == FROM_POOL:
                bad.append(f"rank {member['rank']}: pages are {kind}")
        return bad

    return judge


def judge_forced(name, algorithm, placed, first):
    """Returns a judge for ranks bound to processors first + rank."""

    def judge(folder):
        members = json.loads(contents(folder, name + ".out"))["members"]
        bad = []
        for member in members:
            own = (first + member["rank"]) // PER_NODE
            bad += pages_wrong(member, own, own if placed else first // PER_NODE)
            regions = member["team"].get("lease", {}).get("regions", [])
            if (
                not any(region["algorithm"] == algorithm and region["bytes"] for region in regions)
                or not member["handled"]
            ):
                bad.append(
                    f"rank {member['rank']}: {member['handled']} calls taken, regions {regions}"
                )
        if not bad:
            show(name, members)
        return bad

    return judge


def huge_steps(build):
    """
    Yields steps with two huge pages for each rank in the pool: on their nodes, and all on node 0.
    """
    info = f"HUDDLE_HUGE_PAGES=on HUDDLE_MEMORY=4M {build}/bin/huddle info --ranks {RANKS} --json"
    pages, kinds = 2 * RANKS, [FROM_POOL] * NODES
    for name, file, expected in (
        ("huge", "/proc/sys/vm/nr_hugepages", kinds),
        ("huge-on-0", f"{NODE_0}/nr_hugepages", [FROM_POOL] + [None] * (NODES - 1)),
    ):
        fill = f"echo 0 >/proc/sys/vm/nr_hugepages; echo {pages} >{file}"
        yield Step(name, f"bash -c '{fill}; {info}'", judge_huge(name, expected))
    yield Step("pool-off", "bash -c 'echo 0 >/proc/sys/vm/nr_hugepages'", lambda folder: [])


def placement_steps(build, algorithms):
    yield Step("info", f"{build}/bin/huddle info --ranks {RANKS} --json", judge_info)
    yield from huge_steps(build)
    for algorithm in algorithms:
        for placed, first in ((True, 1), (False, 2)):
            name = f"{algorithm}-{'on' if placed else 'off'}"
            query = (
                f"taskset -c {first}-{RANKS - 1} {build}/libexec/huddle/query team --ranks"
                f" {RANKS - first}"
            )
            yield Step(
                name,
                f"HUDDLE_BCAST={algorithm} HUDDLE_LAB_PLACEMENT={'on' if placed else 'off'}"
                f" {query}",
                judge_forced(name, algorithm, placed, first),
            )


# ---- programs ----

CALLED = ("barrier", "bcast")  # collectives that the differential program calls


def judge_program(name):
    def judge(folder):
        stats = json.loads(contents(folder, name + ".json"))
        bad = [
            f"{coll} {one}"
            for coll, one in stats["collectives"].items()
            if (coll in CALLED and one["handled"] == 0) or set(one["passed"]) - {"one rank"}
        ]
        memory = stats["memory"]
        if memory["pages_home"] == 0 or memory["pages_elsewhere"] != 0:
            bad.append(
                f"{memory['pages_home']} pages at home, {memory['pages_elsewhere']} elsewhere"
            )
        return bad

    return judge


def program_steps(build, ranks, choices, most):
    for mpi, start in MPIS.items():
        program = f"{build}/tests/mpi/{mpi}/differential"
        for choice in choices if shutil.which("mpirun." + mpi) and os.path.exists(program) else ():
            name = f"{mpi}-{choice}-{ranks}"
            words = (
                f"HUDDLE_BCAST={choice} HUDDLE_STATS=json:$PWD/{name}.json {build}/bin/huddle run"
                f" -- {start} {ranks} {program} --brief --beyond --most {most}"
            )
            yield Step(name, words, judge_program(name))


# ---- the guest ----


def run_guest(setting, build, steps, processors):
    """Returns the complaints of all steps.  Exits with 77 if there is no guest."""
    with tempfile.TemporaryDirectory(prefix="numa-", dir=build) as folder:
        with open(os.path.join(folder, "script"), "w") as file:
            file.write(HEAD + "".join(f"step {step.name} {step.words}\n" for step in steps))
        env = {
            **os.environ,
            "HUD_GUEST_CPUS": str(processors // NODES),
            "HUD_GUEST_SECONDS": str(setting.seconds),
        }
        guest = subprocess.run(
            [setting.guest, "bash", "script"],
            cwd=folder,
            env=env,
            capture_output=True,
            text=True,
            timeout=setting.seconds + 60,
        )
        if not contents(folder, steps[0].name + ".status"):
            if "--setup" in guest.stderr:
                print("the NUMA guest is not set up")
                sys.exit(77)
            sys.exit(
                f"the guest did not run: {guest.returncode} {guest.stdout[-2000:]}"
                f" {guest.stderr[-2000:]}"
            )
        return [complaint for step in steps for complaint in step.complaints(folder)]


def main():
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--build", required=True)
    parser.add_argument(
        "--guest",
        required=True,
        help="command that runs another one in a NUMA guest, in the current directory",
    )
    parser.add_argument("--programs", action="store_true")
    parser.add_argument("--seconds", type=int, default=540, help="that a guest may run")
    setting = parser.parse_args()
    build = os.path.realpath(setting.build)
    if (
        not os.access(setting.guest, os.X_OK)
        or build.startswith(OUTSIDE)
        or not shutil.which("qemu-system-x86_64")
    ):
        print("no NUMA guest here, or it cannot see the build tree")
        sys.exit(77)
    known = json.loads(
        subprocess.run(
            [f"{build}/libexec/huddle/query", "info", "algorithms"], capture_output=True, check=True
        ).stdout
    )
    steps = list(
        placement_steps(
            build, [algorithm["name"] for algorithm in known if algorithm["collective"] == "bcast"]
        )
    )
    bad = run_guest(setting, build, steps, 8)
    for ranks, choices, most in (
        ((8, ("auto", *BY_NODE), 70000), (16, BY_NODE, 20000)) if setting.programs else ()
    ):
        more = list(program_steps(build, ranks, choices, most))
        bad += run_guest(setting, build, more, ranks) if more else []
        steps += more
    print(
        "\n".join(bad) or f"on {NODES} nodes, as expected: {', '.join(step.name for step in steps)}"
    )
    sys.exit(1 if bad else 0)


if __name__ == "__main__":
    main()
