# SPDX-License-Identifier: BSD-3-Clause
"""
Includes go one way (docs/architecture.md): a room may include the rooms below it, an algorithm only
its call, and only host includes mpi.h.  Nothing of the product includes the laboratory.  The
measuring programs and the helpers of the CLI may include the public header and a few rooms, never
each other.
"""

import os
import re

import tree

# room -> rooms directly below it; includes are transitive.  Every room may include src/base.
BELOW = {
    "base": set(),
    "host": {"core"},
    "core": {"coll", "alg", "topo", "ops", "cost", "lazy_libs", "request"},
    "tools/query": {"core"},
    "request": {"mem", "fiber"},
    "fiber": set(),
    "alg": {"shape", "mem", "net"},
    "topo": {"shape"},
    "check": {"coll", "alg", "topo", "fiber"},
    "shape": set(),
    "mem": set(),
    "net": {"mem"},
    "ops": set(),
    "cost": {"shape"},
    "coll": {"shape"},
    "lazy_libs": {"topo"},
    "lab": {"check", "cost", "fork_team"},
}
# programs -> rooms that they may include, not transitive
PROGRAMS = {
    "bench": {"base", "coll", "cost", "fork_team"},
    "tools": {"base", "coll", "cost", "fork_team"},
    "fork_team": {"base"},
    "launch": {"base"},
}
# Files that may include one more room, and why.
EXCEPTIONS = {
    ("bench/kernels.c", "ops"): "measures src/ops alone",
    ("bench/collectives.c", "host"): "calls each collective of the MPI by its signature",
    ("src/launch/options.c", "core"): "the names of settings, from the library when one is given",
    (
        "src/tools/read_waits.c",
        "core",
    ): "reads the heads of running ranks' arenas, whose layout is core's own",
    ("src/tools/compile_rules.c", "core"): "prints core's table of choices as C, for the build",
}
MPI_ALLOWED = (
    "examples/pi.c",
    "src/host/",
    "tests/mpi/",
    "tests/loader/",
    "tests/bench/",
    "tests/additions/",
    "bench/",
    "lab/bench/",
)
INCLUDE = re.compile(r'^\s*#\s*include\s*([<"])([^>"]+)[>"]', re.MULTILINE)


def room_of(path):
    """Returns the room of a file: its folder below src, or at the top."""
    parts = path.split("/")
    if path.startswith("src/tools/query/"):
        return "tools/query"
    return parts[1] if parts[0] == "src" and len(parts) > 2 else parts[0]


def seen_from(room):
    seen, ahead = {room, "base"}, [room]
    while ahead:
        for below in BELOW.get(ahead.pop(), ()):
            if below not in seen:
                seen.add(below)
                ahead.append(below)
    return seen


def allowed(path, room, target, included):
    sim = ("mem/mem_sim.h", "net/net_sim.h")
    if included in sim or (path.removeprefix("src/") in sim and target == "check"):
        return True  # the backends of mem.h and net.h for the checker, in both directions
    if included.startswith(room + "/"):
        return True
    return target in seen_from(room) or (path, target) in EXCEPTIONS


def outside(path, room, included):
    """
    Returns a complaint about an include in quotes of a program, or None.  A header without a folder
    in its name is in the folder of the file.
    """
    target, below, _ = included.partition("/")
    if (
        not below
        or target == "huddle"
        or target == room
        or target in PROGRAMS[room]
        or (path, target) in EXCEPTIONS
    ):
        return None
    return f"{path}: {room} may not include {included}"


def seen_by_algorithm(parts, included):
    """
    Reports whether an algorithm may include a header of its own folder: the family's header and the
    headers of shared protocols.  A family may not include another family's headers.
    """
    return (
        "/" not in included
        or included.startswith("shape/")
        or re.fullmatch(rf"alg/({parts[2]}/)?\w+\.h", included)
    )


def may_use(path, home):
    """Reports whether a file may use another file, a header or a source, by the rooms of both."""
    room, target = room_of(path), room_of(home)
    if target == "lab" and room != "lab":
        return False
    if room in PROGRAMS:
        return target.split("/")[0] in {room, *PROGRAMS[room]} or (path, target) in EXCEPTIONS
    return allowed(path, room, target, home.removeprefix("src/"))


def laboratory(path, parts, included):
    """Returns a complaint about an include of the laboratory, or by it, or None."""
    room = included.split("/")[0]
    if parts[0] != "lab" and room == "lab":
        return f"{path}: the product may not include {included}"
    if parts[0] != "lab" or "/" not in included:
        return None
    if parts[1] == "alg":
        own = rf"alg/(\w+/)?\w+\.h|lab/alg/({parts[2]}/)?\w+\.h|shape/\w+\.h"
        return (
            None
            if re.fullmatch(own, included)
            else f"{path}: an algorithm may not include {included}"
        )
    if room in {"huddle", *seen_from("lab")}:
        return None
    return f"{path}: the laboratory may not include {included}"


def check(root):
    complaints = []
    rooms = {
        d
        for d in os.listdir(os.path.join(root, "src"))
        if os.path.isdir(os.path.join(root, "src", d))
    }
    for path in tree.files(root):
        if not path.endswith(tree.C_CODE):
            continue
        parts, room = path.split("/"), room_of(path)
        for mark, included in INCLUDE.findall(tree.read(root, path)):
            target = included.split("/")[0]
            if mark == '"' and laboratory(path, parts, included):
                complaints.append(laboratory(path, parts, included))
            if included == "mpi.h" and not path.startswith(MPI_ALLOWED):
                complaints.append(f"{path}: includes mpi.h")
            if room in PROGRAMS:
                complaints += (
                    [outside(path, room, included)]
                    if mark == '"' and outside(path, room, included)
                    else []
                )
                continue
            if parts[0] != "src" or len(parts) < 3:
                continue
            if target in rooms and not allowed(path, room, target, included):
                complaints.append(f"{path}: {room} may not include {included}")
            if parts[1] == "alg" and len(parts) == 4 and not seen_by_algorithm(parts, included):
                complaints.append(
                    f"{path}: an algorithm sees alg/*.h, its family's headers and shapes only, "
                    f"not {included}"
                )
    return complaints
