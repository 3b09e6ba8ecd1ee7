# SPDX-License-Identifier: BSD-3-Clause
"""Includes go one way (docs/architecture.md): a room sees the rooms below it, an algorithm its call only, and only host sees an MPI."""
import os
import re

import tree

# room -> rooms right below it; what those see, it sees too
BELOW = {"host": {"core"}, "core": {"alg", "topo", "ops", "cost"}, "alg": {"shape", "mem"}, "topo": {"shape"}, "sim": {"alg", "topo", "cost"},
         "shape": set(), "mem": set(), "ops": set(), "cost": set()}
MPI_ALLOWED = ("src/host/", "tests/mpi/", "tests/bench/", "bench/")
INCLUDE = re.compile(r'^\s*#\s*include\s*([<"])([^>"]+)[>"]', re.MULTILINE)


def seen_from(room):
    seen, ahead = {room}, [room]
    while ahead:
        for below in BELOW.get(ahead.pop(), ()):
            if below not in seen:
                seen.add(below)
                ahead.append(below)
    return seen


def allowed(path, room, target, included):
    if included == "mem/mem_sim.h" or (path == "src/mem/mem_sim.h" and target == "sim"):
        return True  # the backend of mem.h for the checker, on both sides
    return target in seen_from(room)


def check(root):
    complaints = []
    rooms = {d for d in os.listdir(os.path.join(root, "src")) if os.path.isdir(os.path.join(root, "src", d))}
    for path in tree.files(root):
        if not path.endswith(tree.C_CODE):
            continue
        parts = path.split("/")
        for _, included in INCLUDE.findall(tree.read(root, path)):
            target = included.split("/")[0]
            if included == "mpi.h" and not path.startswith(MPI_ALLOWED):
                complaints.append(f"{path}: includes mpi.h")
            if parts[0] != "src" or len(parts) < 3:
                continue
            if target in rooms and not allowed(path, parts[1], target, included):
                complaints.append(f"{path}: {parts[1]} may not include {included}")
            shared = target == "shape" or (target == "alg" and included.count("/") == 1)
            if parts[1] == "alg" and len(parts) == 4 and "/" in included and not shared:
                complaints.append(f"{path}: an algorithm sees alg/*.h and shapes only, not {included}")
    return complaints
