# SPDX-License-Identifier: BSD-3-Clause
"""Placement on a machine with 4 NUMA nodes on 2 sockets: a guest in software emulation, so for where things lie, never for how fast they are.

    run.py --build BUILD --guest NUMAVM [--programs]

8 bound ranks, two a node: every page of a slice lies on its owner's node and the groups follow the nodes.  --programs: also the differential
program under Open MPI and MPICH, its calls taken and its pages at home.  Exit status 77: there is no guest here.
"""

import argparse
import json
import os
import shutil
import subprocess
import sys
import tempfile

RANKS, NODES = 8, 4
OUTSIDE = ("/tmp/", "/run/", "/dev/")  # of this machine, the guest does not see these

# What the guest runs, in a folder that it shares with us.  Every step leaves its status.
SCRIPT = """
huddle() {{ {build}/bin/huddle "$@"; }}
export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1
huddle info --ranks {ranks} --json >placement.json 2>placement.err; echo $? >placement.status
for mpi in {mpis}; do
    export HUDDLE_STATS=json:$PWD/$mpi.json
    case $mpi in
    openmpi) start="mpirun.openmpi --bind-to core -n {ranks}" ;;
    mpich) start="mpirun.mpich -bind-to core -n {ranks}" ;;
    esac
    huddle run -- $start {build}/tests/mpi/$mpi/differential --brief --mixed-empty --most 70000 >$mpi.out 2>&1; echo $? >$mpi.status
done
"""


def contents(folder, name):
    try:
        with open(os.path.join(folder, name)) as file:
            return file.read()
    except OSError:
        return ""


def groups_of(team):
    return [[sorted(group) for group in level["groups"]] for level in team["levels"]]


def judge_placement(folder):
    if contents(folder, "placement.status").strip() != "0":
        return ["huddle info failed: " + contents(folder, "placement.err")]
    members = json.loads(contents(folder, "placement.json"))["team"]["members"]
    bad = [] if len(members) == RANKS else [f"{len(members)} members"]
    for member in members:
        rank, team = member["rank"], member["team"]
        home = rank * NODES // RANKS
        pages = team.get("pages", {})
        if team["state"] != "ready" or not pages.get("nodes"):
            bad.append(f"rank {rank}: {team['state']}, {pages}")
        elif pages["own_node"] != home or pages["elsewhere"] != 0 or set(pages["nodes"]) != {home}:
            bad.append(f"rank {rank}: pages on nodes {sorted(set(pages['nodes']))}, own node said {pages['own_node']}, expected {home}")
        pairs = [[2 * i, 2 * i + 1] for i in range(NODES)]
        if pairs not in groups_of(team):
            bad.append(f"rank {rank}: no level groups the ranks by node: {groups_of(team)}")
    return bad


def judge_mpi(folder, mpi):
    if contents(folder, mpi + ".status").strip() != "0":
        return [f"{mpi}: status {contents(folder, mpi + '.status').strip()}: {contents(folder, mpi + '.out')[-2000:]}"]
    stats = json.loads(contents(folder, mpi + ".json"))
    bad = [f"{mpi}: {name} {one}" for name, one in stats["collectives"].items() if one["taken"] == 0 or set(one["passed"]) - {"one rank"}]
    memory = stats["memory"]
    if memory["pages_home"] == 0 or memory["pages_elsewhere"] != 0:
        bad.append(f"{mpi}: {memory['pages_home']} pages at home, {memory['pages_elsewhere']} elsewhere")
    return bad


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--build", required=True)
    parser.add_argument("--guest", required=True, help="command that runs another one in a NUMA guest, in the current directory")
    parser.add_argument("--programs", action="store_true")
    setting = parser.parse_args()
    build = os.path.realpath(setting.build)
    if not os.access(setting.guest, os.X_OK) or build.startswith(OUTSIDE) or not shutil.which("qemu-system-x86_64"):
        print("no NUMA guest here, or it cannot see the build tree")
        sys.exit(77)
    mpis = [mpi for mpi in ("openmpi", "mpich") if setting.programs and shutil.which("mpirun." + mpi) and os.path.exists(f"{build}/tests/mpi/{mpi}/differential")]
    with tempfile.TemporaryDirectory(prefix="numa-", dir=build) as folder:
        with open(os.path.join(folder, "script"), "w") as file:
            file.write(SCRIPT.format(build=build, ranks=RANKS, mpis=" ".join(mpis)))
        guest = subprocess.run([setting.guest, "bash", "script"], cwd=folder, capture_output=True, text=True, timeout=600)
        if not contents(folder, "placement.status"):
            if "--setup" in guest.stderr:
                print("the NUMA guest is not set up")
                sys.exit(77)
            sys.exit(f"the guest did not run: {guest.returncode} {guest.stdout[-2000:]} {guest.stderr[-2000:]}")
        bad = judge_placement(folder)
        for mpi in mpis:
            bad += judge_mpi(folder, mpi)
    print("\n".join(bad) or f"{RANKS} ranks on {NODES} nodes: {', '.join(['placement', *mpis])} as expected")
    sys.exit(1 if bad else 0)


if __name__ == "__main__":
    main()
